package ops_test

import (
	"testing"

	. "latchkey/internal/test/servertest"
)

// TestPrivateKeys creates, tags and deletes keys.
func TestPrivateKeys(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_private_key_tag", m{"privateKeyTagName": "hot", "privateKeyIds": []any{}}).Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
		key := func(name, curve string, formats ...any) m {
			return m{"privateKeyName": name, "curve": curve, "privateKeyTags": []any{tag}, "addressFormats": append([]any{}, formats...)}
		}
		created := s.Root.Submit(t, "create_private_keys", m{"privateKeys": []any{
			key("one", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH"),
			key("two", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
			key("three", "CURVE_P256"),
		}}).Get("result", "createPrivateKeysResultV2", "privateKeys").List()
		older := s.Root.MustPost(t, "create_private_keys", s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS", m{"privateKeys": []any{key("four", "CURVE_SECP256K1")}})).
			Get("activity", "result", "createPrivateKeysResult", "privateKeyIds", 0).Text()
		id := func(i int) string { return created[i].Get("privateKeyId").Text() }
		one := s.Root.Query(t, "get_private_key", m{"privateKeyId": id(0)}).Get("privateKey")
		if one.Get("privateKeyName").Text() != "one" || len(one.Get("publicKey").Text()) != 130 || len(one.Get("addresses").List()) != 2 ||
			one.Get("privateKeyTags", 0).Text() != tag || one.Get("exported").Any != false || one.Get("imported").Any != false {
			t.Errorf("key: %v", one)
		}
		for i, length := range []int{130, 64, 130} {
			if got := s.Root.Query(t, "get_private_key", m{"privateKeyId": id(i)}).Get("privateKey", "publicKey").Text(); len(got) != length {
				t.Errorf("public key %d has %d digits", i, len(got))
			}
		}
		if all := s.Root.Query(t, "list_private_keys", nil).Get("privateKeys").List(); len(all) != 4 || all[3].Get("privateKeyId").Text() != older {
			t.Errorf("keys: %v", all)
		}
		s.Root.Submit(t, "update_private_key_tag", m{"privateKeyTagId": tag, "newPrivateKeyTagName": "cold", "addPrivateKeyIds": []any{}, "removePrivateKeyIds": []any{id(1)}})
		if listed := s.Root.Query(t, "list_private_key_tags", nil).Get("privateKeyTags"); listed.Get(0, "tagName").Text() != "cold" || listed.Get(0, "tagType").Text() != "TAG_TYPE_PRIVATE_KEY" {
			t.Errorf("tags: %v", listed)
		}
		if tags := s.Root.Query(t, "list_user_tags", nil).Get("userTags").List(); len(tags) != 0 {
			t.Errorf("a key's tag is listed among users': %v", tags)
		}
		userTag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "cold", "userIds": []any{}}).Get("result", "createUserTagResult", "userTagId").Text()
		wrong := key("five", "CURVE_SECP256K1")
		wrong["privateKeyTags"] = []any{userTag}
		for name, c := range map[string]struct {
			operation string
			status    int
			params    m
		}{
			"taken name":             {"create_private_keys", 409, m{"privateKeys": []any{key("one", "CURVE_P256")}}},
			"tag of users":           {"create_private_keys", 404, m{"privateKeys": []any{wrong}}},
			"format of another":      {"create_private_keys", 400, m{"privateKeys": []any{key("five", "CURVE_P256", "ADDRESS_FORMAT_SOLANA")}}},
			"all or nothing":         {"create_private_keys", 409, m{"privateKeys": []any{key("five", "CURVE_P256"), key("five", "CURVE_P256")}}},
			"not exported":           {"delete_private_keys", 400, m{"privateKeyIds": []any{id(0)}}},
			"delete of a user's tag": {"delete_private_key_tags", 404, m{"privateKeyTagIds": []any{userTag}}},
			"unknown key to tag":     {"create_private_key_tag", 404, m{"privateKeyTagName": "x", "privateKeyIds": []any{tag}}},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		deleted := s.Root.Submit(t, "delete_private_key_tags", m{"privateKeyTagIds": []any{tag}}).Get("result", "deletePrivateKeyTagsResult", "privateKeyIds").List()
		if len(deleted) != 3 {
			t.Errorf("the tag was on %v", deleted)
		}
		s.Root.Submit(t, "delete_private_keys", m{"privateKeyIds": []any{id(0), id(1), id(2), older}, "deleteWithoutExport": true})
		if names := sealedNames(t, s); len(names) != 0 {
			t.Errorf("secrets of deleted keys are left: %v", names)
		}
		s.Root.Refused(t, 404, "sign_raw_payload", rawPayload(id(0), "00", "HEXADECIMAL", "SHA256"))
	})
}
