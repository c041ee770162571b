package ops_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

const secretSuite = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1"

// secretOf is a secret of this content, to be sealed, and what is said of it.
func secretOf(content string, said ...m) m {
	secret := m{"content": content}
	for _, more := range said {
		maps.Copy(secret, more)
	}
	return secret
}

// secretTargets gets keys to seal secrets to.
func secretTargets(t testing.TB, c *Caller, n int) []string {
	t.Helper()
	messages := c.Submit(t, "init_import_secrets", m{"encryptionSuite": secretSuite, "numSecrets": n}).
		Get("result", "initImportSecretsResult", "enclaveTargetMessages").List()
	targets := make([]string, len(messages))
	for i, message := range messages {
		targets[i] = message.Text()
	}
	return targets
}

// importOf is an import of a secret that is sealed to a target; to another key, if
// one is named.
func importOf(t testing.TB, s *Server, c *Caller, secret m, named ...string) m {
	t.Helper()
	target := secretTargets(t, c, 1)[0]
	p := m{
		"encryptionSuite": secretSuite, "targetPublicKey": openTarget(t, s, target),
		"secretPayload": s.Seal(t, c, target, []byte(secret["content"].(string))),
	}
	for k, v := range secret {
		if k != "content" {
			p[k] = v
		}
	}
	if len(named) > 0 {
		p["targetPublicKey"] = named[0]
	}
	return p
}

func importSecrets(t testing.TB, s *Server, c *Caller, secrets ...m) []string {
	t.Helper()
	all := make([]any, len(secrets))
	for i, secret := range secrets {
		all[i] = importOf(t, s, c, secret)
	}
	var ids []string
	for _, id := range c.Submit(t, "import_secrets", m{"secrets": all}).Get("result", "importSecretsResult", "secretIds").List() {
		ids = append(ids, id.Text())
	}
	return ids
}

func exportSecrets(r *Recipient, ids ...string) m {
	var all []any
	for _, id := range ids {
		all = append(all, m{"secretId": id, "targetPublicKey": r.PublicKey(), "encryptionSuite": secretSuite})
	}
	return m{"secrets": all}
}

func properties(pairs ...string) []any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, m{"key": pairs[i], "value": pairs[i+1]})
	}
	return all
}

// TestSecrets moves secrets in and out, lists and deletes them.
func TestSecrets(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		long := strings.Repeat("x", 64<<10)
		ids := importSecrets(t, s, s.Root, secretOf("4242", m{"name": "card", "staticProperties": properties("kind", "card", "note", "")}),
			secretOf("\x00\xff any bytes"), secretOf(long, m{"name": "card"}))
		recipient := NewRecipient(t)
		payloads := s.Root.Submit(t, "export_secrets", exportSecrets(recipient, ids[2], ids[0], ids[1])).Get("result", "exportSecretsResult", "secretPayloads").List()
		for i, want := range []string{long, "4242", "\x00\xff any bytes"} {
			if got := recipient.Open(t, s, s.Root, payloads[i].Text()); string(got) != want {
				t.Errorf("secret %d: %.40q, want %.40q", i, got, want)
			}
		}
		listsSecrets(t, s, ids)

		s.Root.Submit(t, "delete_secrets", m{"secretIds": []any{ids[1]}})
		s.Root.Refused(t, http.StatusNotFound, "delete_secrets", m{"secretIds": []any{ids[0], ids[1]}})
		s.Root.Refused(t, http.StatusNotFound, "export_secrets", exportSecrets(recipient, ids[0], ids[1]))
		if got := s.Root.Query(t, "list_secrets", m{}).Get("secrets").List(); len(got) != 2 {
			t.Errorf("left: %v", got)
		}
		s.Root.Submit(t, "export_secrets", exportSecrets(recipient, ids[0])) // is still there
		other := s.CreateOrganization(t, "Other organization")
		other.Refused(t, http.StatusNotFound, "export_secrets", exportSecrets(recipient, ids[0]))
		other.Refused(t, http.StatusNotFound, "delete_secrets", m{"secretIds": []any{ids[0]}})
	})
}

