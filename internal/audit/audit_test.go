package audit_test

import (
	"fmt"
	"testing"

	"latchkey/internal/test/servertest"
)

// TestClean finds nothing in what no one has touched, on a stopped server and
// beside a running one.
func TestClean(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		counts, found := audited(t, url)
		if len(found) > 0 {
			t.Fatalf("findings: %+v", found)
		}
		if counts.Organizations < 4 || counts.Activities < 15 || counts.Signatures < counts.Activities || counts.Unsigned != 0 {
			t.Errorf("counts: %+v", counts)
		}
		s := w.start(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range 30 {
				s.As(w.root).Submit(t, "create_wallet", m{"walletName": fmt.Sprint("Busy ", n), "accounts": []any{}})
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			if _, found := audited(t, url); len(found) > 0 {
				t.Errorf("beside a busy server: %+v", found)
			}
		}
	})
}
