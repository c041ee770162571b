package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/store"
)

// passkeyProof is an assertion of a passkey of the user.
type passkeyProof struct {
	engine *Engine
	stamp  *stamp.Stamp
	// verified is the COSE key that the assertion was verified with; nil before.
	verified []byte
}

func (p *passkeyProof) identify(tx *store.Tx) (*principal, error) {
	credential := domain.PasskeyCredential(p.stamp.CredentialID)
	user, err := tx.Users().Find(store.ByCredential, credential)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, p.unknown()
	}
	passkey, _ := user.Authenticator(p.stamp.CredentialID)
	if p.verified != nil && !bytes.Equal(p.verified, passkey.COSEKey) {
		return nil, p.unknown()
	}
	return &principal{
		user: user, credentialID: passkey.ID, credentialType: domain.CredentialAuthenticator,
		credentialKey: credential, authenticator: &passkey,
		method: passkey.Method(),
	}, nil
}

func (p *passkeyProof) verify(ctx context.Context, c *caller, r Request) error {
	origins, err := p.engine.origins(ctx, c.organization)
	if err != nil {
		return err
	}
	known := c.found.authenticator
	counter, err := p.engine.verifier.VerifyPasskey(p.stamp, r.Body, stamp.Passkey{
		COSEKey: known.COSEKey, RPIDHash: known.RPIDHash, Origins: origins,
	})
	if err != nil {
		return err
	}
	p.verified = known.COSEKey
	if counter == 0 && known.Counter == 0 {
		return nil // synced passkeys do not count
	}
	return p.advance(ctx, c, counter, r.Event)
}

// rememberedUses is how many requests of a passkey that counts may be sent
// again.
const rememberedUses = 8

// advance remembers the signature counter of a passkey, and refuses one that
// does not grow: the authenticator may have been copied. The same stamp once
// more is no sign of a copy: clients send it again when a reply was lost.
func (p *passkeyProof) advance(ctx context.Context, c *caller, counter uint32, event *Event) error {
	use := sha256.Sum256([]byte(p.stamp.Signature)) // of the whole stamp
	err := p.engine.Store.Update(ctx, c.home, func(tx *store.Tx) error {
		event.Warning = "" // of an attempt that did not count
		who, err := p.identify(tx)
		if err != nil {
			return err
		}
		return tx.Users().Edit(who.user.ID, func(u *domain.User) error {
			a := u.FindAuthenticator(p.stamp.CredentialID)
			switch {
			case counter > a.Counter:
				a.Counter = counter
				a.Uses = append(a.Uses[max(0, len(a.Uses)+1-rememberedUses):], use[:])
				return nil
			case slices.ContainsFunc(a.Uses, func(u []byte) bool { return bytes.Equal(u, use[:]) }):
				return nil
			}
			event.Warning = "the signature counter of a passkey did not grow; its authenticator may have been copied"
			return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid,
				"could not verify WebAuthN signature: the signature counter is %d and was %d before: it must grow, "+
					"or the authenticator may be a copy", counter, a.Counter)
		})
	})
	return c.hideOrganization(err)
}

func (p *passkeyProof) directoryKeys() []string {
	return []string{domain.ChildByCredential(domain.PasskeyCredential(p.stamp.CredentialID))}
}

func (p *passkeyProof) unknown() error {
	return fault.New(fault.Unauthenticated, fault.ReasonCredentialNotFound,
		"credential ID could not be found in organization or its parent organization; "+
			"check organizationId, and that the passkey is registered there")
}

func (p *passkeyProof) credentialNoun() string { return "a credential ID" }

func (p *passkeyProof) signature() signature {
	return signature{base64.RawURLEncoding.EncodeToString(p.verified), p.stamp.Signature, p.stamp.Scheme}
}
