package engine_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// rule is a policy that is only supposed.
func rule(name, effect, consensus, condition string) m {
	return m{"policyName": name, "effect": effect, "consensus": consensus, "condition": condition}
}

// backtested is what all pages of a back-test say together.
type backtested struct {
	examined, skipped, pages int
	outcomes                 map[string]string // by activity: before>after
	different                []Value
}

// backtest asks for page after page.
func backtest(t testing.TB, c *Caller, limit int, more m, policies ...m) backtested {
	t.Helper()
	all := backtested{outcomes: map[string]string{}}
	eachDifference(t, c, limit, more, policies, &all, func(d Value) {
		all.outcomes[d.Get("activityId").Text()] = d.Get("before").Text() + ">" + d.Get("after").Text()
		all.different = append(all.different, d)
	})
	return all
}

// eachDifference asks for page after page, counts, and hands over each difference.
func eachDifference(t testing.TB, c *Caller, limit int, more m, policies []m, all *backtested, keep func(Value)) {
	t.Helper()
	after := ""
	for {
		body := m{"organizationId": c.OrganizationID, "policies": policies, "paginationOptions": m{"limit": strconv.Itoa(limit)}}
		if policies == nil {
			body["policies"] = []any{}
		}
		if after != "" {
			body["paginationOptions"] = m{"limit": strconv.Itoa(limit), "after": after}
		}
		for name, value := range more {
			body[name] = value
		}
		answer := c.PostTo(t, "/latchkey/v1/backtest", body)
		if answer.Status != http.StatusOK {
			t.Fatalf("HTTP %d: %s", answer.Status, answer.Body)
		}
		page := answer.JSON(t)
		all.pages++
		all.examined += int(page.Get("examined").Number())
		all.skipped += int(page.Get("skipped").Number())
		for _, d := range page.Get("different").List() {
			keep(d)
		}
		if page.Get("pageInfo", "hasNextPage").Any != true {
			return
		}
		if next := page.Get("pageInfo", "endCursor").Text(); next == after {
			t.Fatalf("the page after %s ends with %s", after, next)
		} else {
			after = next
		}
	}
}

