package feed_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

type m = map[string]any

const (
	path       = "/latchkey/v1/events"
	streamPath = "/latchkey/v1/events/stream"
)

// ask is the body of a request for events.
func ask(c *Caller, params m) m {
	body := m{"organizationId": c.OrganizationID}
	maps.Copy(body, params)
	return body
}

// read asks for one page of events.
func read(t testing.TB, c *Caller, params m) Value {
	t.Helper()
	reply := c.PostTo(t, path, ask(c, params))
	if reply.Status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
	}
	return reply.JSON(t)
}

// readAll reads on until there are so many events; the cursor after them is
// returned too.
func readAll(t testing.TB, c *Caller, want int, params m) (events []Value, cursor string) {
	t.Helper()
	params = ask(c, params)
	testkit.Until(t, fmt.Sprintf("%d events are in the feed", want), func() bool {
		page := read(t, c, params)
		events = append(events, page.Get("events").List()...)
		cursor = page.Get("cursor").Text()
		params["after"] = cursor
		return len(events) >= want
	})
	if len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	return events, cursor
}

func tag(name string) m { return m{"userTagName": name, "userIds": []any{}} }

// story is what an event says, in short.
func story(events []Value) (lines []string) {
	for _, e := range events {
		a := e.Get("activity")
		name := strings.TrimPrefix(a.Get("type").Text(), "ACTIVITY_TYPE_")
		lines = append(lines, fmt.Sprintf("%s %s %d", name, strings.TrimPrefix(a.Get("status").Text(), "ACTIVITY_STATUS_"), len(a.Get("votes").List())))
	}
	return lines
}

// TestFeed: every change of an activity is an event, in order, which shows the
// activity as it was right after the change, also when more has happened since.
func TestFeed(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		s.Root.Refused(t, 404, "update_user_tag", m{"userTagId": "00000000-0000-4000-8000-000000000000", "newUserTagName": "x", "addUserIds": []any{}, "removeUserIds": []any{}})
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{s.Root.UserID, ada.UserID}})
		waits := s.Root.MustPost(t, "create_user_tag", s.Root.Body(t, "create_user_tag", tag("one"))).Get("activity")
		ada.MustPost(t, "approve_activity", ada.Body(t, "approve_activity", m{"fingerprint": waits.Get("fingerprint").Text()}))
		again := s.Root.MustPost(t, "create_user_tag", s.Root.Body(t, "create_user_tag", tag("two"))).Get("activity")
		ada.MustPost(t, "reject_activity", ada.Body(t, "reject_activity", m{"fingerprint": again.Get("fingerprint").Text()}))
		events, cursor := readAll(t, ada, 7, nil)
		want := []string{
			"CREATE_USERS_V4 COMPLETED 1", "UPDATE_USER_TAG FAILED 1", "UPDATE_ROOT_QUORUM COMPLETED 1",
			"CREATE_USER_TAG CONSENSUS_NEEDED 1", "CREATE_USER_TAG COMPLETED 2",
			"CREATE_USER_TAG CONSENSUS_NEEDED 1", "CREATE_USER_TAG REJECTED 2",
		}
		if got := story(events); !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
		ids := map[string]bool{}
		for i, e := range events {
			a := e.Get("activity")
			if completed := strings.Contains(want[i], "COMPLETED"); completed != a.Get("result").Has("activity") || a.Get("canApprove").Any != false || a.Get("canReject").Any != false {
				t.Errorf("event %d: %v", i, a)
			}
			if failed := strings.Contains(want[i], "FAILED"); failed != (a.Get("failure").Any != nil) {
				t.Errorf("event %d: failure %v", i, a.Get("failure"))
			}
			if a.Get("updatedAt", "seconds").Text() < a.Get("createdAt", "seconds").Text() {
				t.Errorf("event %d: %v", i, a)
			}
			id := e.Get("eventId").Text()
			if ids[id] || strings.Contains(id, ".") || e.Get("eventType").Text() != "ACTIVITY_UPDATES" || e.Get("organizationId").Text() != s.Root.OrganizationID {
				t.Errorf("event %d: %v", i, e)
			}
			ids[id] = true
		}
		// The same from every cursor on, in pages of any size, each time.
		for i, e := range events {
			rest, end := readAll(t, s.Root, len(events)-1-i, m{"after": e.Get("cursor").Text(), "limit": 2})
			if end != cursor || fmt.Sprint(rest) != fmt.Sprint(events[i+1:]) {
				t.Errorf("after event %d: %v", i, rest)
			}
		}
		if last := read(t, s.Root, m{"after": cursor}); len(last.Get("events").List()) != 0 || last.Get("cursor").Text() != cursor {
			t.Errorf("after all of them: %v", last)
		}
	})
}

