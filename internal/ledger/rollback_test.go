package ledger_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
)

// place is where an installation is: its store, its master key and what it remembers
// outside of the store.
type place struct {
	url, master string
	config      config.Config
}

func newPlace(t *testing.T, storeURL string) *place {
	c := config.Default()
	c.Log.State = filepath.Join(t.TempDir(), "state.json")
	return &place{storeURL, MasterKey(t, storeURL), c}
}

func (p *place) resume(t *testing.T) *Server { return Resume(t, p.url, p.config, p.master, "") }

func (p *place) newEpoch(t *testing.T) domain.LogEpoch {
	t.Helper()
	c := p.config
	c.Store, c.MasterKey = p.url, p.master
	begun, err := server.NewEpoch(context.Background(), &c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return begun
}

func tag(t *testing.T, c *Caller, name string) string {
	t.Helper()
	return c.Submit(t, "create_user_tag", map[string]any{"userTagName": name, "userIds": []any{}}).Get("id").Text()
}

// refuses checks that a server reads, carries out nothing and says why.
func refuses(t *testing.T, s *Server, root *Caller, why string) {
	t.Helper()
	status, body := get(t, s, "/readyz")
	if status != http.StatusServiceUnavailable || !strings.Contains(string(body), why) {
		t.Fatalf("/readyz: %d %s, want 503 and %q", status, body, why)
	}
	_, before := get(t, s, "/latchkey/v1/log/checkpoint")
	root.Query(t, "whoami", nil)
	refusal := root.Refused(t, http.StatusServiceUnavailable, "create_user_tag", map[string]any{"userTagName": "late", "userIds": []any{}})
	if refusal.Get("turnkeyErrorCode").Text() != "INTEGRITY" {
		t.Errorf("%v", refusal.Any)
	}
	if _, after := get(t, s, "/latchkey/v1/log/checkpoint"); string(after) != string(before) {
		t.Error("a checkpoint was signed")
	}
	if _, metrics := get(t, s, "/metrics"); !strings.Contains(string(metrics), "latchkey_log_refused 1") {
		t.Error("the metric does not say so")
	}
	if !strings.Contains(s.Log.Complaints(), "latchkey log new-epoch") {
		t.Error("the log does not say which command helps")
	}
}

// TestDatabasePutBack: a database of an hour ago is noticed by the state file; a new
// epoch goes on from it, and what was proven before stays proven.
func TestDatabasePutBack(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		p, db := newPlace(t, storeURL), openDatabase(t, storeURL)
		s := p.resume(t)
		root := s.CreateOrganization(t, "Test organization")
		kept := tag(t, root, "kept")
		oldKeys, oldReceipt := keysOf(t, s), receipt(t, root, map[string]any{"organizationId": root.OrganizationID, "activityId": kept})
		s.Stop(t)
		earlier := db.read("")

		s = p.resume(t)
		lost := tag(t, s.As(root), "lost")
		lostReceipt := receipt(t, s.As(root), map[string]any{"organizationId": root.OrganizationID, "activityId": lost})
		s.Stop(t)
		db.putBack("", earlier)

		s = p.resume(t)
		refuses(t, s, s.As(root), "the state file knows")
		s.Stop(t)
		if s = p.resume(t); s.Whole == nil {
			t.Fatal()
		}
		refuses(t, s, s.As(root), "the state file knows") // a restart changes nothing
		s.Stop(t)

		begun := p.newEpoch(t)
		if begun.Number != 2 || begun.Origin != oldKeys[0].Name()+"/epoch-2" {
			t.Errorf("%+v", begun)
		}
		s = p.resume(t)
		root = s.As(root)
		later := tag(t, root, "later")
		keys := keysOf(t, s)
		checkEpochs(t, s, oldKeys, lostReceipt)
		checkFirst(t, s, begun)
		for id, of := range map[string]translog.Keys{kept: oldKeys, later: keys} {
			r := receipt(t, root, map[string]any{"organizationId": root.OrganizationID, "activityId": id})
			if _, err := translog.VerifyReceipt(r, of, nil, 0); err != nil {
				t.Error(err)
			}
		}
		for _, r := range []translog.Receipt{oldReceipt, lostReceipt} {
			if _, err := translog.VerifyReceipt(r, oldKeys, nil, 0); err != nil {
				t.Error(err)
			}
		}
		s.Stop(t)
		s = p.resume(t) // and is ready
		tag(t, s.As(root), "last")
		db.putBack("", earlier) // beneath a server that runs
		testkit.Until(t, "the server notices", func() bool {
			_, body := get(t, s, "/readyz")
			return strings.Contains(string(body), "and this server has seen")
		})
		body := s.As(root).Body(t, "create_user_tag", map[string]any{"userTagName": "late", "userIds": []any{}})
		if reply := s.As(root).Post(t, "create_user_tag", body); reply.Status < 500 || !strings.Contains(string(reply.Body), "INTEGRITY") {
			t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
		}
	})
}