// TestBacktest: recorded activities are decided again, by the policies of the
// organization and by others, and those on which the two differ are told.
func TestBacktest(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		byAda := fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)
		both := fmt.Sprintf("%s && approvers.any(u, u.id == '%s')", byAda, bob.UserID)
		policy(t, s.Root, "wallets", "EFFECT_ALLOW", byAda, "activity.resource == 'WALLET'")
		policy(t, s.Root, "tags", "EFFECT_ALLOW", both, "activity.kind == 'CREATE_USER_TAG'")
		own := []m{rule("wallets", "EFFECT_ALLOW", byAda, "activity.resource == 'WALLET'"), rule("tags", "EFFECT_ALLOW", both, "activity.kind == 'CREATE_USER_TAG'")}

		wallet := ada.Submit(t, "create_wallet", m{"walletName": "One", "accounts": []any{}})
		eve.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "Two", "accounts": []any{}})
		waiting := ada.Submit(t, "create_user_tag", tag("waiting"))
		wantStatus(t, waiting, waits)
		done := ada.Submit(t, "create_user_tag", tag("done"))
		wantStatus(t, bob.Submit(t, "approve_activity", fingerprint(done)), completed)
		recorded := len(s.Root.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).Get("activities").List())

		same := backtest(t, eve, 100, nil, own...)
		if same.examined != recorded || same.skipped != 0 || len(same.outcomes) != 0 || same.pages != 1 {
			t.Errorf("with the same policies: %+v, of %d activities", same, recorded)
		}
		id := func(a Value) string { return a.Get("id").Text() }
		refused := s.Root.Query(t, "list_activities", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}}).Get("activities", 0)
		none := backtest(t, eve, 100, nil)
		if fmt.Sprint(none.outcomes) != fmt.Sprint(map[string]string{id(wallet): "ALLOW>DENY", id(waiting): "PENDING>DENY", id(done): "ALLOW>DENY"}) {
			t.Errorf("without policies: %v", none.outcomes)
		}
		if d := none.different[0]; d.Get("type").Text() != "ACTIVITY_TYPE_CREATE_WALLET" || d.Get("status").Text() != completed ||
			d.Get("explanation", "before", "policies", 0, "outcome").Text() != "OUTCOME_ALLOW" || len(d.Get("explanation", "after", "policies").List()) != 0 {
			t.Errorf("the first difference: %v", d)
		}
		wider := backtest(t, eve, 100, nil, append(own, rule("all", "EFFECT_ALLOW", "", "activity.resource in ['WALLET', 'USER']"))...)
		if fmt.Sprint(wider.outcomes) != fmt.Sprint(map[string]string{id(refused): "DENY>ALLOW", id(waiting): "PENDING>ALLOW"}) {
			t.Errorf("with a wider policy: %v", wider.outcomes)
		}
		narrow := backtest(t, eve, 100, nil, append(own, rule("no", "EFFECT_DENY", "", "activity.kind == 'CREATE_USER_TAG'"))...)
		if fmt.Sprint(narrow.outcomes) != fmt.Sprint(map[string]string{id(waiting): "PENDING>DENY", id(done): "ALLOW>DENY"}) {
			t.Errorf("with a DENY: %v", narrow.outcomes)
		}
		pages := backtest(t, eve, 1, nil)
		if pages.pages < 3 || pages.examined != recorded || fmt.Sprint(pages.outcomes) != fmt.Sprint(none.outcomes) {
			t.Errorf("page by page: %+v", pages)
		}
		if later := backtest(t, eve, 100, m{"sinceMs": strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10)}); later.examined != 0 || later.pages != 1 {
			t.Errorf("since later: %+v", later)
		}
		if all := backtest(t, eve, 100, m{"sinceMs": strconv.FormatInt(time.Now().Add(-time.Hour).UnixMilli(), 10)}); all.examined != recorded {
			t.Errorf("since an hour ago: %+v", all)
		}
		// Nothing was recorded by all that.
		if n := len(s.Root.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).Get("activities").List()); n != recorded {
			t.Errorf("%d activities, before there were %d", n, recorded)
		}
		// An approval of the past counts without its key, but not without its user.
		replaceKey(t, s, bob)
		if again := backtest(t, eve, 100, nil); again.outcomes[id(done)] != "ALLOW>DENY" {
			t.Errorf("without Bob's key: %v", again.outcomes)
		}
		s.Root.Submit(t, "delete_users", m{"userIds": []any{ada.UserID}})
		if gone := backtest(t, eve, 100, nil); gone.skipped != 3 || len(gone.outcomes) != 0 {
			t.Errorf("without Ada: %+v", gone)
		}
	})
}

