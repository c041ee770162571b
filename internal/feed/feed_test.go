package feed_test

import (
	"net/http"
	"os"
	"testing"

	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

type m = map[string]any

const path = "/latchkey/v1/events"

// read asks for one page of events.
func read(t testing.TB, c *Caller, params m) Value {
	t.Helper()
	body := m{"organizationId": c.OrganizationID}
	for name, value := range params {
		body[name] = value
	}
	reply := c.PostTo(t, path, body)
	if reply.Status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
	}
	return reply.JSON(t)
}

// readAll reads on until there are so many events; the cursor after them is
// returned too.
func readAll(t testing.TB, c *Caller, want int, params m) (events []Value, cursor string) {
	t.Helper()
	params = clone(params)
	testkit.Until(t, "all events are in the feed", func() bool {
		page := read(t, c, params)
		events = append(events, page.Get("events").List()...)
		cursor = page.Get("cursor").Text()
		params["after"] = cursor
		return len(events) >= want
	})
	return events, cursor
}

func clone(params m) m {
	copied := m{}
	for name, value := range params {
		copied[name] = value
	}
	return copied
}

// TestFeed: every change of an activity is an event, in order, which shows the
// activity as it was.
func TestFeed(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "one", "userIds": []any{}})
		s.Root.Refused(t, 404, "update_user_tag", m{"userTagId": "00000000-0000-4000-8000-000000000000", "newUserTagName": "x", "addUserIds": []any{}, "removeUserIds": []any{}})
		events, cursor := readAll(t, s.Root, 2, nil)
		if len(events) != 2 {
			t.Fatalf("%d events", len(events))
		}
		first := events[0].Get("activity")
		if first.Get("id").Text() != tag.Get("id").Text() || first.Get("status").Text() != "ACTIVITY_STATUS_COMPLETED" {
			t.Errorf("%v", first)
		}
		if again := read(t, s.Root, m{"after": cursor}); len(again.Get("events").List()) != 0 || again.Get("cursor").Text() != cursor {
			t.Errorf("after all of them: %v", again)
		}
	})
}
