package engine

import (
	"net/http"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/proof/token"
	"latchkey/internal/store"
)

// headerSession carries a session that may read.
const headerSession = "X-Session"

// session is a session that may read. It lasts as long as its token and as the
// credential that opened it.
type session = token.Session

// sessionToken finds a session in the headers of a request without a stamp.
func sessionToken(h http.Header) (string, bool) {
	value := h.Get(headerSession)
	return value, value != "" && h.Get(stamp.HeaderAPIKey) == "" && h.Get(stamp.HeaderWebauthn) == "" && h.Get(stamp.HeaderAttested) == ""
}

func (e *Engine) openSession(text string) (*session, error) {
	return token.ReadSession(e.Keys.ServerKeys.SignerPublicKey(), text, e.Now())
}

func (e *Engine) identifySession(tx *store.Tx, s *session) (*principal, error) {
	user, err := tx.Users().Find(store.ByCredential, s.Credential)
	if err != nil {
		return nil, err
	}
	if tx.Org() != s.OrganizationID || user == nil || user.ID != s.UserID {
		return nil, unknownCredential(&caller{session: s})
	}
	for _, k := range user.APIKeys {
		if domain.APIKeyCredential(k.PublicKey) == s.Credential && k.Expired(e.Now()) {
			return nil, fault.New(fault.Unauthenticated, fault.ReasonAPIKeyExpired,
				"rpc error: code = Unauthenticated desc = expired api key publicKey: %s", k.PublicKey)
		}
	}
	return &principal{user: user}, nil
}
