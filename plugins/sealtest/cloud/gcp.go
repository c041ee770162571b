package cloud

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
)

// The keys of Google Cloud.
const (
	GCPKey   = gcpRing + "latchkey"
	GCPOther = gcpRing + "other"

	gcpRing  = "projects/acme-1/locations/europe-west3/keyRings/vault/cryptoKeys/"
	gcpEmail = "latchkey@acme-1.iam.gserviceaccount.com"
)

// account is the file of the service account.
func (s *Service) account() string {
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(s.robot))})
	return string(must(json.Marshal(map[string]string{
		"type": "service_account", "project_id": "acme-1", "private_key_id": "1", "private_key": string(key),
		"client_email": gcpEmail, "client_id": Secret, "token_uri": "https://oauth2.googleapis.com/token",
	})))
}

// serveGCP answers as Cloud KMS does: https://docs.cloud.google.com/kms/docs/reference/rest
func (s *Service) serveGCP(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	var asked struct {
		Plaintext, Ciphertext, AdditionalAuthenticatedData                   []byte
		PlaintextCrc32c, CiphertextCrc32c, AdditionalAuthenticatedDataCrc32c string
	}
	trouble, _ := s.state("")
	key, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), ":")
	name, ok := strings.CutPrefix(key, gcpRing)
	_, versions := s.state(name)
	switch err := json.Unmarshal(body, &asked); {
	case err != nil:
		refuseGCP(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	case !s.signed(r) || trouble == Expired:
		refuseGCP(w, http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
		return
	case trouble == Denied:
		refuseGCP(w, http.StatusForbidden, "PERMISSION_DENIED", "Permission 'cloudkms.cryptoKeyVersions.useToDecrypt' denied on resource '"+key+"' (or it may not exist).")
		return
	case trouble == Busy:
		refuseGCP(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric.")
		return
	case !ok || len(versions) == 0:
		refuseGCP(w, http.StatusNotFound, "NOT_FOUND", "CryptoKey "+key+" not found.")
		return
	case trouble == Disabled:
		refuseGCP(w, http.StatusBadRequest, "FAILED_PRECONDITION", key+"/cryptoKeyVersions/1 is not enabled, current state is: DISABLED.")
		return
	}
	used := key
	if trouble == OtherKey {
		used = GCPOther
	}
	off := 0
	if trouble == Damaged {
		off = 1
	}
	bound := asked.AdditionalAuthenticatedData
	switch verb {
	case "encrypt":
		text := encrypt(versions, asked.Plaintext, bound)
		reply(w, http.StatusOK, map[string]any{
			"name": fmt.Sprintf("%s/cryptoKeyVersions/%d", used, len(versions)), "ciphertext": text, "ciphertextCrc32c": checksum(text, off),
			"verifiedPlaintextCrc32c":                   asked.PlaintextCrc32c == checksum(asked.Plaintext, 0),
			"verifiedAdditionalAuthenticatedDataCrc32c": asked.AdditionalAuthenticatedDataCrc32c == checksum(bound, 0),
			"protectionLevel":                           2,
		})
	case "decrypt":
		if asked.CiphertextCrc32c != checksum(asked.Ciphertext, 0) || asked.AdditionalAuthenticatedDataCrc32c != checksum(bound, 0) {
			refuseGCP(w, http.StatusBadRequest, "INVALID_ARGUMENT", "The checksum does not match.")
			return
		}
		plain, err := decrypt(versions, asked.Ciphertext, bound)
		if err != nil {
			refuseGCP(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Decryption failed: verify that 'name' refers to the correct CryptoKey.")
			return
		}
		reply(w, http.StatusOK, map[string]any{"plaintext": plain, "plaintextCrc32c": checksum(plain, off), "usedPrimary": true, "protectionLevel": 2})
	default:
		refuseGCP(w, http.StatusNotFound, "NOT_FOUND", "Method not found.")
	}
}

// checksum is that of some data, or off by some.
func checksum(data []byte, off int) string {
	return strconv.Itoa(int(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))) + off)
}

// signed checks the token that the service account has signed (RFC 7515).
func (s *Service) signed(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return err == nil && rsa.VerifyPKCS1v15(&s.robot.PublicKey, crypto.SHA256, digest[:], signature) == nil
}

func refuseGCP(w http.ResponseWriter, status int, kind, message string) {
	reply(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": kind}})
}