// replaceKey gives a user another key in the place of the first.
func replaceKey(t *testing.T, s *Server, c *Caller) {
	t.Helper()
	old := s.Root.Query(t, "get_user", m{"userId": c.UserID}).Get("user", "apiKeys", 0, "apiKeyId").Text()
	s.Root.Submit(t, "create_api_keys", m{"userId": c.UserID, "apiKeys": []any{
		m{"apiKeyName": "new", "publicKey": s.Stranger(t, c).Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"},
	}})
	s.Root.Submit(t, "delete_api_keys", m{"userId": c.UserID, "apiKeyIds": []any{old}})
}

// TestBacktestRefusals: what is not valid is refused, and so is every caller who
// may not read the organization.
func TestBacktestRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		for name, c := range map[string]struct {
			caller *Caller
			body   m
			status int
			part   string
		}{
			"no policies":     {s.Root, m{"policies": nil}, 400, "policies"},
			"a bad policy":    {s.Root, m{"policies": []any{rule("x", "EFFECT_ALLOW", "", "nonsense")}}, 400, "policies.0"},
			"a time in words": {s.Root, m{"sinceMs": "yesterday"}, 400, "sinceMs"},
			"a negative time": {s.Root, m{"sinceMs": "-1"}, 400, "sinceMs"},
			"a bad cursor":    {s.Root, m{"paginationOptions": m{"after": "x"}}, 400, "paginationOptions.after"},
			"a large page":    {s.Root, m{"paginationOptions": m{"limit": "101"}}, 400, "paginationOptions.limit"},
			"a broken cursor": {s.Root, m{"paginationOptions": m{"after": s.Root.OrganizationID + ".AAAA"}}, 400, "paginationOptions.after"},
			"a bad control":   {s.Root, m{"velocityControls": []any{aFewWallets("no-name", "1", m{"infinite": m{}}, m{"user": m{}})}}, 400, "velocityControls.0.identifier"},
			"unknown member":  {s.Root, m{"since": "1"}, 400, "since"},
			"a stranger":      {s.Stranger(t, s.Root), nil, 401, ""},
		} {
			body := m{"organizationId": s.Root.OrganizationID, "policies": []any{}}
			for name, value := range c.body {
				if body[name] = value; value == nil {
					delete(body, name)
				}
			}
			if reply := c.caller.PostTo(t, "/latchkey/v1/backtest", body); reply.Status != c.status || !strings.Contains(string(reply.Body), c.part) {
				t.Errorf("%s: HTTP %d: %s", name, reply.Status, reply.Body)
			}
		}
	})
}

// TestBacktestBudget: a page ends where its work does, and the next one goes on.
func TestBacktestBudget(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		policy(t, s.Root, "wallets", "EFFECT_ALLOW", "", "activity.resource == 'WALLET'")
		const wallets = 12
		for i := range wallets {
			ada.Submit(t, "create_wallet", m{"walletName": strconv.Itoa(i), "accounts": []any{}})
		}
		// Each takes an eighth of the budget: with the explanation, a few a page.
		got := backtest(t, ada, 100, nil, rule("dear", "EFFECT_DENY", "", expensive()))
		if got.pages < 3 || len(got.outcomes) != wallets || got.skipped != 0 {
			t.Errorf("%d pages, %d differences, %d skipped", got.pages, len(got.outcomes), got.skipped)
		}
		// What more than a budget is needed for is told, and does not stop the rest.
		var dear []m
		for i := range 9 {
			dear = append(dear, rule(strconv.Itoa(i), "EFFECT_DENY", "", expensive()))
		}
		if got := backtest(t, ada, 100, nil, dear...); got.skipped != wallets || len(got.outcomes) != 0 {
			t.Errorf("%d skipped, %d differences", got.skipped, len(got.outcomes))
		}
	})
}

// aFewWallets is a control that lets some wallets pass.
func aFewWallets(identifier, threshold string, window, groupBy m) m {
	return m{
		"name": identifier, "identifier": identifier,
		"dataSource": m{"activityExecution": m{"filter": m{"activity": []any{m{"activityType": "ACTIVITY_TYPE_CREATE_WALLET"}}}}},
		"aggregation": m{
			"method": "VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT", "operator": "VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL",
			"threshold": threshold, "window": window, "groupBy": groupBy,
		},
	}
}

