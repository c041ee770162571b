package ops_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// claimsOf reads the payload of a token, as clients do: as plain base64.
func claimsOf(t testing.TB, token string) Value {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a token: %q", token)
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return Reply{Body: raw}.JSON(t)
}

func TestStampLogin(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.Ed25519)
		key := s.Stranger(t, ada)
		before := time.Now().Truncate(time.Second)
		session := ada.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey(), "expirationSeconds": "3600"}).Get("result", "stampLoginResult", "session").Text()
		after := time.Now()
		claims := claimsOf(t, session)
		if claims.Get("user_id").Text() != ada.UserID || claims.Get("organization_id").Text() != ada.OrganizationID ||
			claims.Get("public_key").Text() != key.Key.PublicKey() || claims.Get("session_type").Text() != "SESSION_TYPE_READ_WRITE" {
			t.Errorf("claims: %v", claims)
		}
		if end := time.Unix(int64(claims.Get("exp").Number()), 0).Add(-time.Hour); end.Before(before) || end.After(after) {
			t.Errorf("it lasts until an hour after %v", end)
		}
		checkSession(t, s, session)
		if got := key.Query(t, "whoami", nil).Get("userId").Text(); got != ada.UserID {
			t.Errorf("whoami: %s", got)
		}
		stored := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List()
		if len(stored) != 2 || stored[1].Get("credential", "type").Text() != "CREDENTIAL_TYPE_LOGIN" {
			t.Errorf("keys: %v", stored)
		}
		// A session prolongs itself, with the same key.
		key.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey(), "expirationSeconds": "7200"})
		// Another one ends the first, if asked to.
		other := s.Stranger(t, ada)
		ada.Submit(t, "stamp_login", m{"publicKey": other.Key.PublicKey(), "invalidateExisting": true})
		key.Refused(t, http.StatusUnauthorized, "whoami", nil)
		other.Query(t, "whoami", nil)
		ada.Query(t, "whoami", nil) // a lasting key is not of this kind
		// Bad keys, taken keys, ends beyond reason.
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": "02" + strings.Repeat("ff", 32)})
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": other.Key.PublicKey(), "expirationSeconds": "0"})
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": other.Key.PublicKey(), "expirationSeconds": "99999999999999"})
		ada.Refused(t, http.StatusConflict, "stamp_login", m{"publicKey": s.Root.Key.PublicKey()})
		ada.Refused(t, http.StatusNotFound, "stamp_login", m{"publicKey": other.Key.PublicKey(), "sessionProfileId": s.Root.OrganizationID})
	})
}

// checkSession verifies a session with the key that the server publishes.
func checkSession(t *testing.T, s *Server, session string) {
	t.Helper()
	signed, signature, _ := strings.Cut(session[strings.IndexByte(session, '.')+1:], ".")
	signed = session[:strings.IndexByte(session, '.')+1] + signed
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(raw) != 64 {
		t.Fatalf("signature: %v", err)
	}
	public, err := hex.DecodeString(s.Keys.ServerKeys.SessionPublicKey())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		t.Fatal(err)
	}
	once := sha256.Sum256([]byte(signed))
	twice := sha256.Sum256(once[:])
	if !ecdsa.Verify(key, twice[:], bigOf(raw[:32]), bigOf(raw[32:])) {
		t.Error("the session's signature is wrong")
	}
}

func TestReadWriteSession(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		s.Root.Submit(t, "update_user_email", m{"userId": ada.UserID, "userEmail": "ada@example.com"})
		recipient := NewRecipient(t)
		a := ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey()})
		result := a.Get("result", "createReadWriteSessionResultV2")
		if result.Get("userId").Text() != ada.UserID || result.Get("username").Text() != "Ada" || result.Get("organizationName").Text() != "Test organization" {
			t.Errorf("result: %v", result)
		}
		session := recipient.LogIn(t, ada, result.Get("credentialBundle").Text())
		if got := session.Query(t, "whoami", nil).Get("userId").Text(); got != ada.UserID {
			t.Errorf("whoami: %s", got)
		}
		key := s.Root.Query(t, "get_api_key", m{"apiKeyId": result.Get("apiKeyId").Text()}).Get("apiKey")
		if key.Get("credential", "type").Text() != "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256" || key.Get("expirationSeconds").Text() != "900" ||
			!strings.HasPrefix(key.Get("apiKeyName").Text(), "Read Write Session - ") {
			t.Errorf("key: %v", key)
		}
		// For another user one needs the right to; root has it, also by address.
		ada.Refused(t, http.StatusForbidden, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "userId": s.Root.UserID})
		first := s.Root.MustPost(t, "create_read_write_session", s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION",
			m{"targetPublicKey": recipient.PublicKey(), "email": "ADA@example.com"})).Get("activity", "result", "createReadWriteSessionResult")
		if first.Get("userId").Text() != ada.UserID {
			t.Errorf("version 1: %v", first)
		}
		// One's own address is oneself; another user's is not, nor one that two
		// users have.
		byAddress := func(email string) []byte {
			return ada.BodyOf(t, "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION", m{"targetPublicKey": recipient.PublicKey(), "email": email})
		}
		own := ada.MustPost(t, "create_read_write_session", byAddress("ada@example.com")).Get("activity", "result", "createReadWriteSessionResult")
		if own.Get("userId").Text() != ada.UserID {
			t.Errorf("by one's own address: %v", own)
		}
		s.Root.Submit(t, "update_user_email", m{"userId": s.Root.UserID, "userEmail": "root@example.com"})
		ada.RefusedBody(t, http.StatusForbidden, "create_read_write_session", byAddress("root@example.com"))
		ada.RefusedBody(t, http.StatusForbidden, "create_read_write_session", byAddress("none@example.com"))
		s.Root.Submit(t, "update_user_email", m{"userId": s.Root.UserID, "userEmail": "ada@example.com"})
		ada.RefusedBody(t, http.StatusForbidden, "create_read_write_session", byAddress("ada@example.com"))
		s.Root.Refused(t, http.StatusBadRequest, "create_read_write_session", m{"targetPublicKey": "04" + strings.Repeat("00", 64)})
		s.Root.Refused(t, http.StatusNotFound, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "userId": s.Root.OrganizationID})

		// The eleventh session takes the place of the oldest.
		for range 10 {
			ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey()})
		}
		session.Refused(t, http.StatusUnauthorized, "whoami", nil)
		ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "invalidateExisting": true})
		if n := len(s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List()); n != 2 {
			t.Errorf("%d keys", n)
		}
	})
}

