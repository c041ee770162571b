package cloud

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The keys of Azure.
const (
	AzureKey   = "https://" + vaultHost + "/keys/latchkey"
	AzureOther = "https://" + vaultHost + "/keys/other"

	vaultHost  = "acme.vault.azure.net"
	azureToken = "token-" + Secret
)

// AzureVersion names a version of a key, from 1.
func AzureVersion(n int) string { return fmt.Sprintf("%032x", n) }

// serveAzure answers as a key vault does, and as the identity of a machine:
// https://learn.microsoft.com/rest/api/keyvault/keys
func (s *Service) serveAzure(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	trouble, _ := s.state("")
	if r.URL.Path == "/identity" {
		if r.Header.Get("X-Identity-Header") != Secret || r.URL.Query().Get("resource") != "https://vault.azure.net" {
			reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
			return
		}
		until := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		reply(w, http.StatusOK, map[string]string{"access_token": azureToken, "expires_on": until, "resource": "https://vault.azure.net", "token_type": "Bearer"})
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+azureToken || trouble == Expired {
		w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.windows.net/0b5a4b3c-0000-4000-8000-000000000000", resource="https://vault.azure.net"`)
		refuseAzure(w, http.StatusUnauthorized, "Unauthorized", "", "AKV10000: Request is missing a Bearer or PoP token.")
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/keys/"), "/") // NAME [VERSION] VERB
	if len(parts) == 2 {
		parts = []string{parts[0], "", parts[1]}
	}
	_, versions := s.state(parts[0])
	var asked struct{ Alg, Value string }
	switch err := json.Unmarshal(body, &asked); {
	case err != nil || len(parts) != 3:
		refuseAzure(w, http.StatusBadRequest, "BadParameter", "", "The request is malformed.")
		return
	case trouble == Denied:
		refuseAzure(w, http.StatusForbidden, "Forbidden", "ForbiddenByRbac", "Caller is not authorized to perform action on resource.")
		return
	case trouble == Busy:
		refuseAzure(w, http.StatusTooManyRequests, "Throttled", "", "Request was not processed because too many requests were received.")
		return
	case trouble == Disabled:
		refuseAzure(w, http.StatusForbidden, "Forbidden", "KeyDisabled", "Operation "+parts[2]+" is not allowed on a disabled key.")
		return
	}
	n := len(versions)
	for i := range versions {
		if parts[1] == AzureVersion(i+1) {
			n = i + 1
		}
	}
	if n == 0 || parts[1] != "" && parts[1] != AzureVersion(n) {
		refuseAzure(w, http.StatusNotFound, "KeyNotFound", "", "A key with (name/id) "+parts[0]+" was not found in this key vault.")
		return
	}
	pair := versions[n-1].pair
	value, err := base64.RawURLEncoding.DecodeString(asked.Value)
	switch {
	case err != nil || asked.Alg != "RSA-OAEP-256":
		refuseAzure(w, http.StatusBadRequest, "BadParameter", "", "The parameter is incorrect.")
		return
	case parts[2] == "wrapkey":
		value, err = rsa.EncryptOAEP(sha256.New(), rand.Reader, &pair.PublicKey, value, nil)
	case parts[2] == "unwrapkey":
		value, err = rsa.DecryptOAEP(sha256.New(), nil, pair, value, nil)
	default:
		refuseAzure(w, http.StatusNotFound, "NotFound", "", "There is no such operation.")
		return
	}
	if err != nil {
		refuseAzure(w, http.StatusBadRequest, "BadParameter", "", "The parameter is incorrect.\r\n")
		return
	}
	used := parts[0]
	if trouble == OtherKey {
		used = "other"
	}
	reply(w, http.StatusOK, map[string]string{
		"kid": "https://" + vaultHost + "/keys/" + used + "/" + AzureVersion(n), "value": base64.RawURLEncoding.EncodeToString(value),
	})
}

func refuseAzure(w http.ResponseWriter, status int, code, inner, message string) {
	told := map[string]any{"code": code, "message": message}
	if inner != "" {
		told["innererror"] = map[string]string{"code": inner}
	}
	reply(w, status, map[string]any{"error": told})
}
