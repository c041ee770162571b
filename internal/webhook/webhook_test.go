package webhook_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// subscribe makes an endpoint.
func subscribe(t testing.TB, c *Caller, url, filters string) (id string) {
	t.Helper()
	subscription := map[string]any{"eventType": "ACTIVITY_UPDATES"}
	if filters != "" {
		subscription["filtersJson"] = filters
	}
	return c.Submit(t, "create_webhook_endpoint", map[string]any{
		"url": url, "name": "Receiver", "subscriptions": []any{subscription},
	}).Get("result", "createWebhookEndpointResult", "endpointId").Text()
}

// tag is an activity like any other.
func tag(t testing.TB, c *Caller, name string) (activityID string) {
	t.Helper()
	return c.Submit(t, "create_user_tag", map[string]any{"userTagName": name, "userIds": []any{}}).Get("id").Text()
}

func tags(t testing.TB, c *Caller, from, to int) (ids []string) {
	t.Helper()
	for n := from; n < to; n++ {
		ids = append(ids, tag(t, c, "Tag "+strconv.Itoa(n)))
	}
	return ids
}

// endpoint is how an endpoint is listed.
func endpoint(t testing.TB, c *Caller, id string) Value {
	t.Helper()
	for _, e := range c.Query(t, "list_webhook_endpoints", nil).Get("webhookEndpoints").List() {
		if e.Get("endpointId").Text() == id {
			return e
		}
	}
	t.Fatalf("endpoint %s is not listed", id)
	return Value{}
}

// awaitState waits until an endpoint has a state.
func awaitState(t testing.TB, c *Caller, id, state string) Value {
	t.Helper()
	for late := time.Now().Add(testkit.Patience); ; time.Sleep(20 * time.Millisecond) {
		e := endpoint(t, c, id)
		if e.Get("state").Text() == state {
			return e
		}
		if time.Now().After(late) {
			t.Fatalf("the endpoint is %v, want %s", e, state)
		}
	}
}

func update(t testing.TB, c *Caller, id string, change map[string]any) {
	t.Helper()
	change["endpointId"] = id
	c.Submit(t, "update_webhook_endpoint", change)
}

func TestDelivery(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		before := tag(t, s.Root, "Before")
		r := newReceiver(t)
		id := subscribe(t, s.Root, r.URL, "")
		wanted := tags(t, s.Root, 0, 5)
		all := r.activities(t, wanted...)
		if got := order(t, all); !slices.Equal(got, wanted) {
			t.Errorf("events of %v, want %v", got, wanted)
		}
		keys := publicKeys(t, s)
		for i := range all {
			verify(t, keys, &all[i])
			if h := all[i].header; h.Get("X-Turnkey-Organization-Id") != s.Root.OrganizationID || h.Get("X-Turnkey-Event-Type") != "ACTIVITY_UPDATES" {
				t.Errorf("the headers are %v", h)
			}
			body := Reply{Body: all[i].body}.JSON(t)
			if body.Get("status").Text() != "ACTIVITY_STATUS_COMPLETED" || body.Get("organizationId").Text() != s.Root.OrganizationID || body.Get("canApprove").Any != false {
				t.Errorf("the body is %s", all[i].body)
			}
			if body.Get("id").Text() == before {
				t.Error("an event from before the endpoint was delivered")
			}
		}
		e := awaitState(t, s.Root, id, "DELIVERING")
		if e.Get("isActive").Any != true || e.Has("lastError") {
			t.Errorf("the endpoint is listed as %v", e)
		}
		testWaiting(t, s.Root, id, 0)
		reply := s.Root.PostTo(t, "/latchkey/v1/webhooks/test", map[string]any{"organizationId": s.Root.OrganizationID, "endpointId": id})
		if reply.Status != http.StatusOK || reply.JSON(t).Get("delivered").Any != true {
			t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
		}
		event := reply.JSON(t).Get("eventId").Text()
		all = r.await(t, "the test event", func(all []received) bool { return all[len(all)-1].id() == event })
		last := &all[len(all)-1]
		if verify(t, keys, last); last.header.Get("X-Turnkey-Event-Type") != "WEBHOOK_TEST" {
			t.Errorf("the headers of the test are %v", last.header)
		}
	})
}

