package engine

import (
	"context"
	"net/http"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/proof/token"
	"latchkey/internal/store"
)

// headerSession carries a session that may read.
const headerSession = "X-Session"

// sessionProof is a session that may read. It lasts as long as its token and as
// the credential that opened it.
type sessionProof struct {
	engine  *Engine
	session *token.Session
}

// sessionToken finds a session in the headers of a request without a stamp.
func sessionToken(h http.Header) (string, bool) {
	value := h.Get(headerSession)
	return value, value != "" && h.Get(stamp.HeaderAPIKey) == "" && h.Get(stamp.HeaderWebauthn) == "" && h.Get(stamp.HeaderAttested) == ""
}

// readSession verifies the token: the server signed it.
func (e *Engine) readSession(text string) (proof, error) {
	session, err := token.ReadSession(e.ServerKeys.SignerPublicKey(), text, e.Now())
	if err != nil {
		return nil, err
	}
	return &sessionProof{engine: e, session: session}, nil
}

func (p *sessionProof) identify(tx *store.Tx) (*principal, error) {
	user, err := tx.Users().Find(store.ByCredential, p.session.Credential)
	if err != nil {
		return nil, err
	}
	if tx.Org() != p.session.OrganizationID || user == nil || user.ID != p.session.UserID {
		return nil, p.unknown()
	}
	for _, k := range user.APIKeys {
		if domain.APIKeyCredential(k.PublicKey) == p.session.Credential && k.Expired(p.engine.Now()) {
			return nil, expiredKey(k.PublicKey)
		}
	}
	return &principal{user: user, ipAllowlist: user.IPAllowlistOf(p.session.Credential)}, nil
}

func (p *sessionProof) verify(context.Context, *caller, Request) error { return nil } // readSession did

func (p *sessionProof) directoryKeys() []string {
	return []string{domain.ChildByCredential(p.session.Credential)}
}

func (p *sessionProof) unknown() error {
	return fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
		"no valid authentication signature found for request: the session is not one of this organization, or the "+
			"credential that opened it is gone; open a new one with create_read_only_session")
}

func (p *sessionProof) credentialNoun() string { return "a public key" }

// signature is empty: a session reads, and cannot vote.
func (p *sessionProof) signature() signature { return signature{} }
