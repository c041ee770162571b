package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
)

// notes are the records about the installation, in order.
func notes(t *testing.T, s *Server) (all []translog.Record) {
	t.Helper()
	entries, _, err := s.Store.ReadLog(store.Place{}).Next(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		r, err := translog.ParseRecord(string(e.Record(1)))
		if err != nil {
			t.Fatal(err)
		}
		if r.OrganizationID == s.Keys.Installation {
			all = append(all, r)
		}
	}
	return all
}

// TestNotes: starts with version and config, changes of the seal and restores are in
// the log, under the id of the installation.
func TestNotes(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		p := newPlace(t, storeURL)
		s := p.resume(t)
		s.CreateOrganization(t, "Test organization")
		s.Stop(t)
		fresh := filepath.Join(t.TempDir(), "new.key")
		if err := os.WriteFile(fresh, fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte("new"))), 0o600); err != nil {
			t.Fatal(err)
		}
		kinds := func(s *Server) (all []string) {
			for _, r := range notes(t, s) {
				all = append(all, strings.TrimSpace(r.Kind+" "+r.Status))
			}
			return all
		}
		const added, taken = "SEAL_CHANGED a new master key was added", "SEAL_CHANGED the previous master key was taken away"
		s = Resume(t, p.url, p.config, "file:"+fresh, p.master)
		testkit.Until(t, added, func() bool { return slices.Contains(kinds(s), added) })
		s.Stop(t)
		c := p.config
		c.Limits.Users++
		s = Resume(t, p.url, c, "file:"+fresh, "")
		testkit.Until(t, taken, func() bool { return slices.Contains(kinds(s), taken) })
		s.Stop(t)
		want := []string{"SERVER_STARTED test", "SERVER_STARTED test", added, "SERVER_STARTED test", taken}
		if strings.HasPrefix(p.url, "sqlite:") {
			if err := server.LeaveRestored(&config.Config{Store: p.url}, strings.Repeat("ab", 32)); err != nil {
				t.Fatal(err)
			}
			want = append(want, "RESTORED")
		}
		want = append(want, "SERVER_STARTED test")
		s = Resume(t, p.url, c, "file:"+fresh, "")
		if got := kinds(s); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		all := notes(t, s)
		if a, b := all[0].RequestDigest, all[3].RequestDigest; len(a) != 64 || a == b {
			t.Errorf("the digests of two configs: %s, %s", a, b)
		}
	})
}