func TestReadOnlySession(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		result := ada.Submit(t, "create_read_only_session", m{}).Get("result", "createReadOnlySessionResult")
		session := http.Header{"X-Session": {result.Get("session").Text()}}
		read := func(operation string, org string) Reply {
			return Send(t, http.MethodPost, s.URL+Path(operation), session, fmt.Appendf(nil, `{"organizationId":%q}`, org))
		}
		reply := read("whoami", ada.OrganizationID)
		if reply.Status != http.StatusOK || reply.JSON(t).Get("userId").Text() != ada.UserID {
			t.Errorf("whoami: %s", reply.Body)
		}
		if reply := read("list_users", ada.OrganizationID); reply.Status != http.StatusOK {
			t.Errorf("list_users: %s", reply.Body)
		}
		// It does not write, and reads nothing elsewhere.
		body := ada.Body(t, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
		CheckError(t, Send(t, http.MethodPost, s.URL+Path("create_user_tag"), session, body), http.StatusUnauthorized)
		other := s.CreateOrganization(t, "Other")
		CheckError(t, read("list_users", other.OrganizationID), http.StatusUnauthorized)
		damaged := result.Get("session").Text()
		CheckError(t, Send(t, http.MethodPost, s.URL+Path("whoami"), http.Header{"X-Session": {damage(damaged)}},
			fmt.Appendf(nil, `{"organizationId":%q}`, ada.OrganizationID)), http.StatusUnauthorized)
		// It ends with the credential that opened it.
		key := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
		s.Root.Submit(t, "update_user_email", m{"userId": ada.UserID, "userEmail": "ada@example.com"})
		s.Root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		CheckError(t, read("whoami", ada.OrganizationID), http.StatusUnauthorized)
	})
}

// damage changes one character of a token's signature for another.
func damage(token string) string {
	i := len(token) - 20
	other := "A"
	if token[i] == 'A' {
		other = "B"
	}
	return token[:i] + other + token[i+1:]
}

func as(c *Caller, organization string) *Caller {
	there := *c
	there.OrganizationID = organization
	return &there
}

// attestedStamper stamps with a key that a token names.
type attestedStamper struct {
	key    *Caller
	token  string
	scheme string
}

func (a attestedStamper) PublicKey() string { return a.key.Key.PublicKey() }

func (a attestedStamper) Stamp(body []byte) (name, value string, err error) {
	_, plain, err := a.key.Stamper.Stamp(body)
	if err != nil {
		return "", "", err
	}
	raw, err := base64.RawURLEncoding.DecodeString(plain)
	if err != nil {
		return "", "", err
	}
	var stamp map[string]string
	if err := json.Unmarshal(raw, &stamp); err != nil {
		return "", "", err
	}
	stamp["scheme"], stamp["publicKeyAttestation"] = a.scheme, a.token
	text, err := json.Marshal(stamp)
	return "X-Stamp-Attested", base64.RawURLEncoding.EncodeToString(text), err
}

// TestEchoOfZeros finds in the intent what was sent as false, empty or 0, and
// nothing that was not sent.
func TestEchoOfZeros(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		target := NewRecipient(t).PublicKey()
		for _, params := range []m{
			{"targetPublicKey": target},
			{"targetPublicKey": target, "invalidateExisting": false},
			{"targetPublicKey": target, "invalidateExisting": true, "expirationSeconds": "60"},
		} {
			a := s.Root.Submit(t, "create_read_write_session", params)
			for name, intent := range map[string]Value{
				"intent": a.Get("intent"), "document": a.Get("result", "activity", "intent"),
				"stored": s.Root.Query(t, "get_activity", m{"activityId": a.Get("id").Text()}).Get("activity", "intent"),
			} {
				if diff := cmp.Diff(any(params), intent.Get("createReadWriteSessionIntentV2").Any); diff != "" {
					t.Errorf("%s (-sent +echoed):\n%s", name, diff)
				}
			}
		}
		// In the objects of a list, too.
		policies := m{"policies": []any{
			m{"policyName": "a", "effect": "EFFECT_DENY", "condition": "true", "notes": ""},
			m{"policyName": "b", "effect": "EFFECT_DENY", "condition": "true", "notes": "n"},
		}}
		got := s.Root.Submit(t, "create_policies", policies).Get("intent", "createPoliciesIntent").Any
		if diff := cmp.Diff(any(policies), got); diff != "" {
			t.Errorf("(-sent +echoed):\n%s", diff)
		}
	})
}
