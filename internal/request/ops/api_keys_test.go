package ops_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// TestAPIKeys lets users manage their own keys, and no others.
func TestAPIKeys(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)

		key, private := apiKey(t, client.Secp256k1, "second")
		second := ada.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{key}}).
			Get("result", "createApiKeysResult", "apiKeyIds", 0).Text()
		old, _ := apiKey(t, client.P256, "third")
		delete(old, "curveType")
		ada.MustPost(t, "create_api_keys", ada.BodyOf(t, "ACTIVITY_TYPE_CREATE_API_KEYS", m{"userId": ada.UserID, "apiKeys": []any{old}}))

		mine := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List()
		if len(mine) != 3 || mine[1].Get("credential", "type").Text() != "CREDENTIAL_TYPE_API_KEY_SECP256K1" ||
			mine[1].Get("apiKeyId").Text() != second || mine[2].Get("credential", "type").Text() != "CREDENTIAL_TYPE_API_KEY_P256" {
			t.Errorf("Ada's keys: %v", mine)
		}
		if all := bob.Query(t, "get_api_keys", nil).Get("apiKeys").List(); len(all) != 5 { // Root, Ada's three, Bob
			t.Errorf("%d keys in the organization, want 5: %v", len(all), all)
		}

		// The new key works, until it is deleted; from then on it does not.
		withSecond := *ada
		withSecond.Stamper = private.Stamper()
		withSecond.Query(t, "whoami", nil)
		ada.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{second}})
		withSecond.Refused(t, http.StatusUnauthorized, "whoami", nil)

		another, _ := apiKey(t, client.P256, "another")
		first := mine[0].Get("apiKeyId").Text()
		refuseAll(t, []refusedRequest{
			{"a key for another user", bob, "create_api_keys", 403, "", m{"userId": ada.UserID, "apiKeys": []any{another}}},
			{"deleting another user's key", bob, "delete_api_keys", 403, "", m{"userId": ada.UserID, "apiKeyIds": []any{first}}},
			{"a key twice", ada, "create_api_keys", 409, "", m{"userId": ada.UserID, "apiKeys": []any{onCurve(old)}}},
			{"a key of another user", bob, "create_api_keys", 409, "", m{"userId": bob.UserID, "apiKeys": []any{onCurve(old)}}},
			{"for an unknown user", s.Root, "create_api_keys", 404, "", m{"userId": unknownID, "apiKeys": []any{another}}},
			{"an unknown key", ada, "delete_api_keys", 404, "", m{"userId": ada.UserID, "apiKeyIds": []any{unknownID}}},
			{"another user's key under one's own id", bob, "delete_api_keys", 404, "", m{"userId": bob.UserID, "apiKeyIds": []any{first}}},
			{"one known, one unknown", ada, "delete_api_keys", 404, "", m{"userId": ada.UserID, "apiKeyIds": []any{first, unknownID}}},
			{"the last credential", ada, "delete_api_keys", 400, "", m{"userId": ada.UserID, "apiKeyIds": []any{first, mine[2].Get("apiKeyId").Text()}}},
			{"the keys of an unknown user", s.Root, "get_api_keys", 404, "", m{"userId": unknownID}},
			{"an unknown user", s.Root, "get_user", 404, "", m{"userId": unknownID}},
			{"an unknown activity", s.Root, "get_activity", 404, "", m{"activityId": unknownID}},
		})
		if left := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List(); len(left) != 2 {
			t.Errorf("refused requests changed Ada's keys: %v", left)
		}
		// A root user may do it for others.
		s.Root.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{another}})
	})
}

func onCurve(key m) m {
	return m{"apiKeyName": key["apiKeyName"], "publicKey": key["publicKey"], "curveType": client.P256.CurveType()}
}

// TestKeyLimits checks that lasting keys are refused past the limit, and that
// expiring ones make room for each other.
func TestKeyLimits(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		add := func(status int, lifetime string) {
			t.Helper()
			key, _ := apiKey(t, client.P256, "key"+lifetime)
			if lifetime != "" {
				key["expirationSeconds"] = lifetime
			}
			params := m{"userId": ada.UserID, "apiKeys": []any{key}}
			if status == http.StatusOK {
				ada.Submit(t, "create_api_keys", params)
			} else if refusal := ada.Refused(t, status, "create_api_keys", params); refusal.Get("code").Number() != 8 {
				t.Errorf("refusal: %v", refusal)
			}
		}
		for range 9 {
			add(http.StatusOK, "")
		}
		add(http.StatusTooManyRequests, "") // Ada has one from the start
		for i := range 12 {
			add(http.StatusOK, strconv.Itoa(1000+i))
		}
		var expiring []string
		for _, k := range s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List() {
			if k.Has("expirationSeconds") {
				expiring = append(expiring, k.Get("expirationSeconds").Text())
			}
		}
		if got := strings.Join(expiring, " "); got != "1002 1003 1004 1005 1006 1007 1008 1009 1010 1011" {
			t.Errorf("expiring keys left: %s", got)
		}
	})
}
