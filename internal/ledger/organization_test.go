package ledger_test

import (
	"net/http"
	"strings"
	"testing"

	. "latchkey/internal/test/servertest"
)

// TestOrganizationPutBack: all rows of one organization from earlier, which fit
// together and are marked rightly, are not used, whether they were put back while the
// server was stopped or while it ran. Others are served.
func TestOrganizationPutBack(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		p, db := newPlace(t, storeURL), openDatabase(t, storeURL)
		s := p.resume(t)
		root, other := s.CreateOrganization(t, "One"), s.CreateOrganization(t, "Another")
		tag(t, root, "first")
		earlier := db.read(root.OrganizationID)
		receipt(t, root, map[string]any{"organizationId": root.OrganizationID, "activityId": tag(t, root, "second")})
		s.Stop(t)
		now := db.read(root.OrganizationID)

		check := func(s *Server, when string) {
			t.Helper()
			refusal := s.As(root).Refused(t, http.StatusInternalServerError, "whoami", nil)
			if refusal.Get("turnkeyErrorCode").Text() != "INTEGRITY" {
				t.Errorf("%s: %v", when, refusal.Any)
			}
			s.As(root).Refused(t, http.StatusInternalServerError, "create_user_tag", map[string]any{"userTagName": "third", "userIds": []any{}})
			if !strings.Contains(s.Log.Complaints(), "an earlier state of the whole organization") {
				t.Errorf("%s: %s", when, s.Log.Complaints())
			}
			s.As(other).Query(t, "whoami", nil)
		}
		db.putBack(root.OrganizationID, earlier)
		s = p.resume(t)
		check(s, "put back while it was stopped")
		s.Stop(t)
		db.putBack(root.OrganizationID, now)
		s = p.resume(t)
		db.putBack(root.OrganizationID, earlier)
		check(s, "put back while it ran")
		s.Stop(t)
		db.putBack(root.OrganizationID, now)
		s = p.resume(t)
		s.As(root).Query(t, "whoami", nil)
		if s.Kind == "postgres" { // in memory on one node, and read by another
			db.putBack(root.OrganizationID, earlier)
			check(s, "put back while it was in memory")
			check(p.resume(t), "on another node")
		}
	})
}
