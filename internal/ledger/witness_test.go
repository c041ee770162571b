package ledger_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// testWitness is a real witness, which can be away or lie.
type testWitness struct {
	config     config.Witness
	keys       translog.Keys
	away, lies atomic.Bool
	url        string
}

func startWitness(t *testing.T, name string, logs translog.Keys) *testWitness {
	t.Helper()
	real, err := witness.Open(t.TempDir(), name, logs, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w := &testWitness{keys: real.VerifierKeys()}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.away.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if !w.lies.Load() || r.Method != http.MethodPost {
			real.Handler().ServeHTTP(rw, r)
			return
		}
		reply := httptest.NewRecorder()
		real.Handler().ServeHTTP(reply, r)
		text := reply.Body.String()
		if reply.Code == http.StatusOK { // another signature
			text = strings.NewReplacer("A", "B", "B", "A").Replace(text)
		}
		rw.WriteHeader(reply.Code)
		_, _ = rw.Write([]byte(text))
	}))
	t.Cleanup(func() { srv.Close(); _ = real.Close() })
	w.url = srv.URL
	w.config = config.Witness{URL: srv.URL, Key: strings.Join(w.keys.Texts(), " ")}
	return w
}

// size is that of the newest checkpoint of a log that the witness has.
func (w *testWitness) size(t *testing.T, origin string) int64 {
	t.Helper()
	client, err := witness.NewClient(w.url, w.config.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if known, err := client.Knows(t.Context(), origin); err != nil || !known {
		return 0
	}
	reply := Send(t, http.MethodGet, w.url+"/"+witness.OriginHash(origin)+"/checkpoint", nil, nil)
	known, err := translog.PeekCheckpoint(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return known.Size
}

// keysOfPlace are the keys of the log of a server that may be stopped.
func keysOfPlace(s *Server) translog.Keys { return s.Keys.LogKeys.VerifierKeys() }

// TestWitnesses: cosignatures of both kinds are in checkpoints and receipts; without
// a quorum none is published, and nothing else waits; a false cosignature is left out.
func TestWitnesses(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		p := newPlace(t, storeURL)
		s := p.resume(t)
		root := s.CreateOrganization(t, "Test organization")
		s.Stop(t)
		logs := keysOfPlace(s)
		first, second, liar := startWitness(t, "first.example", logs), startWitness(t, "second.example", logs), startWitness(t, "liar.example", logs)
		liar.lies.Store(true)
		second.away.Store(true)
		p.config.Log.Quorum = 2
		for _, w := range []*testWitness{first, second, liar} {
			p.config.Log.Witnesses = append(p.config.Log.Witnesses, w.config)
		}
		s = p.resume(t)
		root = s.As(root)
		id := tag(t, root, "one") // is answered
		asked := map[string]any{"organizationId": root.OrganizationID, "activityId": id}
		testkit.Until(t, "one witness has cosigned", func() bool { return first.size(t, logs[0].Name()) >= 3 })
		testkit.Until(t, "the false one is reported", func() bool {
			_, metrics := get(t, s, "/metrics")
			return strings.Contains(string(metrics), `latchkey_witness_failures_total{reason="signature",witness="liar.example"}`)
		})
		if reply := root.PostTo(t, "/latchkey/v1/receipt", asked); reply.Status != http.StatusConflict {
			t.Errorf("a receipt without a quorum: HTTP %d", reply.Status)
		}
		second.away.Store(false)
		both := append(append(translog.Keys{}, first.keys...), second.keys...)
		proven, err := translog.VerifyReceipt(receipt(t, root, asked), logs, both, 2)
		if err != nil {
			t.Fatal(err)
		}
		if by := proven.Checkpoint.CosignedBy(liar.keys); len(by) > 0 {
			t.Errorf("cosigned by %v", by)
		}
		if status, body := get(t, s, "/readyz"); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	})
}