// testWaiting waits until so many events wait, and the last delivery is known.
func testWaiting(t testing.TB, c *Caller, id string, want float64) {
	t.Helper()
	for late := time.Now().Add(testkit.Patience); ; time.Sleep(20 * time.Millisecond) {
		e := endpoint(t, c, id)
		if e.Get("waiting").Number() == want && e.Has("lastDeliveredMs") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the endpoint is %v, want %v waiting", e, want)
		}
	}
}

// A receiver that fails gets every event, in order, under the same id.
func TestRetry(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		r := newReceiver(t)
		bad := []int{http.StatusInternalServerError, http.StatusFound, http.StatusTooManyRequests}
		r.answer = func(attempt int, _ http.Header) int {
			if attempt < len(bad) {
				return bad[attempt]
			}
			return http.StatusOK
		}
		id := subscribe(t, s.Root, r.URL, "")
		wanted := tags(t, s.Root, 0, 3)
		all := r.activities(t, wanted...)
		if got := order(t, all); !slices.Equal(got, wanted) {
			t.Errorf("events of %v, want %v", got, wanted)
		}
		keys := publicKeys(t, s)
		stamps := map[string]bool{}
		for i := range bad {
			verify(t, keys, &all[i])
			if all[i].status != bad[i] || all[i].id() != all[len(bad)].id() || string(all[i].body) != string(all[len(bad)].body) {
				t.Errorf("attempt %d was answered with %d, about %s", i, all[i].status, all[i].id())
			}
			stamps[all[i].header.Get("X-Turnkey-Timestamp")] = true
		}
		if len(stamps) != len(bad) {
			t.Errorf("attempts of the times %v", stamps)
		}
		testWaiting(t, s.Root, id, 0)

		r.reply(http.StatusGone)
		late := tag(t, s.Root, "Late")
		e := awaitState(t, s.Root, id, "SWITCHED_OFF")
		if e.Get("isActive").Any != false || !strings.Contains(e.Get("lastError").Text(), "HTTP 410") || e.Get("waiting").Number() != 1 {
			t.Errorf("after a 410 it is %v", e)
		}
		attempts := len(r.await(t, "nothing", func([]received) bool { return true }))
		later := tag(t, s.Root, "Later")
		testWaiting(t, s.Root, id, 2)
		if all := r.await(t, "nothing", func([]received) bool { return true }); len(all) != attempts {
			t.Errorf("switched off, it got %d further attempts", len(all)-attempts)
		}
		r.reply(http.StatusOK)
		update(t, s.Root, id, map[string]any{"isActive": true})
		all = r.activities(t, late, later)
		if got := order(t, all); !slices.Equal(got[len(got)-2:], []string{late, later}) && !slices.Equal(got[len(got)-3:len(got)-1], []string{late, later}) {
			t.Errorf("it goes on with %v", got)
		}
	})
}

func TestPauseAndReplay(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		r := newReceiver(t)
		id := subscribe(t, s.Root, r.URL, `{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"]}`)
		first := tags(t, s.Root, 0, 3)
		r.activities(t, first...)
		update(t, s.Root, id, map[string]any{"isActive": false})
		awaitState(t, s.Root, id, "PAUSED")
		second := tags(t, s.Root, 3, 6)
		testWaiting(t, s.Root, id, 3)
		update(t, s.Root, id, map[string]any{"isActive": true})
		all := r.activities(t, second...)
		if got := order(t, all); !slices.Equal(got, slices.Concat(first, second)) {
			t.Errorf("events of %v, want %v and %v", got, first, second)
		}
		s.Root.Submit(t, "replay_webhook_endpoint", map[string]any{"endpointId": id, "sinceMs": "1"})
		again := r.await(t, "a replay", func(all []received) bool { return len(all) == 12 })
		for i, want := range slices.Concat(first, second) {
			if again[6+i].id() != again[i].id() || activityOf(t, again[6+i].body) != want {
				t.Errorf("replayed event %d is %s of %s", i, again[6+i].id(), activityOf(t, again[6+i].body))
			}
		}
		if third := tag(t, s.Root, "Third"); order(t, r.activities(t, third))[6] != third {
			t.Error("after a replay it does not go on")
		}
		for _, bad := range []map[string]any{
			{}, {"after": "AAAA", "sinceMs": "1"}, {"after": "AAAA"}, {"sinceMs": "0"}, {"sinceMs": "-1"},
		} {
			bad["endpointId"] = id
			s.Root.Refused(t, http.StatusBadRequest, "replay_webhook_endpoint", bad)
		}
	})
}

