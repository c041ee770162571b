package feed_test

import (
	"fmt"
	"net/http"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// newChild creates a sub-organization and returns its root user.
func newChild(t testing.TB, s *Server, parent *Caller, name string) *Caller {
	t.Helper()
	child := s.Stranger(t, parent)
	result := parent.Submit(t, "create_sub_organization", m{"subOrganizationName": name, "rootQuorumThreshold": 1, "rootUsers": []any{m{
		"userName": "Owner", "authenticators": []any{}, "oauthProviders": []any{},
		"apiKeys": []any{m{"apiKeyName": "key", "publicKey": child.Key.PublicKey(), "curveType": client.P256.CurveType()}},
	}}}).Get("result", "createSubOrganizationResultV8")
	child.OrganizationID = result.Get("subOrganizationId").Text()
	child.UserID = result.Get("rootUserIds", 0).Text()
	return child
}

// in is a caller who names another organization.
func in(c *Caller, org string) *Caller {
	there := *c
	there.OrganizationID = org
	return &there
}

// TestChildren: a parent reads its children, deleted ones included, each alone and
// all together in the order of what happened; no one reads anything else.
func TestChildren(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		other := s.CreateOrganization(t, "Other")
		stranger := newChild(t, s, other, "Of the other")
		ann, bob := newChild(t, s, s.Root, "Ann"), newChild(t, s, s.Root, "Bob")
		var want []string
		for i := range 4 {
			for _, c := range []*Caller{ann, stranger, s.Root, bob, other} {
				a := c.Submit(t, "create_user_tag", tag(fmt.Sprint("tag ", i)))
				if c != stranger && c != other {
					want = append(want, a.Get("id").Text())
				}
			}
		}
		want = append(want, bob.Submit(t, "delete_sub_organization", m{"deleteWithoutExport": true}).Get("id").Text())
		all, _ := readAll(t, s.Root, 2+len(want), m{"includeSubOrganizations": true, "limit": 5})
		for i, e := range all[2:] { // after the two that made the children
			if got := e.Get("activity", "id").Text(); got != want[i] {
				t.Errorf("event %d is of %s, want %s", i, got, want[i])
			}
		}
		readAll(t, s.Root, 2+4, nil)                                     // its own alone
		readAll(t, ann, 4, nil)                                          // a member
		readAll(t, ann, 4, m{"includeSubOrganizations": true})           // who has no children
		readAll(t, in(s.Root, ann.OrganizationID), 4, nil)               // its parent
		deleted, _ := readAll(t, in(s.Root, bob.OrganizationID), 5, nil) // of which nothing else is left
		if fmt.Sprint(deleted[4]) != fmt.Sprint(all[len(all)-1]) {
			t.Errorf("two readers see different events: %v, %v", deleted[4], all[len(all)-1])
		}
		for name, c := range map[string]*Caller{
			"a deleted member": bob, "a sister": in(ann, bob.OrganizationID), "a child of its parent": in(ann, s.Root.OrganizationID),
			"another parent": in(other, ann.OrganizationID), "another parent of a deleted one": in(other, bob.OrganizationID),
		} {
			for _, at := range []string{path, streamPath} {
				reply := c.PostTo(t, at, ask(c, nil))
				if reply.Status != http.StatusUnauthorized {
					t.Errorf("%s at %s: HTTP %d %s", name, at, reply.Status, reply.Body)
				}
			}
		}
	})
}