func listsSecrets(t *testing.T, s *Server, ids []string) {
	t.Helper()
	page := func(options m) (got []string) {
		for _, e := range s.Root.Query(t, "list_secrets", m{"paginationOptions": options}).Get("secrets").List() {
			got = append(got, e.Get("secretId").Text())
		}
		return got
	}
	for _, tt := range []struct {
		options m
		want    []int
	}{
		{m{}, []int{2, 1, 0}},
		{m{"limit": "2"}, []int{2, 1}},
		{m{"limit": "2", "after": ids[1]}, []int{0}},
		{m{"after": ids[0]}, nil},
		{m{"limit": "1", "before": ids[0]}, []int{1}},
		{m{"before": ids[1]}, []int{2}},
		{m{"after": ids[2], "before": ids[0]}, []int{1}},
	} {
		var want []string
		for _, i := range tt.want {
			want = append(want, ids[i])
		}
		if got := page(tt.options); !slices.Equal(got, want) {
			t.Errorf("page %v: %v, want %v", tt.options, got, want)
		}
	}
	first := s.Root.Query(t, "list_secrets", m{}).Get("secrets", 2)
	if got := fmt.Sprint(first.Get("staticProperties")); first.Get("name").Text() != "card" || len(first.Get("createdAtUnixMs").Text()) != 13 ||
		got != fmt.Sprint([]any{map[string]any{"key": "kind", "value": "card"}, map[string]any{"key": "note", "value": ""}}) {
		t.Errorf("secret: %v", first)
	}
	if second := s.Root.Query(t, "list_secrets", m{}).Get("secrets", 1); second.Has("name") || len(second.Get("staticProperties").List()) != 0 {
		t.Errorf("a secret without a name: %v", second)
	}
}

// TestSecretsRefused refuses what cannot be imported, and keeps nothing of it.
func TestSecretsRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		mallory := s.NewUser(t, s.Root, "Mallory", client.P256)
		s.Root.Submit(t, "create_policy", m{
			"policyName": "imports", "effect": "EFFECT_ALLOW", "notes": "", "consensus": "approvers.any(user, user.id == '" + mallory.UserID + "')",
			"condition": "activity.resource == 'SECRET' && activity.action == 'IMPORT'",
		})
		good := importOf(t, s, s.Root, secretOf("good"))
		used := importOf(t, s, s.Root, secretOf("used"))
		s.Root.Submit(t, "import_secrets", m{"secrets": []any{used}})
		swapped := importOf(t, s, s.Root, secretOf("swapped"))
		swapped["secretPayload"] = importOf(t, s, s.Root, secretOf("other"))["secretPayload"]
		tooLong := importOf(t, s, s.Root, secretOf(strings.Repeat("x", 64<<10+1)))
		twice := importOf(t, s, s.Root, secretOf("twice"))
		malformed := importOf(t, s, s.Root, secretOf("malformed"))
		malformed["secretPayload"] = "4242"
		for _, tt := range []struct {
			name    string
			secrets []any
			want    string
		}{
			{"a key that was used", []any{good, used}, "secrets.1: targetPublicKey is no key of the caller's"},
			{"a key of another user", []any{good, importOf(t, s, mallory, secretOf("hers"))}, "secrets.1: targetPublicKey is no key of the caller's"},
			{"sealed to another key", []any{good, swapped}, "secrets.1: secretPayload does not open"},
			{"too long", []any{tooLong}, "secrets.0: secretPayload holds 65537 bytes, and may hold at most 65536"},
			{"one key twice", []any{twice, twice}, "secrets.1.targetPublicKey"},
			{"no bundle", []any{malformed}, "secrets.0: secretPayload is not a JSON object"},
			{"a property twice", []any{importOf(t, s, s.Root, secretOf("x", m{"staticProperties": properties("kind", "a", "kind", "b")}))}, "secrets.0.staticProperties.1.key"},
			{"another suite", []any{m{"secretPayload": "x", "targetPublicKey": "04", "encryptionSuite": "OTHER"}}, "encryptionSuite"},
			{"none", []any{}, "secrets"},
		} {
			refusal := s.Root.Refused(t, http.StatusBadRequest, "import_secrets", m{"secrets": tt.secrets})
			if !strings.Contains(refusal.String(), tt.want) {
				t.Errorf("%s: %v does not say %q", tt.name, refusal, tt.want)
			}
		}
		if got := s.Root.Query(t, "list_secrets", m{}).Get("secrets").List(); len(got) != 1 {
			t.Errorf("after refusals there are %d secrets, want 1", len(got))
		}
		id := s.Root.Submit(t, "import_secrets", m{"secrets": []any{good}}).Get("result", "importSecretsResult", "secretIds", 0).Text() // its key was not used up
		for _, n := range []any{0, 101} {
			s.Root.Refused(t, http.StatusBadRequest, "init_import_secrets", m{"encryptionSuite": secretSuite, "numSecrets": n})
		}
		s.Root.Refused(t, http.StatusBadRequest, "export_secrets", exportSecrets(NewRecipient(t), id, id))
		bad := exportSecrets(NewRecipient(t), id)
		bad["secrets"].([]any)[0].(m)["targetPublicKey"] = "04" + strings.Repeat("00", 64)
		s.Root.Refused(t, http.StatusBadRequest, "export_secrets", bad)

		// The keys that were not used are at most 100 of a user: older ones make room.
		old := importOf(t, s, s.Root, secretOf("old"))
		if n := len(secretTargets(t, s.Root, 100)); n != 100 {
			t.Errorf("%d keys", n)
		}
		s.Root.Refused(t, http.StatusBadRequest, "import_secrets", m{"secrets": []any{old}})
	})
}

