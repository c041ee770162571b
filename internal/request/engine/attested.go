package engine

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/proof/token"
	"latchkey/internal/store"
)

// attested is who a token says that the owner of a key is: somebody who
// reads the mail or messages of a contact, or an identity at an issuer.
type attested struct {
	issuedIn string // the organization that verified the contact
	kind     domain.OTPType
	contact  string
	identity *domain.OIDCSubject
}

// attest reads the token of an attested stamp. One of another issuer is only
// believed after confirm: nobody shall make us call a server of his choice
// before we know whom he claims to be.
func (e *Engine) attest(s *stamp.Stamp) (*attested, error) {
	if s.Scheme == stamp.AttestedOIDC {
		if e.Tokens == nil {
			return nil, unattested("this server accepts no tokens of other issuers")
		}
		identity, err := e.Tokens.Unverified(s.Attestation)
		if err != nil {
			return nil, err
		}
		return &attested{identity: &identity}, nil
	}
	v, err := token.ReadVerification(e.Keys.ServerKeys.SignerPublicKey(), s.Attestation, e.Now())
	if err != nil {
		return nil, err
	}
	if v.PublicKey != s.PublicKey {
		return nil, unattested("the verification token was made for another public key")
	}
	return &attested{issuedIn: v.OrganizationID, kind: v.Type, contact: v.Contact}, nil
}

// confirm verifies the token of another issuer, and that it was made for the
// stamp's key.
func (e *Engine) confirm(ctx context.Context, c *caller) error {
	if c.attested == nil || c.attested.identity == nil {
		return nil
	}
	claims, err := e.Tokens.Verify(ctx, c.stamp.Attestation)
	if err != nil {
		return err
	}
	if claims.OIDCSubject != *c.attested.identity || !claims.BoundTo(c.stamp.SentKey) {
		return unattested("the token's nonce is not the SHA-256 of the public key's text")
	}
	return nil
}

func unattested(why string) error {
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid, "could not verify api key signature: %s", why)
}

// identifyAttested finds the one user whom the token speaks of. A contact that
// an organization verified itself counts there; one that a parent verified
// counts in its children too.
func identifyAttested(tx *store.Tx, c *caller) (*principal, error) {
	if i := c.attested.identity; i != nil {
		user, err := tx.Users().Find(store.ByCredential, domain.OAuthCredential(*i))
		if err != nil {
			return nil, err
		}
		if user == nil {
			return nil, unknownCredential(c)
		}
		return &principal{user: user}, nil
	}
	org, err := tx.Organization()
	if err != nil {
		return nil, err
	}
	issuer := c.attested.issuedIn
	if issuer != org.ID && issuer != org.ParentID || !org.HasFeature(c.attested.kind.Feature()) {
		return nil, unknownCredential(c)
	}
	users, err := tx.Users().List("", 0)
	if err != nil {
		return nil, err
	}
	var found *domain.User
	for _, u := range users {
		if !u.HasContact(c.attested.kind, c.attested.contact) {
			continue
		}
		if found != nil {
			return nil, fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
				"more than one user of the organization has the verified contact; log in with another credential")
		}
		found = u
	}
	if found == nil {
		return nil, unknownCredential(c)
	}
	return &principal{user: found}, nil
}

func (a *attested) directoryKey() string {
	switch {
	case a.identity != nil:
		return domain.ChildByCredential(domain.OAuthCredential(*a.identity))
	case a.kind == domain.OTPEmail:
		return domain.ChildByEmail(a.contact)
	}
	return domain.ChildByPhone(a.contact)
}
