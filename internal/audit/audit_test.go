package audit_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/audit"
	"latchkey/internal/server"
	"latchkey/internal/store"
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

// TestWithoutKey audits without the key of the marks, as of a backup alone: what
// was signed is checked all the same.
func TestWithoutKey(t *testing.T) {
	w := newWorld(t, servertest.SQLite(t))
	for name, c := range map[string]struct{ from, to, want string }{
		"untouched":            {"", "", ""},
		"the body":             {`walletName\":\"Main`, `walletName\":\"Mine`, "its fingerprint is not the SHA-256 of the body"},
		"the key":              {`"publicKey":"` + w.ada.Key.PublicKey()[:20], `"publicKey":"` + w.bob.Key.PublicKey()[:20], "the signature of vote"},
		"a scheme":             {"SIGNATURE_SCHEME_TK_API_ED25519", "SIGNATURE_SCHEME_TK_API_P256", "the signature of vote"},
		"a passkey's":          {`clientDataJson\":\"ey`, `clientDataJson\":\"eg`, "the signature of vote"},
		"what a vote says":     {"VOTE_SELECTION_APPROVED", "VOTE_SELECTION_REJECTED", "is not on this activity, or says something else"},
		"what a vote is about": {`fingerprint\":\"sha256:`, `fingerprint\":\"sha256:0`, "is not on this activity, or says something else"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := w.now.clone()
			n := 0
			for i, e := range changed.entries {
				if c.from != "" && bytes.Contains(e.body, []byte(c.from)) {
					changed.entries[i].body = bytes.ReplaceAll(e.body, []byte(c.from), []byte(c.to))
					n++
				}
			}
			if n == 0 && c.from != "" {
				t.Fatalf("no activity has %q", c.from)
			}
			w.db.write(changed)
			image, err := server.OpenImage(t.Context(), w.url)
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			_, found := run(t, &audit.Audit{Image: image})
			hit := slices.ContainsFunc(found, func(f store.Finding) bool { return f.Kind == "activity" && strings.Contains(f.What, c.want) })
			if hit != (c.want != "") {
				t.Errorf("findings: %+v", found)
			}
		})
	}
}
