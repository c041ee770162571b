package ops_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	. "latchkey/internal/test/servertest"
)

// TestListEmailEvents reads what happened to mails, page by page.
func TestListEmailEvents(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child")
		send := func(c *Caller, contact string) {
			t.Helper()
			c.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Test"})
			s.Sent(t)
		}
		send(s.Root, "Ada@example.com")
		send(s.Root, "ada@example.com")
		send(s.Root, "ben@example.com")
		send(child, "ada@example.com")
		events := func(c *Caller, email string, more m) []Value {
			t.Helper()
			query := m{"email": email}
			for k, v := range more {
				query[k] = v
			}
			return c.Query(t, "list_email_events", query).Get("emailEvents").List()
		}
		types := func(list []Value) (all []string) {
			for _, e := range list {
				all = append(all, e.Get("eventType").Text())
			}
			return all
		}
		all := events(s.Root, "ADA@example.com", nil)
		if got := types(all); !slices.Equal(got, []string{"Delivery", "Send", "Delivery", "Send"}) {
			t.Fatalf("events: %v", got)
		}
		code := s.MailTo(t, "ada@example.com").Code
		for _, e := range all {
			if e.Get("organizationId").Text() != s.Root.OrganizationID || e.Get("toAddress").Text() != "ADA@example.com" ||
				e.Get("fromAddress").Text() != "latchkey@localhost" || len(e.Get("timestamp").Text()) != 13 || strings.Contains(e.String(), code) {
				t.Errorf("event: %v", e)
			}
		}
		if all[0].Get("messageId").Text() != all[1].Get("messageId").Text() || all[1].Get("messageId").Text() == all[2].Get("messageId").Text() {
			t.Errorf("messages: %v", all)
		}
		if got := types(events(s.Root, "ada@example.com", m{"eventType": "Delivery"})); !slices.Equal(got, []string{"Delivery", "Delivery"}) {
			t.Errorf("deliveries: %v", got)
		}
		id := func(i int) string { return all[i].Get("id").Text() }
		for _, tt := range []struct {
			name string
			page m
			want []int
		}{
			{"first page", m{"limit": "2"}, []int{0, 1}},
			{"next page", m{"limit": "2", "after": id(1)}, []int{2, 3}},
			{"after the last", m{"after": id(3)}, nil},
			{"previous page", m{"limit": "2", "before": id(3)}, []int{1, 2}},
			{"between", m{"after": id(0), "before": id(3)}, []int{1, 2}},
		} {
			var want, got []string
			for _, i := range tt.want {
				want = append(want, id(i))
			}
			for _, e := range events(s.Root, "ada@example.com", m{"paginationOptions": tt.page}) {
				got = append(got, e.Get("id").Text())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", tt.name, got, want)
			}
		}
		// Each organization has its own, and the parent may read those of a child.
		if own, seen := events(child, "ada@example.com", nil), events(as(s.Root, child.OrganizationID), "ada@example.com", nil); len(own) != 2 || len(seen) != 2 {
			t.Errorf("of the child: %v, to its parent: %v", own, seen)
		}
		if got := events(s.Root, "stranger@example.com", nil); len(got) != 0 {
			t.Errorf("of another address: %v", got)
		}
		for _, bad := range []m{{"email": "ada"}, {}, {"email": "ada@example.com", "eventType": "Open"}} {
			s.Root.Refused(t, http.StatusBadRequest, "list_email_events", bad)
		}
	})
}
