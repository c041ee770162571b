package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// caller is whoever sent the request, by a signature that was verified. That
// the credential is still valid is checked again in every transaction.
type caller struct {
	stamp     *stamp.Stamp // nil for a session
	publicKey string       // as a vote records it
	coseKey   []byte       // passkeys: the key that the signature was verified with
	attested  *attested    // who the stamp's token says that he is
	session   *session     // reads without signing

	home   string // organization of his user
	target string // organization that he acts in: home, or a child of it

	passkey    stamp.Passkey // passkeys: what to verify with
	counter    uint32        // passkeys: the last signature counter that was seen
	credential domain.CredentialType
}

// principal is a user and the credential by which he proved himself.
type principal struct {
	user           *domain.User
	credentialID   string
	credentialType domain.CredentialType
	credentialKey  string
}

// authenticate verifies the request's stamp with a credential of the
// organization, or of one that the operation accepts in its place.
func (e *Engine) authenticate(ctx context.Context, org string, r Request, access activity.Access) (*caller, error) {
	sent, err := stamp.Read(r.Header)
	if err != nil {
		return nil, err
	}
	c := &caller{stamp: sent, publicKey: sent.PublicKey}
	if sent.Attestation != "" {
		if !access.ByAttestation {
			return nil, fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid,
				"could not extract api key stamp: this operation does not accept X-Stamp-Attested; log in with stamp_login first")
		}
		if c.attested, err = e.attest(sent); err != nil {
			return nil, err
		}
	}
	// The credential is looked up first: a key that nobody has is refused
	// before it costs a verification.
	if err := e.findCaller(ctx, org, c, access); err != nil {
		return nil, err
	}
	if sent.CredentialID == "" {
		if err := e.verifier.VerifyAPIKey(sent, r.Body); err != nil {
			return nil, err
		}
		return c, e.confirm(ctx, c)
	}
	counter, err := e.verifier.VerifyPasskey(sent, r.Body, c.passkey)
	if err != nil {
		return nil, err
	}
	c.coseKey = c.passkey.COSEKey
	c.publicKey = base64.RawURLEncoding.EncodeToString(c.coseKey)
	return c, e.advance(ctx, c, counter, r)
}

// rememberedUses is how many requests of a passkey that counts may be sent
// again.
const rememberedUses = 8

// advance remembers the signature counter of a passkey, and refuses one that
// does not grow: the authenticator may have been copied. Synced passkeys send
// zero for ever. The same stamp once more is no sign of a copy: clients send
// it again when a reply was lost.
func (e *Engine) advance(ctx context.Context, c *caller, counter uint32, r Request) error {
	if counter == 0 && c.counter == 0 {
		return nil
	}
	use := sha256.Sum256([]byte(c.stamp.Signature)) // of the whole stamp
	err := e.Store.Update(ctx, c.home, func(tx *store.Tx) error {
		who, err := e.identify(tx, c)
		if err != nil {
			return err
		}
		return tx.Users().Edit(who.user.ID, func(u *domain.User) error {
			a := u.FindAuthenticator(c.stamp.CredentialID)
			switch {
			case counter > a.Counter:
				a.Counter = counter
				a.Uses = append(a.Uses[max(0, len(a.Uses)+1-rememberedUses):], use[:])
				return nil
			case slices.ContainsFunc(a.Uses, func(u []byte) bool { return bytes.Equal(u, use[:]) }):
				return nil
			}
			r.Event.Warning = "the signature counter of a passkey did not grow; its authenticator may have been copied"
			return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid,
				"could not verify WebAuthN signature: the signature counter is %d and was %d before: it must grow, "+
					"or the authenticator may be a copy", counter, a.Counter)
		})
	})
	return hideOrganization(err, c)
}

// authenticateReader also accepts a session that may read.
func (e *Engine) authenticateReader(ctx context.Context, org string, r Request, access activity.Access) (*caller, error) {
	token, ok := sessionToken(r.Header)
	if !ok {
		return e.authenticate(ctx, org, r, access)
	}
	c := new(caller)
	var err error
	if c.session, err = e.openSession(token); err != nil {
		return nil, err
	}
	return c, e.findCaller(ctx, org, c, access)
}

