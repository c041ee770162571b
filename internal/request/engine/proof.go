package engine

import (
	"context"
	"net/http"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// proof is one way to prove who sends a request. There is a file for each.
type proof interface {
	// identify finds the user on the organization's present state. It refuses a
	// credential that is unknown, expired, or no longer the one that was
	// verified.
	identify(tx *store.Tx) (*principal, error)
	// verify checks the proof, once it is known whose it is.
	verify(ctx context.Context, c *caller, r Request) error
	// directoryKeys are what the user's organization is found by in the
	// directory of its parent: the first that finds any.
	directoryKeys() []string
	// unknown is the refusal when no user has the credential, and also when
	// there is no such organization. Clients recognise how its text begins.
	unknown() error
	// credentialNoun is what the credential is called in messages.
	credentialNoun() string
	// signature is what a vote records of the proof.
	signature() signature
}

// signature is a signed request as a vote records it.
type signature struct {
	publicKey string
	text      string
	scheme    stamp.Scheme
}

// principal is a user and the credential that proves who they are.
type principal struct {
	user           *domain.User
	credentialID   string
	credentialType domain.CredentialType
	credentialKey  string                       // what the credential is found by
	key            *domain.APIKey               // API keys
	authenticator  *domain.Authenticator        // passkeys
	attestedKey    string                       // of a stamp, where a token stands in place of a credential; else empty
	verifiedBy     *domain.VerifiedBy           // a verification token in place of a credential
	ipAllowlist    *domain.IPAllowlist          // of the credential; nil: it has none
	scope          *domain.SessionScope         // of the session; nil: it is not limited
	method         *domain.AuthenticationMethod // what the proof is, for multi-factor policies; nil: nothing
}

// readStamp reads the stamp of a request.
func (e *Engine) readStamp(h http.Header, access activity.Access) (proof, error) {
	sent, err := stamp.Read(h)
	switch {
	case err != nil:
		return nil, err
	case sent.CredentialID != "":
		return &passkeyProof{engine: e, stamp: sent}, nil
	case sent.Attestation == "":
		return &apiKeyProof{engine: e, stamp: sent, credential: domain.APIKeyCredential(sent.PublicKey)}, nil
	case !access.ByAttestation:
		return nil, fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid,
			"could not extract api key stamp: this operation does not accept X-Stamp-Attested; log in with stamp_login first")
	}
	return e.readAttestation(sent)
}

// readProof reads the stamp of a request that only reads, or the session that
// stands for it.
func (e *Engine) readProof(h http.Header, access activity.Access) (proof, error) {
	if token, ok := sessionToken(h); ok {
		return e.readSession(token)
	}
	return e.readStamp(h, access)
}