// A parent's endpoint gets the events of its children; a child's only its own.
func TestSubOrganizations(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		r, own := newReceiver(t), newReceiver(t)
		subscribe(t, s.Root, r.URL, `{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"],"statuses":["ACTIVITY_STATUS_COMPLETED"]}`)
		child := subOrganization(t, s)
		subscribe(t, child, own.URL, "")
		wanted := []string{tag(t, s.Root, "Of the parent"), tag(t, child, "Of the child"), tag(t, s.Root, "Of the parent again")}
		other := s.CreateOrganization(t, "Another")
		tag(t, other, "Of another")
		s.Root.Refused(t, http.StatusConflict, "create_user_tag", map[string]any{"userTagName": "Of the parent", "userIds": []any{}})
		last := tag(t, child, "Last")
		all := r.activities(t, append(wanted, last)...)
		if got := order(t, all); !slices.Equal(got, append(wanted, last)) {
			t.Errorf("the parent got %v, want %v", got, append(wanted, last))
		}
		for i := range all {
			if all[i].header.Get("X-Turnkey-Organization-Id") != s.Root.OrganizationID {
				t.Errorf("the headers are %v", all[i].header)
			}
		}
		if got := order(t, own.activities(t, wanted[1], last)); !slices.Equal(got, []string{wanted[1], last}) {
			t.Errorf("the child got %v", got)
		}
		child.Submit(t, "delete_sub_organization", map[string]any{"deleteWithoutExport": true})
	})
}

func subOrganization(t testing.TB, s *Server) *Caller {
	t.Helper()
	child := s.Stranger(t, s.Root)
	created := s.Root.Submit(t, "create_sub_organization", map[string]any{
		"subOrganizationName": "Child", "rootQuorumThreshold": 1,
		"rootUsers": []any{map[string]any{
			"userName": "Root", "authenticators": []any{}, "oauthProviders": []any{},
			"apiKeys": []any{map[string]any{"apiKeyName": "Key", "publicKey": child.Key.PublicKey(), "curveType": client.P256.CurveType()}},
		}},
	})
	for _, result := range created.Get("result").Any.(map[string]any) {
		if members, ok := result.(map[string]any); ok && members["subOrganizationId"] != nil {
			child.OrganizationID = members["subOrganizationId"].(string)
		}
	}
	return child
}

// FEATURE_NAME_WEBHOOK is an endpoint too.
func TestFeature(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		r, moved := newReceiver(t), newReceiver(t)
		set := func(url string) {
			s.Root.Submit(t, "set_organization_feature", map[string]any{"name": "FEATURE_NAME_WEBHOOK", "value": url})
		}
		set(r.URL)
		id := s.Root.OrganizationID
		first := tag(t, s.Root, "First")
		r.activities(t, first)
		if e := endpoint(t, s.Root, id); e.Get("url").Text() != r.URL || e.Get("name").Text() != "FEATURE_NAME_WEBHOOK" {
			t.Errorf("it is listed as %v", e)
		}
		set(moved.URL)
		second := tag(t, s.Root, "Second")
		moved.activities(t, second)
		for operation, change := range map[string]map[string]any{
			"update_webhook_endpoint": {"endpointId": id, "isActive": false}, "delete_webhook_endpoint": {"endpointId": id},
		} {
			refused := s.Root.Refused(t, http.StatusBadRequest, operation, change)
			if !strings.Contains(refused.Get("message").Text(), "organization_feature") {
				t.Errorf("%s is refused with %v", operation, refused)
			}
		}
		s.Root.Submit(t, "remove_organization_feature", map[string]any{"name": "FEATURE_NAME_WEBHOOK"})
		if list := s.Root.Query(t, "list_webhook_endpoints", nil).Get("webhookEndpoints").List(); len(list) != 0 {
			t.Errorf("there still is %v", list)
		}
		for _, bad := range []string{"", "true", "ftp://example.com", "https://user:secret@example.com/", "https://10.0.0.1/"} {
			s.Root.Refused(t, http.StatusBadRequest, "set_organization_feature", map[string]any{"name": "FEATURE_NAME_WEBHOOK", "value": bad})
		}
	})
}

