// Package transit stands in for the transit engine of OpenBao and Vault in tests: the
// two calls that seals use, with the texts that the service answers with.
package transit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// Service has one key, "latchkey", in the engine at "transit".
type Service struct {
	token string
	key   cipher.AEAD
}

// New makes a service that takes one token.
func New(token string) *Service {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &Service{token, aead}
}

// ServeHTTP answers.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Plaintext, Ciphertext string }
	answer := map[string]string{}
	switch err := json.NewDecoder(r.Body).Decode(&asked); {
	case r.Header.Get("X-Vault-Token") != s.token:
		refuse(w, http.StatusForbidden, "permission denied")
		return
	case err != nil || r.Method != http.MethodPost:
		refuse(w, http.StatusBadRequest, "failed to parse JSON input")
		return
	}
	switch r.URL.Path {
	case "/v1/transit/encrypt/latchkey":
		plain, err := base64.StdEncoding.DecodeString(asked.Plaintext)
		if err != nil {
			refuse(w, http.StatusBadRequest, "failed to base64-decode plaintext")
			return
		}
		answer["ciphertext"] = "vault:v1:" + base64.StdEncoding.EncodeToString(s.key.Seal(nil, nil, plain, nil))
	case "/v1/transit/decrypt/latchkey":
		text, _ := strings.CutPrefix(asked.Ciphertext, "vault:v1:")
		sealed, err := base64.StdEncoding.DecodeString(text)
		if err == nil {
			sealed, err = s.key.Open(nil, nil, sealed, nil)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, "cipher: message authentication failed")
			return
		}
		answer["plaintext"] = base64.StdEncoding.EncodeToString(sealed)
	default:
		refuse(w, http.StatusNotFound, "no handler for route")
		return
	}
	reply(w, http.StatusOK, map[string]any{"request_id": "0", "lease_duration": 0, "data": answer})
}

func refuse(w http.ResponseWriter, status int, reason string) {
	reply(w, status, map[string]any{"errors": []string{reason}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may be gone
}