// TestTakenOver: the refusal of a request that another user then sends with success
// is still told as it was.
func TestTakenOver(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		mallory := s.NewUser(t, s.Root, "Mallory", client.P256)
		body := s.Root.Body(t, "create_user_tag", tag("taken over"))
		mallory.RefusedBody(t, 403, "create_user_tag", body)
		before, _ := readAll(t, s.Root, 2, nil)
		s.Root.MustPost(t, "create_user_tag", body)
		after, _ := readAll(t, s.Root, 3, nil)
		if got := story(after[1:]); !slices.Equal(got, []string{"CREATE_USER_TAG FAILED 1", "CREATE_USER_TAG COMPLETED 2"}) {
			t.Errorf("%q", got)
		}
		if fmt.Sprint(before) != fmt.Sprint(after[:2]) || after[1].Get("activity", "failure").Any == nil || after[2].Get("activity", "failure").Any != nil {
			t.Errorf("before: %v\nafter: %v", before, after)
		}
	})
}

// TestFilters: filters leave events out, and the cursor moves past them.
func TestFilters(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		for i := range 5 {
			s.Root.Submit(t, "create_user_tag", tag(fmt.Sprint("tag ", i)))
			s.Root.Refused(t, 409, "create_user_tag", tag(fmt.Sprint("tag ", i)))
		}
		s.NewUser(t, s.Root, "Ada", client.P256)
		_, end := readAll(t, s.Root, 11, nil)
		for _, c := range []struct {
			want   int
			params m
		}{
			{10, m{"types": []any{"ACTIVITY_TYPE_CREATE_USER_TAG"}}},
			{1, m{"types": []any{"ACTIVITY_TYPE_CREATE_USERS_V4"}}},
			{5, m{"statuses": []any{"ACTIVITY_STATUS_FAILED"}}},
			{6, m{"statuses": []any{"ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_REJECTED"}}},
			{5, m{"statuses": []any{"ACTIVITY_STATUS_COMPLETED"}, "types": []any{"ACTIVITY_TYPE_CREATE_USER_TAG"}}},
			{0, m{"types": []any{"ACTIVITY_TYPE_CREATE_WALLET"}}},
		} {
			page := read(t, s.Root, c.params)
			if got := len(page.Get("events").List()); got != c.want {
				t.Errorf("%v: %d events, want %d", c.params, got, c.want)
			}
			if page.Get("cursor").Text() != end {
				t.Errorf("%v: the cursor did not move past what was left out", c.params)
			}
		}
		if page := read(t, s.Root, m{"limit": 3}); len(page.Get("events").List()) != 3 {
			t.Errorf("limit: %v", page)
		}
		now := read(t, s.Root, m{"after": "now"})
		if len(now.Get("events").List()) != 0 {
			t.Errorf("now: %v", now)
		}
		s.Root.Submit(t, "create_user_tag", tag("later"))
		if later, _ := readAll(t, s.Root, 1, m{"after": now.Get("cursor").Text()}); len(later) != 1 {
			t.Errorf("after now: %v", later)
		}
	})
}

// TestRefusals: what is wrong with a request is said, on both paths.
func TestRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		elsewhere := Start(t, SQLite(t), config.Default())
		elsewhere.Root.Submit(t, "create_user_tag", tag("one"))
		_, foreign := readAll(t, elsewhere.Root, 1, nil)
		s.Root.Submit(t, "create_user_tag", tag("one"))
		_, cursor := readAll(t, s.Root, 1, nil)
		spoiled := []byte(cursor)
		spoiled[9] ^= 3
		for name, c := range map[string]struct {
			params m
			field  string
		}{
			"no cursor":                      {m{"after": "yesterday"}, "after"},
			"a cursor that was changed":      {m{"after": string(spoiled)}, "after"},
			"a cursor with more at its end":  {m{"after": cursor + "AAAA"}, "after"},
			"a cursor of another":            {m{"after": foreign}, "after"},
			"no events":                      {m{"limit": 0}, "limit"},
			"too many":                       {m{"limit": 1001}, "limit"},
			"a number that is a text":        {m{"limit": "10"}, "limit"},
			"an unknown type":                {m{"types": []any{"ACTIVITY_TYPE_CREATE_WALET"}}, "types"},
			"an unknown status":              {m{"statuses": []any{"COMPLETED"}}, "statuses"},
			"an unknown member":              {m{"includeSuborganizations": true}, "includeSuborganizations"},
			"an organization that is no id":  {m{"organizationId": "x"}, "organizationId"},
			"children that are not a switch": {m{"includeSubOrganizations": "yes"}, "includeSubOrganizations"},
		} {
			for _, at := range []string{path, streamPath} {
				reply := s.Root.PostTo(t, at, ask(s.Root, c.params))
				CheckError(t, reply, http.StatusBadRequest)
				if !strings.Contains(string(reply.Body), c.field) {
					t.Errorf("%s at %s: %s", name, at, reply.Body)
				}
			}
		}
		for _, at := range []string{path, streamPath} {
			CheckError(t, s.Stranger(t, s.Root).PostTo(t, at, ask(s.Root, nil)), http.StatusUnauthorized)
			other := s.CreateOrganization(t, "Other "+at)
			CheckError(t, other.PostTo(t, at, ask(s.Root, nil)), http.StatusUnauthorized)
		}
	})
}