// TestSecretPolicies judges each secret of a request; the strictest verdict counts
// for all.
func TestSecretPolicies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		agent, boss := s.NewUser(t, s.Root, "Agent", client.P256), s.NewUser(t, s.Root, "Boss", client.P256)
		ids := importSecrets(t, s, s.Root, secretOf("card", m{"staticProperties": properties("kind", "card")}), secretOf("login", m{"staticProperties": properties("kind", "login")}),
			secretOf("code", m{"staticProperties": properties("kind", "code")}), secretOf("plain"))
		card, login, code, plain := ids[0], ids[1], ids[2], ids[3]
		policy := func(name, effect, consensus, kind string) {
			s.Root.Submit(t, "create_policy", m{
				"policyName": name, "effect": effect, "consensus": consensus, "notes": "",
				"condition": "activity.type == 'ACTIVITY_TYPE_EXPORT_SECRETS' && secret.static_properties['kind'] == '" + kind + "'",
			})
		}
		byAgent := "approvers.any(user, user.id == '" + agent.UserID + "')"
		policy("cards", "EFFECT_ALLOW", byAgent, "card")
		policy("codes", "EFFECT_ALLOW", byAgent, "code")
		policy("no codes", "EFFECT_DENY", "approvers.any(user, user.id == '"+agent.UserID+"')", "code")
		policy("logins", "EFFECT_ALLOW", byAgent+" && approvers.any(user, user.id == '"+boss.UserID+"')", "login")
		recipient := NewRecipient(t)
		for _, tt := range []struct {
			name string
			ids  []string
		}{
			{"no policy speaks of it", []string{plain}},
			{"one of two", []string{card, plain}},
			{"in the other order", []string{plain, card}},
			{"denied", []string{card, code}},
			{"denied, though the other would wait", []string{login, code}},
			{"silent, though the other would wait", []string{login, plain}},
		} {
			agent.Refused(t, http.StatusForbidden, "export_secrets", exportSecrets(recipient, tt.ids...))
		}
		payload := agent.Submit(t, "export_secrets", exportSecrets(recipient, card)).Get("result", "exportSecretsResult", "secretPayloads", 0).Text()
		if got := recipient.Open(t, s, agent, payload); string(got) != "card" {
			t.Errorf("card: %q", got)
		}

		body := agent.Body(t, "export_secrets", exportSecrets(recipient, card, login))
		waiting := agent.MustPost(t, "export_secrets", body).Get("activity")
		if waiting.Get("status").Text() != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
			t.Fatalf("activity: %v", waiting)
		}
		boss.Submit(t, "approve_activity", m{"fingerprint": waiting.Get("fingerprint").Text()})
		read := func(c *Caller) []byte {
			return c.Post(t, "get_activity", c.Body(t, "get_activity", m{"activityId": waiting.Get("id").Text()})).Body
		}
		if got := agent.Query(t, "get_activity", m{"activityId": waiting.Get("id").Text()}).Get("activity", "result", "exportSecretsResult", "secretPayloads").List(); len(got) != 2 ||
			string(recipient.Open(t, s, agent, got[1].Text())) != "login" {
			t.Errorf("payloads: %v", got)
		}
		// Those who approve are not shown what the submitter gets.
		if text := read(boss); bytes.Contains(text, []byte("dataSignature")) || !bytes.Contains(text, []byte("secretPayloads")) {
			t.Errorf("the boss reads %s", text)
		}
		agent.Refused(t, http.StatusForbidden, "delete_secrets", m{"secretIds": []any{card}})
		agent.Refused(t, http.StatusForbidden, "init_import_secrets", m{"encryptionSuite": secretSuite, "numSecrets": 1})
	})
}

// TestDeleteOrganizationWithSecrets leaves nothing of them.
func TestDeleteOrganizationWithSecrets(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child")
		importSecrets(t, s, child, secretOf("gone"))
		secretTargets(t, child, 1)
		child.Refused(t, http.StatusBadRequest, "delete_sub_organization", m{"deleteWithoutExport": false})
		child.Submit(t, "delete_sub_organization", m{"deleteWithoutExport": true})
		err := s.Store.View(t.Context(), child.OrganizationID, func(tx *store.Tx) error {
			secrets, err := tx.Secrets().List("", 0)
			if err != nil {
				return err
			}
			names, err := tx.Ciphertexts().Names()
			if len(secrets) > 0 || !slices.Equal(names, []string{"data-key"}) {
				t.Errorf("left: %v, sealed: %v", secrets, names)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