// What is wrong with an endpoint is told, and nothing is made.
func TestRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		good := map[string]any{"eventType": "ACTIVITY_UPDATES"}
		with := func(member string, value any) map[string]any {
			all := map[string]any{"url": "https://example.com/", "name": "Receiver", "subscriptions": []any{good}}
			all[member] = value
			return all
		}
		filtered := func(filters string) map[string]any {
			return with("subscriptions", []any{map[string]any{"eventType": "ACTIVITY_UPDATES", "filtersJson": filters}})
		}
		for _, test := range []struct {
			parameters map[string]any
			says       string
		}{
			{with("url", "http://example.org/"), "webhooks.allow"},
			{with("url", "https://10.0.0.1/"), "webhooks.allow"},
			{with("url", "https://[fd00::1]/"), "webhooks.allow"},
			{with("url", "https://169.254.169.254/latest"), "webhooks.allow"},
			{with("url", "https://me:secret@example.com/"), "user or a password"},
			{with("url", "gopher://example.com/"), "https://"},
			{with("url", "https://127.1/"), "IPv4"},
			{with("subscriptions", []any{}), "subscriptions"},
			{with("subscriptions", []any{map[string]any{"eventType": "BALANCE_CONFIRMED_UPDATES"}}), "BALANCE_CONFIRMED_UPDATES is not served"},
			{with("subscriptions", []any{map[string]any{"eventType": "EVERYTHING"}}), "must be ACTIVITY_UPDATES"},
			{filtered(`{"type":["ACTIVITY_TYPE_CREATE_USER_TAG"]}`), "types"},
			{filtered(`[]`), "filtersJson"},
			{filtered(`{"types":["ACTIVITY_TYPE_CREATE_USER_TAGS"]}`), "did you mean ACTIVITY_TYPE_CREATE_USER_TAG"},
			{filtered(`{"statuses":["COMPLETED"]}`), "ACTIVITY_STATUS_COMPLETED"},
			{filtered(`{"types":[]} {}`), "filtersJson"},
		} {
			refused := s.Root.Refused(t, http.StatusBadRequest, "create_webhook_endpoint", test.parameters)
			if text := fmt.Sprint(refused); !strings.Contains(text, test.says) || strings.Contains(text, "secret") {
				t.Errorf("%v is refused with %v, which does not say %q", test.parameters, refused, test.says)
			}
		}
		for n := range 20 {
			parameters := with("name", "Receiver "+strconv.Itoa(n))
			parameters["subscriptions"] = []any{map[string]any{"eventType": "ACTIVITY_UPDATES", "isActive": false}}
			s.Root.Submit(t, "create_webhook_endpoint", parameters)
		}
		if refused := s.Root.Refused(t, http.StatusTooManyRequests, "create_webhook_endpoint", with("name", "One more")); !strings.Contains(refused.Get("message").Text(), "20") {
			t.Errorf("one too many is refused with %v", refused)
		}
		if list := s.Root.Query(t, "list_webhook_endpoints", nil).Get("webhookEndpoints").List(); len(list) != 20 {
			t.Errorf("there are %d endpoints", len(list))
		}
		missing := s.Root.OrganizationID
		s.Root.Refused(t, http.StatusNotFound, "update_webhook_endpoint", map[string]any{"endpointId": missing})
		s.Root.Refused(t, http.StatusNotFound, "delete_webhook_endpoint", map[string]any{"endpointId": missing})
		s.Root.Refused(t, http.StatusNotFound, "replay_webhook_endpoint", map[string]any{"endpointId": missing, "sinceMs": "1"})
		CheckError(t, s.Root.PostTo(t, "/latchkey/v1/webhooks/test", map[string]any{"organizationId": s.Root.OrganizationID, "endpointId": missing}), http.StatusNotFound)
	})
}