// checkEpochs: earlier logs are listed with their keys, and what they last said.
func checkEpochs(t *testing.T, s *Server, oldKeys translog.Keys, newest translog.Receipt) {
	t.Helper()
	_, body := get(t, s, "/.well-known/latchkey.json")
	var known struct {
		Earlier []struct {
			Origin string   `json:"logOrigin"`
			Keys   []string `json:"logVerifierKeys"`
			Last   string   `json:"lastCheckpoint"`
		} `json:"logEarlierEpochs"`
	}
	if err := json.Unmarshal(body, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Earlier) != 1 || known.Earlier[0].Origin != oldKeys[0].Name() || known.Earlier[0].Keys[1] != oldKeys[1].Text() {
		t.Fatalf("%s", body)
	}
	last, err := translog.OpenCheckpoint([]byte(known.Earlier[0].Last), oldKeys, nil)
	if err != nil {
		t.Fatal(err)
	}
	proven, err := translog.VerifyReceipt(newest, oldKeys, nil, 0)
	if err != nil || last.Size < proven.Checkpoint.Size {
		t.Errorf("the last known checkpoint has %d entries: %v", last.Size, err)
	}
}

// checkFirst: the first entry of the new log holds the last checkpoint of the old.
func checkFirst(t *testing.T, s *Server, begun domain.LogEpoch) {
	t.Helper()
	entries, err := s.Store.LogEntriesOf(t.Context(), s.Keys.Installation, ledger.EpochName(begun.Number))
	if err != nil || len(entries) != 1 {
		t.Fatal(len(entries), err)
	}
	record, err := translog.ParseRecord(string(entries[0].Record(1)))
	if err != nil {
		t.Fatal(err)
	}
	last, err := translog.PeekCheckpoint([]byte(begun.Previous))
	if err != nil || record.Kind != store.LogEpoch || record.Status != last.Text() {
		t.Errorf("%+v: %v", record, err)
	}
	_, tile := get(t, s, "/latchkey/v1/log/tile/0/000.p/1")
	number := int64(0)
	for n := range int64(100) {
		if leaf := translog.LeafHash(translog.EntryHash(entries[0].Salt, entries[0].Record(n))); string(tile) == string(leaf[:]) {
			number = n
		}
	}
	if number == 0 {
		t.Error("the first leaf of the new tree is another entry")
	}
}

// TestPutBackUnderWitness: where nothing but a witness remembers, it is noticed too,
// at the start and, if the witness was away then, later.
func TestPutBackUnderWitness(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		p, db := newPlace(t, storeURL), openDatabase(t, storeURL)
		s := p.resume(t)
		root := s.CreateOrganization(t, "Test organization")
		s.Stop(t)
		w := startWitness(t, "witness.example", keysOfPlace(s))
		p.config.Log.Witnesses = []config.Witness{w.config}
		earlier := db.read("")
		s = p.resume(t)
		root = s.As(root)
		lost := receipt(t, root, map[string]any{"organizationId": root.OrganizationID, "activityId": tag(t, root, "lost")})
		proven, err := translog.VerifyReceipt(lost, keysOf(t, s), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, "the witness has the newest", func() bool { return w.size(t, proven.Checkpoint.Origin) >= proven.Checkpoint.Size })
		s.Stop(t)
		putBack := func() {
			db.putBack("", earlier)
			if err := os.Remove(p.config.Log.State); err != nil {
				t.Fatal(err)
			}
		}
		putBack()
		s = p.resume(t)
		refuses(t, s, s.As(root), "witness witness.example knows")
		s.Stop(t)

		putBack()
		w.away.Store(true)
		s = p.resume(t)
		w.away.Store(false)
		testkit.Until(t, "the server hears of it", func() bool {
			status, _ := get(t, s, "/readyz")
			return status != http.StatusOK
		})
		refuses(t, s, s.As(root), "witness witness.example knows")
		if _, metrics := get(t, s, "/metrics"); !strings.Contains(string(metrics), `latchkey_witness_failures_total{reason="fork",witness="witness.example"}`) {
			t.Error("the metric does not name the fork")
		}
	})
}