// TestBacktestControls: velocity controls have the sums that they would have had,
// by each set of policies, page after page.
func TestBacktestControls(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		infinite, day, user, all := m{"infinite": m{}}, m{"rolling": m{"duration": "86400"}}, m{"user": m{}}, m{"organization": m{}}
		s.Root.Submit(t, "create_velocity_control", aFewWallets("three", "3", day, user))
		const limited = "activity.kind == 'CREATE_WALLET' && controls."
		policy(t, s.Root, "three", "EFFECT_ALLOW", "", limited+"three")
		var wallets []string // ids of activities: Ada's and Bob's in turns
		create := func(c *Caller) {
			wallets = append(wallets, c.Submit(t, "create_wallet", m{"walletName": fmt.Sprint(len(wallets)), "accounts": []any{}}).Get("id").Text())
		}
		for range 3 {
			create(ada)
			create(bob)
		}
		ada.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "too many", "accounts": []any{}})
		refused := s.Root.Query(t, "list_activities", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}}).Get("activities", 0, "id").Text()

		for name, c := range map[string]struct {
			condition string
			controls  []any
			want      map[string]string
		}{
			"the same":                      {"three", nil, map[string]string{}},
			"the same, given":               {"three", []any{aFewWallets("three", "3", day, user)}, map[string]string{}},
			"one for each user":             {"one", []any{aFewWallets("one", "1", infinite, user)}, map[string]string{wallets[2]: "ALLOW>DENY", wallets[3]: "ALLOW>DENY", wallets[4]: "ALLOW>DENY", wallets[5]: "ALLOW>DENY"}},
			"one in the place of the other": {"three", []any{aFewWallets("three", "2", day, user)}, map[string]string{wallets[4]: "ALLOW>DENY", wallets[5]: "ALLOW>DENY"}},
			"five for all":                  {"five", []any{aFewWallets("five", "5", day, all)}, map[string]string{wallets[5]: "ALLOW>DENY"}},
			"nine for all":                  {"nine", []any{aFewWallets("nine", "9", m{"calendar": m{"unit": "MONTH", "timezone": "UTC"}}, all)}, map[string]string{refused: "DENY>ALLOW"}},
		} {
			for _, limit := range []int{100, 1} {
				more := m{}
				if c.controls != nil {
					more["velocityControls"] = c.controls
				}
				got := backtest(t, ada, limit, more, rule("p", "EFFECT_ALLOW", "", limited+c.condition))
				if fmt.Sprint(got.outcomes) != fmt.Sprint(c.want) || got.skipped != 0 {
					t.Errorf("%s, %d a page: %v, %d skipped; want %v", name, limit, got.outcomes, got.skipped, c.want)
				}
			}
		}
		// What is refused under the proposal counts nothing there: with a DENY of
		// Ada's wallets Bob's are alone.
		byAda := fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)
		alone := backtest(t, ada, 1, m{"velocityControls": []any{aFewWallets("few", "2", infinite, all)}},
			rule("p", "EFFECT_ALLOW", "", limited+"few"), rule("no", "EFFECT_DENY", byAda, "activity.kind == 'CREATE_WALLET'"))
		want := map[string]string{wallets[0]: "ALLOW>DENY", wallets[2]: "ALLOW>DENY", wallets[4]: "ALLOW>DENY", wallets[5]: "ALLOW>DENY"}
		if fmt.Sprint(alone.outcomes) != fmt.Sprint(want) {
			t.Errorf("without Ada: %v, want %v", alone.outcomes, want)
		}
		last := alone.different[len(alone.different)-1].Get("explanation", "after", "controls", 0)
		if last.Get("used").Text() != "2" || last.Get("after").Text() != "3" || last.Get("holds").Any == true {
			t.Errorf("the explanation says %v", last)
		}
	})
}

