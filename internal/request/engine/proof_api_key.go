package engine

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/store"
)

// apiKeyProof is a signature with an API key of the user.
type apiKeyProof struct {
	engine     *Engine
	stamp      *stamp.Stamp
	credential string // what the key is found by
}

func (p *apiKeyProof) identify(tx *store.Tx) (*principal, error) {
	user, err := tx.Users().Find(store.ByCredential, p.credential)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, p.unknown()
	}
	key := user.FindAPIKey(p.stamp.PublicKey)
	// The hex of a compressed point may name a point on two curves at once.
	if key == nil || p.stamp.Scheme.Curve() != key.Type.Curve() {
		return nil, p.unknown()
	}
	if key.Expired(p.engine.Now()) {
		return nil, expiredKey(key.PublicKey)
	}
	return &principal{
		user: user, credentialID: key.ID, credentialType: key.Type, credentialKey: p.credential,
		key: key, ipAllowlist: key.IPAllowlist, scope: key.Scope, method: key.Method(),
	}, nil
}

func (p *apiKeyProof) verify(_ context.Context, _ *caller, r Request) error {
	return p.engine.verifier.VerifyAPIKey(p.stamp, r.Body)
}

func (p *apiKeyProof) directoryKeys() []string {
	return []string{domain.ChildByCredential(p.credential)}
}

func (p *apiKeyProof) unknown() error { return unknownPublicKey() }

func (p *apiKeyProof) credentialNoun() string { return "a public key" }

func (p *apiKeyProof) signature() signature {
	return signature{p.stamp.PublicKey, p.stamp.Signature, p.stamp.Scheme}
}

func unknownPublicKey() error {
	return fault.New(fault.Unauthenticated, fault.ReasonPublicKeyNotFound,
		"could not find public key in organization or its parent organization; "+
			"check organizationId, and that the key that stamps belongs to a user there")
}

// expiredKey is the text by which clients recognise a session that has ended.
func expiredKey(publicKey string) error {
	return fault.New(fault.Unauthenticated, fault.ReasonAPIKeyExpired,
		"rpc error: code = Unauthenticated desc = expired api key publicKey: %s", publicKey)
}
