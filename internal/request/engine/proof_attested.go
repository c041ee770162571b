package engine

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/proof/token"
	"latchkey/internal/store"
)

// attestedProof is a signature with a key that a token attests: the token says
// that the owner of the key is a subject of an OpenID Connect issuer, or reads
// the mail or messages of a contact.
type attestedProof struct {
	engine *Engine
	stamp  *stamp.Stamp

	subject *domain.OIDCSubject // nil: a contact

	issuedIn   string // the organization that verified the contact
	inChildren bool   // it counts in the children of that one alone
	kind       domain.OTPType
	contact    string
	verifiedBy *domain.VerifiedBy
}

// readAttestation reads the token of an attested stamp. A token of another
// issuer is only verified once its user was found: no caller shall make the
// server fetch an address of their choice for a user who does not exist.
func (e *Engine) readAttestation(s *stamp.Stamp) (proof, error) {
	if s.Scheme == stamp.AttestedOIDC {
		if e.Tokens == nil {
			return nil, unattested("this server accepts no tokens of other issuers")
		}
		subject, err := e.Tokens.Unverified(s.Attestation)
		if err != nil {
			return nil, err
		}
		return &attestedProof{engine: e, stamp: s, subject: &subject}, nil
	}
	v, err := token.ReadVerification(e.ServerKeys.SignerPublicKey(), s.Attestation, e.Now())
	if err != nil {
		return nil, err
	}
	if v.PublicKey != s.PublicKey {
		return nil, unattested("the verification token was made for another public key")
	}
	return &attestedProof{
		engine: e, stamp: s, issuedIn: v.OrganizationID, inChildren: v.InChildren, kind: v.Type, contact: v.Contact, verifiedBy: v.VerifiedBy(),
	}, nil
}

func unattested(why string) error {
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid, "could not verify api key signature: %s", why)
}

// verify checks the signature, and of a token of another issuer that it is
// valid and was made for the stamp's key.
func (p *attestedProof) verify(ctx context.Context, _ *caller, r Request) error {
	if err := p.engine.verifier.VerifyAPIKey(p.stamp, r.Body); err != nil {
		return err
	}
	if p.subject == nil {
		return nil
	}
	claims, err := p.engine.Tokens.Verify(ctx, p.stamp.Attestation)
	if err != nil {
		return err
	}
	if claims.OIDCSubject != *p.subject || !claims.BoundTo(p.stamp.SentKey) {
		return unattested("the token's nonce is not the SHA-256 of the public key's text")
	}
	return nil
}

func (p *attestedProof) identify(tx *store.Tx) (*principal, error) {
	if p.subject == nil {
		return p.identifyByContact(tx)
	}
	user, err := tx.Users().Find(store.ByCredential, domain.OAuthCredential(*p.subject))
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, p.unknown()
	}
	return &principal{user: user, attestedKey: p.stamp.PublicKey, method: user.IdentityMethod(*p.subject)}, nil
}

// identifyByContact finds the one user with the contact. A contact that an
// organization verified itself counts there; one that a parent verified counts
// in its children too.
func (p *attestedProof) identifyByContact(tx *store.Tx) (*principal, error) {
	org, err := tx.Organization()
	if err != nil {
		return nil, err
	}
	here := p.issuedIn == org.ID && !p.inChildren
	if !here && p.issuedIn != org.ParentID || !org.HasFeature(p.kind.Feature()) {
		return nil, p.unknown()
	}
	users, err := tx.Users().List("", 0)
	if err != nil {
		return nil, err
	}
	found, several := domain.FindByContact(users, p.kind, p.contact)
	switch {
	case several:
		return nil, &ambiguousUser{fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
			"more than one user of the organization has the verified contact, and none of them has proved it before; log in with another credential")}
	case found == nil:
		return nil, p.unknown()
	}
	return &principal{user: found, attestedKey: p.stamp.PublicKey, verifiedBy: p.verifiedBy, method: p.kind.Method()}, nil
}

// directoryKeys: children in which a user has proved the contact come before
// those in which one only has it on record.
func (p *attestedProof) directoryKeys() []string {
	if p.subject != nil {
		return []string{domain.ChildByCredential(domain.OAuthCredential(*p.subject))}
	}
	contact := domain.ChildByPhone(p.contact)
	if p.kind == domain.OTPEmail {
		contact = domain.ChildByEmail(p.contact)
	}
	return []string{domain.ChildByVerified(contact), contact}
}

func (p *attestedProof) unknown() error { return unknownPublicKey() }

func (p *attestedProof) credentialNoun() string {
	if p.subject != nil {
		return "an identity at an issuer"
	}
	return "a verified contact"
}

func (p *attestedProof) signature() signature {
	return signature{p.stamp.PublicKey, p.stamp.Signature, p.stamp.Scheme}
}
