package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/stamp"
	"latchkey/internal/store"
)

// caller is whoever signed the request, by a signature that was verified. That
// the credential is still valid is checked again in every transaction.
type caller struct {
	stamp     *stamp.Stamp
	publicKey string // as a vote records it
	coseKey   []byte // passkeys: the key that the signature was verified with
}

// authenticate verifies the request's stamp with a credential of the
// organization.
func (e *Engine) authenticate(ctx context.Context, org string, r Request) (*caller, error) {
	sent, err := stamp.Read(r.Header)
	if err != nil {
		return nil, err
	}
	c := &caller{stamp: sent, publicKey: sent.PublicKey}
	var userID string
	var passkey stamp.Passkey
	// The credential is looked up first: a key that nobody has is refused
	// before it costs a verification.
	err = e.store.View(ctx, org, func(tx *store.Tx) error {
		user, err := e.identify(tx, c)
		if err != nil {
			return err
		}
		userID = user.ID
		if sent.CredentialID == "" {
			return nil
		}
		passkey, err = passkeyOf(tx, user, sent.CredentialID)
		return err
	})
	if err != nil {
		return nil, hideOrganization(err, sent)
	}
	if sent.CredentialID == "" {
		err = e.verifier.VerifyAPIKey(sent, r.Body)
	} else {
		_, err = e.verifier.VerifyPasskey(sent, r.Body, passkey)
		c.coseKey = passkey.COSEKey
		c.publicKey = base64.RawURLEncoding.EncodeToString(passkey.COSEKey)
	}
	if err != nil {
		return nil, err
	}
	r.Event.UserID = userID
	return c, nil
}

// identify finds the user whose credential stamped the request, and refuses a
// credential that is unknown, expired or no longer the one that was verified.
func (e *Engine) identify(tx *store.Tx, c *caller) (*domain.User, error) {
	if c.stamp.CredentialID != "" {
		user, err := tx.Users().Find(store.ByCredential, domain.PasskeyCredential(c.stamp.CredentialID))
		if err != nil {
			return nil, err
		}
		if user == nil {
			return nil, unknownCredential(c.stamp)
		}
		passkey, _ := user.Authenticator(c.stamp.CredentialID)
		if c.coseKey != nil && !bytes.Equal(c.coseKey, passkey.COSEKey) {
			return nil, unknownCredential(c.stamp)
		}
		return user, nil
	}
	user, err := tx.Users().Find(store.ByCredential, domain.APIKeyCredential(c.stamp.PublicKey))
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, unknownCredential(c.stamp)
	}
	key, _ := user.APIKey(c.stamp.PublicKey)
	// The hex of a compressed point may name a point on two curves at once.
	if c.stamp.Scheme.Curve() != key.Type.Curve() {
		return nil, unknownCredential(c.stamp)
	}
	if key.Expired(e.now()) {
		// Clients recognise an ended session by this very text.
		return nil, fault.New(fault.Unauthenticated, fault.ReasonAPIKeyExpired,
			"rpc error: code = Unauthenticated desc = expired api key publicKey: %s", key.PublicKey)
	}
	return user, nil
}

func passkeyOf(tx *store.Tx, user *domain.User, credentialID string) (stamp.Passkey, error) {
	org, err := tx.Organization()
	if err != nil {
		return stamp.Passkey{}, err
	}
	a, ok := user.Authenticator(credentialID)
	if !ok {
		return stamp.Passkey{}, errors.New("engine: a user was found by a passkey that he does not have")
	}
	return stamp.Passkey{COSEKey: a.COSEKey, RPIDHash: a.RPIDHash, Counter: a.Counter, Origins: origins(org)}, nil
}

// origins lists the pages whose passkeys the organization accepts; nil is all.
func origins(org *domain.Organization) []string {
	for _, f := range org.Features {
		if f.Name == domain.FeatureOrigins {
			return strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}

// unknownCredential is the same for an unknown key and an unknown
// organization. Clients recognise the first part of the text.
func unknownCredential(s *stamp.Stamp) error {
	if s.CredentialID != "" {
		return fault.New(fault.Unauthenticated, fault.ReasonCredentialNotFound,
			"credential ID could not be found in organization or its parent organization; "+
				"check organizationId, and that the passkey is registered there")
	}
	return fault.New(fault.Unauthenticated, fault.ReasonPublicKeyNotFound,
		"could not find public key in organization or its parent organization; "+
			"check organizationId, and that the key that stamps belongs to a user there")
}
