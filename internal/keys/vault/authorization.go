package vault

import (
	"fmt"
	"sync/atomic"
)

// Issuer makes authorizations. There is one for each vault; wiring hands it to
// the code that decides, and to nothing else.
type Issuer struct {
	vault *Vault
}

// Scope names what is done with keys: one activity of one organization, by one
// intent.
type Scope struct {
	Organization string
	Activity     string   // its id
	Intent       [32]byte // digest of what was allowed
}

// Authorization proves that the work of one [Scope] was allowed. It is redeemed
// once, by [Authorization.Begin], for exactly that scope.
type Authorization struct {
	vault    *Vault
	scope    Scope
	redeemed *atomic.Bool // shared by copies
}

// Authorize allows the work of a scope.
func (i *Issuer) Authorize(s Scope) *Authorization {
	return &Authorization{vault: i.vault, scope: s, redeemed: new(atomic.Bool)}
}

// Begin opens the session in which the authorized work is done, on the
// ciphertexts of the transaction at hand. It compares what was authorized with
// what it is asked for, and refuses an authorization that is missing, differs
// or was redeemed before. A transaction that runs again is decided on again.
func (a *Authorization) Begin(asked Scope, s CiphertextStore) (*Session, error) {
	switch {
	case a == nil || a.vault == nil:
		return nil, asked.refusal("it is not authorized")
	case asked.Organization == "" || asked.Organization == Instance || asked.Activity == "":
		return nil, asked.refusal("it must name an organization and an activity")
	case asked.Organization != a.scope.Organization:
		return nil, asked.refusal("the authorization is for organization %q", a.scope.Organization)
	case asked.Activity != a.scope.Activity:
		return nil, asked.refusal("the authorization is for activity %q", a.scope.Activity)
	case asked.Intent != a.scope.Intent:
		return nil, asked.refusal("another intent was authorized")
	case s == nil:
		return nil, asked.refusal("there is no ciphertext store")
	case a.redeemed.Swap(true):
		return nil, asked.refusal("the authorization was used before")
	}
	return &Session{
		sealedStore: sealedStore{vault: a.vault, org: asked.Organization, ciphertexts: s},
		scope:       asked, ended: new(atomic.Bool),
	}, nil
}

func (s Scope) refusal(format string, args ...any) error {
	return fmt.Errorf("vault: no session for activity %q in organization %q: %s", s.Activity, s.Organization, fmt.Sprintf(format, args...))
}
