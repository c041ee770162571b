package engine_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

func explain(t *testing.T, s *Server, c *Caller, kind string, parameters m, more m) Value {
	t.Helper()
	reply := postExplain(t, s, c, kind, parameters, more)
	if reply.Status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
	}
	return reply.JSON(t)
}

func postExplain(t *testing.T, s *Server, c *Caller, kind string, parameters m, more m) Reply {
	t.Helper()
	body := m{"type": kind, "organizationId": c.OrganizationID, "parameters": parameters, "timestampMs": strconv.FormatInt(time.Now().UnixMilli(), 10)}
	for name, value := range more {
		body[name] = value
	}
	encoded := marshal(t, body)
	name, value, err := c.Stamper.Stamp(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return Send(t, http.MethodPost, s.URL+"/latchkey/v1/explain", http.Header{name: {value}}, encoded)
}

// TestExplain asks what would become of a request, and checks that this is what
// becomes of it.
func TestExplain(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		id := policy(t, s.Root, "two", "EFFECT_ALLOW",
			fmt.Sprintf("approvers.any(u, u.id == '%s') && approvers.any(u, u.id == '%s')", ada.UserID, bob.UserID), "activity.resource == 'WALLET'")
		const kind = "ACTIVITY_TYPE_CREATE_WALLET"
		wallet := m{"walletName": "Ours", "accounts": []any{}}

		waiting := explain(t, s, ada, kind, wallet, nil)
		if waiting.Get("outcome").Text() != "PENDING" || waiting.Get("policies", 0, "policyId").Text() != id ||
			waiting.Get("policies", 0, "outcome").Text() != "OUTCOME_REQUIRES_CONSENSUS" {
			t.Errorf("as Ada: %v", waiting)
		}
		var can []string
		for _, u := range waiting.Get("canApprove").List() {
			can = append(can, u.Get("userName").Text())
		}
		if fmt.Sprint(can) != "[Root user Bob]" {
			t.Errorf("can approve: %v", can)
		}
		condition := waiting.Get("policies", 0, "condition").List()
		if condition[0].Get("value").Text() != "true" || condition[1].Get("source").Text() != "activity.resource" || condition[1].Get("value").Text() != "'WALLET'" {
			t.Errorf("steps: %v", condition)
		}
		for name, c := range map[string]struct {
			caller *Caller
			more   m
			want   string
		}{
			"as Eve":              {eve, nil, "DENY"},
			"as root":             {s.Root, nil, "ALLOW"},
			"with both":           {eve, m{"approvers": []any{ada.UserID, bob.UserID}}, "ALLOW"},
			"with no policies":    {ada, m{"policies": []any{}}, "DENY"},
			"with another policy": {eve, m{"policies": []any{m{"policyName": "x", "effect": "EFFECT_ALLOW", "condition": "true"}}}, "ALLOW"},
			"at another time": {eve, m{"time": "2031-01-01T00:00:00Z", "policies": []any{
				m{"policyName": "x", "effect": "EFFECT_ALLOW", "condition": "true", "time": "time.now > Timestamp('2030-01-01T00:00:00Z')"},
			}}, "ALLOW"},
		} {
			if got := explain(t, s, c.caller, kind, wallet, c.more).Get("outcome").Text(); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
		// Nothing was executed, and what was said holds.
		if n := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 0 {
			t.Errorf("%d wallets", n)
		}
		if n := len(s.Root.Query(t, "list_activities", m{"filterByType": []any{kind}}).Get("activities").List()); n != 0 {
			t.Errorf("%d activities", n)
		}
		eve.Refused(t, http.StatusForbidden, "create_wallet", wallet)
		wantStatus(t, ada.Submit(t, "create_wallet", wallet), waits)

		for name, c := range map[string]struct {
			kind string
			more m
			part string
		}{
			"an unknown type":     {"ACTIVITY_TYPE_NOTHING", nil, "type"},
			"a vote":              {"ACTIVITY_TYPE_APPROVE_ACTIVITY", nil, "explain the activity that it approves"},
			"an unknown approver": {kind, m{"approvers": []any{s.Root.OrganizationID}}, "user"},
			"no approvers":        {kind, m{"approvers": []any{}}, "approvers"},
			"a bad time":          {kind, m{"time": "tomorrow"}, "time"},
			"a policy that errs":  {kind, m{"policies": []any{m{"policyName": "x", "effect": "EFFECT_ALLOW", "condition": "nonsense"}}}, "policies.0"},
			"an unknown member":   {kind, m{"approver": "x"}, "approver"},
		} {
			reply := postExplain(t, s, ada, c.kind, wallet, c.more)
			if reply.Status < 400 || reply.Status >= 500 || !strings.Contains(string(reply.Body), c.part) {
				t.Errorf("%s: HTTP %d: %s", name, reply.Status, reply.Body)
			}
		}
		recovering := s.Stranger(t, ada)
		err := s.Store.Update(t.Context(), ada.OrganizationID, func(tx *store.Tx) error {
			return tx.Users().Edit(ada.UserID, func(u *domain.User) error {
				u.APIKeys = append(u.APIKeys, domain.APIKey{ID: ids.New(), PublicKey: recovering.Key.PublicKey(), Type: domain.CredentialRecovery})
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if reply := postExplain(t, s, recovering, kind, wallet, nil); reply.Status != http.StatusForbidden {
			t.Errorf("a recovery key: HTTP %d: %s", reply.Status, reply.Body)
		}
		if reply := postExplain(t, s, s.Stranger(t, ada), kind, wallet, nil); reply.Status != http.StatusUnauthorized {
			t.Errorf("a stranger: HTTP %d: %s", reply.Status, reply.Body)
		}
		if reply := postExplain(t, s, ada, kind, m{"walletName": 5}, nil); reply.Status != http.StatusBadRequest {
			t.Errorf("bad parameters: HTTP %d: %s", reply.Status, reply.Body)
		}
	})
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// expensive is a condition on which an evaluation spends more than half of what
// one expression may take. It is true.
func expensive() string {
	list := "['" + strings.Join(strings.Split("abcdefghijklmnopqrst", ""), "', '") + "']"
	return fmt.Sprintf("%[1]s.any(a, %[1]s.any(b, %[1]s.any(c, %[1]s.any(d, a == b && c == d))))", list)
}

// TestExplainIsBounded asks for more than one request may take: by policies, by
// what is shown of them, by approvers.
func TestExplainIsBounded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		wallet := m{"walletName": "Ours", "accounts": []any{}}
		suppose := func(n int, member, source string) m {
			var all []any
			for i := range n {
				all = append(all, m{"policyName": fmt.Sprint("supposed ", i), "effect": "EFFECT_ALLOW", member: source})
			}
			return m{"policies": all}
		}
		const kind = "ACTIVITY_TYPE_CREATE_WALLET"
		if got := explain(t, s, ada, kind, wallet, suppose(100, "condition", "activity.resource == 'WALLET'")).Get("outcome").Text(); got != "ALLOW" {
			t.Errorf("cheap policies: %s", got)
		}
		list := "[" + strings.Repeat("'x', ", 19) + "'x']"
		for name, more := range map[string]m{
			"policies":     suppose(100, "condition", expensive()), // 44 kB
			"long parts":   suppose(20, "condition", list+".any(a, "+list+".any(b, a == b && '"+strings.Repeat("y", 15000)+"' == a))"),
			"who can vote": suppose(100, "consensus", "approvers.any(u, "+expensive()+" && u.id == 'x')"),
		} {
			reply := postExplain(t, s, ada, kind, wallet, more)
			CheckError(t, reply, http.StatusBadRequest)
			if !strings.Contains(string(reply.Body), "too much work") {
				t.Errorf("%s: %s", name, reply.Body)
			}
		}
	})
}

// TestDecisionIsBounded stores policies that take more together than a request
// may: they err, so that they allow nothing, and one that denies, denies.
func TestDecisionIsBounded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		wallet := func(name string) m { return m{"walletName": name, "accounts": []any{}} }
		for i := range 3 {
			policy(t, s.Root, fmt.Sprint("expensive ", i), "EFFECT_ALLOW", "", expensive())
		}
		ada.Submit(t, "create_wallet", wallet("first"))
		for i := range 9 {
			policy(t, s.Root, fmt.Sprint("more expensive ", i), "EFFECT_ALLOW", "", expensive()+" && true")
		}
		ada.Refused(t, http.StatusForbidden, "create_wallet", wallet("second"))
		failed := s.Root.Query(t, "list_activities", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}}).Get("activities", 0, "id").Text()
		evaluations := s.Root.Query(t, "get_policy_evaluations", m{"activityId": failed}).Get("policyEvaluations", 0, "policyEvaluations").List()
		if len(evaluations) != 12 {
			t.Errorf("%d evaluations", len(evaluations))
		}
		for _, e := range evaluations {
			if e.Get("outcome").Text() != "OUTCOME_ERROR" || !strings.Contains(e.Get("reason").Text(), "takes too long") {
				t.Errorf("evaluation: %v", e)
			}
		}
		s.Root.Submit(t, "create_wallet", wallet("third")) // policies do not bind the root quorum
	})
}