// authorizeSubmit refuses those whose credential or whose organization is not enough for
// an activity.
func (c *caller) authorizeSubmit(a activity.Access) error {
	if c.home != c.target && !a.ByParent {
		return fault.New(fault.InvalidArgument, fault.ReasonMismatch,
			"organization mismatch: request is targeting organization (%q), but voters are in organization (%q); "+
				"a parent organization may read its children and log their users in, and nothing else", c.target, c.home)
	}
	return c.authorizeRead(a)
}

func (c *caller) authorizeRead(a activity.Access) error {
	if c.credential == domain.CredentialRecovery && !a.ByRecovery {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: a recovery key can only complete the recovery of its user (recover_user)")
	}
	return nil
}

// identify finds the user whose credential stamped the request, and refuses a
// credential that is unknown, expired or no longer the one that was verified.
func (e *Engine) identify(tx *store.Tx, c *caller) (*principal, error) {
	switch {
	case c.session != nil:
		return e.identifySession(tx, c.session)
	case c.attested != nil:
		return identifyAttested(tx, c)
	case c.stamp.CredentialID != "":
		user, err := tx.Users().Find(store.ByCredential, domain.PasskeyCredential(c.stamp.CredentialID))
		if err != nil {
			return nil, err
		}
		if user == nil {
			return nil, unknownCredential(c)
		}
		passkey, _ := user.Authenticator(c.stamp.CredentialID)
		if c.coseKey != nil && !bytes.Equal(c.coseKey, passkey.COSEKey) {
			return nil, unknownCredential(c)
		}
		return &principal{user, passkey.ID, domain.CredentialAuthenticator, domain.PasskeyCredential(passkey.CredentialID)}, nil
	}
	user, err := tx.Users().Find(store.ByCredential, domain.APIKeyCredential(c.stamp.PublicKey))
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, unknownCredential(c)
	}
	key, _ := user.APIKey(c.stamp.PublicKey)
	// The hex of a compressed point may name a point on two curves at once.
	if c.stamp.Scheme.Curve() != key.Type.Curve() {
		return nil, unknownCredential(c)
	}
	if key.Expired(e.Now()) {
		// Clients recognise an ended session by this very text.
		return nil, fault.New(fault.Unauthenticated, fault.ReasonAPIKeyExpired,
			"rpc error: code = Unauthenticated desc = expired api key publicKey: %s", key.PublicKey)
	}
	return &principal{user, key.ID, key.Type, domain.APIKeyCredential(key.PublicKey)}, nil
}

// unknownCredential is the same for an unknown key and an unknown
// organization. Clients recognise the first part of the text.
func unknownCredential(c *caller) error {
	switch {
	case c.session != nil:
		return fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
			"no valid authentication signature found for request: the session is not one of this organization, or the "+
				"credential that opened it is gone; open a new one with create_read_only_session")
	case c.stamp.CredentialID != "":
		return fault.New(fault.Unauthenticated, fault.ReasonCredentialNotFound,
			"credential ID could not be found in organization or its parent organization; "+
				"check organizationId, and that the passkey is registered there")
	}
	return fault.New(fault.Unauthenticated, fault.ReasonPublicKeyNotFound,
		"could not find public key in organization or its parent organization; "+
			"check organizationId, and that the key that stamps belongs to a user there")
}

// isUnknown tells that nobody was found from every other refusal.
func isUnknown(err error) bool {
	if errors.Is(err, store.ErrNoOrganization) {
		return true
	}
	refusal, ok := fault.As(err)
	return ok && (refusal.Reason == fault.ReasonCredentialNotFound || refusal.Reason == fault.ReasonPublicKeyNotFound ||
		refusal.Reason == fault.ReasonUnauthenticated)
}

// hideOrganization keeps the existence of organizations to those who may read
// them: a missing one looks like one in which the key is unknown.
func hideOrganization(err error, c *caller) error {
	if errors.Is(err, store.ErrNoOrganization) {
		return unknownCredential(c)
	}
	return err
}

// originsOf lists the pages whose passkeys an organization accepts; nil is
// all.
func originsOf(org *domain.Organization) []string {
	for _, f := range org.Features {
		if f.Name == domain.FeatureOrigins {
			return strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}