// TestBacktestOrder: an activity that waited counts when it had its last approval,
// after those that were submitted later and done at once.
func TestBacktestOrder(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		byAda := fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)
		both := fmt.Sprintf("%s && approvers.any(u, u.id == '%s')", byAda, bob.UserID)
		const tags, wallets = "activity.kind == 'CREATE_USER_TAG'", "activity.kind == 'CREATE_WALLET'"
		policy(t, s.Root, "late", "EFFECT_ALLOW", both, tags)
		policy(t, s.Root, "early", "EFFECT_ALLOW", byAda, wallets)
		late := ada.Submit(t, "create_user_tag", tag("late"))
		wantStatus(t, late, waits)
		early := ada.Submit(t, "create_wallet", m{"walletName": "early", "accounts": []any{}})
		wantStatus(t, early, completed)
		one := aFewWallets("one", "1", m{"infinite": m{}}, m{"user": m{}})
		one["dataSource"] = m{"activityExecution": m{"filter": m{"activity": []any{m{"activityType": "ACTIVITY_TYPE_CREATE_WALLET"}, m{"activityType": "ACTIVITY_TYPE_CREATE_USER_TAG"}}}}}
		time.Sleep(2 * time.Millisecond) // so that the approval is later by the clock of activities
		wantStatus(t, bob.Submit(t, "approve_activity", fingerprint(late)), completed)
		for _, limit := range []int{100, 1} {
			got := backtest(t, ada, limit, m{"velocityControls": []any{one}},
				rule("late", "EFFECT_ALLOW", both, tags+" && controls.one"), rule("early", "EFFECT_ALLOW", byAda, wallets+" && controls.one"))
			// It had its votes, and would wait for a free window.
			if want := map[string]string{late.Get("id").Text(): "ALLOW>PENDING"}; fmt.Sprint(got.outcomes) != fmt.Sprint(want) {
				t.Errorf("%d a page: %v, want %v", limit, got.outcomes, want)
			}
		}
	})
}

// TestExplainRecorded: an activity that waits is explained with the votes that it
// has, as far as they count now.
func TestExplainRecorded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		cleo := s.NewUser(t, s.Root, "Cleo", client.P256)
		ids := fmt.Sprintf("['%s', '%s', '%s']", ada.UserID, bob.UserID, cleo.UserID)
		policy(t, s.Root, "three", "EFFECT_ALLOW", "approvers.filter(u, u.id in "+ids+").count() >= 3", "activity.resource == 'WALLET'")
		waiting := ada.Submit(t, "create_wallet", m{"walletName": "Ours", "accounts": []any{}})
		wantStatus(t, bob.Submit(t, "approve_activity", fingerprint(waiting)), waits)
		ask := func(body m) Reply {
			body["organizationId"] = s.Root.OrganizationID
			return cleo.PostTo(t, "/latchkey/v1/explain", body)
		}
		able := func() (names []string) {
			reply := ask(m{"activityId": waiting.Get("id").Text()})
			if reply.Status != http.StatusOK || reply.JSON(t).Get("outcome").Text() != "PENDING" {
				t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
			}
			for _, u := range reply.JSON(t).Get("canApprove").List() {
				names = append(names, u.Get("userName").Text())
			}
			return names
		}
		if got := fmt.Sprint(able()); got != "[Root user Cleo]" {
			t.Errorf("can approve: %s", got)
		}
		replaceKey(t, s, bob)
		if got := fmt.Sprint(able()); got != "[Root user Bob Cleo]" {
			t.Errorf("can approve without Bob's key: %s", got)
		}
		for name, c := range map[string]struct {
			body   m
			status int
			part   string
		}{
			"neither":       {m{}, 400, "is required, unless activityId"},
			"both":          {m{"activityId": waiting.Get("id").Text(), "type": "ACTIVITY_TYPE_CREATE_WALLET", "parameters": m{}}, 400, "leave it out"},
			"with voters":   {m{"activityId": waiting.Get("id").Text(), "approvers": []any{ada.UserID}}, 400, "leave them out"},
			"unknown":       {m{"activityId": ada.UserID}, 404, "no activity with id"},
			"not an id":     {m{"activityId": "x"}, 400, "activityId"},
			"other rules":   {m{"activityId": waiting.Get("id").Text(), "policies": []any{}}, 200, `"outcome":"DENY"`},
			"already ended": {m{"activityId": s.Root.Submit(t, "create_user_tag", tag("t")).Get("id").Text()}, 400, "already completed"},
		} {
			if reply := ask(c.body); reply.Status != c.status || !strings.Contains(string(reply.Body), c.part) {
				t.Errorf("%s: HTTP %d: %s", name, reply.Status, reply.Body)
			}
		}
	})
}
