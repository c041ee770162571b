package audit_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/internal/audit"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
	"latchkey/internal/translog"
)

// logTampering is a change of what belongs to the log, and the finding that it
// must lead to.
type logTampering struct {
	change func(w *world, all *tables)
	kind   string
	what   string // part of what is found
}

func (all *tables) drop(match func(item) bool) {
	before := len(all.items)
	all.items = slices.DeleteFunc(all.items, match)
	if len(all.items) == before {
		panic("nothing was removed")
	}
}

func ofLog(kind string) func(item) bool {
	return func(it item) bool { return it.org == store.LogOrganization && it.kind == kind }
}

// putBackLog puts back what the log kept of one kind earlier, or all of it.
func putBackLog(w *world, all *tables, kinds ...string) {
	old := func(it item) bool {
		return it.org == store.LogOrganization && (len(kinds) == 0 || slices.Contains(kinds, it.kind))
	}
	all.drop(old)
	for _, it := range w.earlier.items {
		if old(it) {
			all.items = append(all.items, it)
		}
	}
}

var logTamperings = map[string]logTampering{
	"a bit of an entry": {func(_ *world, all *tables) { all.log[7].body[60] ^= 1 }, "log entry", "not what this server wrote"},
	"an entry of another activity": {func(w *world, all *tables) {
		all.log[7].activity = w.signed
	}, "log entry", "not what this server wrote"},
	"an entry removed": {func(_ *world, all *tables) { all.log = slices.Delete(all.log, 7, 8) }, "log entry", "it is missing: it was entry 7"},
	"the newest entries removed": {func(_ *world, all *tables) {
		all.log = all.log[:len(all.log)-3]
	}, "log entry", "it is missing"},
	"two entries swapped": {func(_ *world, all *tables) {
		a, b := &all.log[6], &all.log[7]
		a.position, b.position = b.position, a.position
	}, "log entry", "not what entry 6 of the tree is"},
	"an entry copied to another position": {func(_ *world, all *tables) {
		e := all.log[7]
		e.position = -5
		all.log = append(all.log, e)
	}, "log entry", "it is not in the tree"},
	"an activity removed": {func(w *world, all *tables) {
		all.entries = slices.DeleteFunc(all.entries, func(e entry) bool { return e.id == w.signed })
	}, "activity", "it is missing: the log has an entry of it"},
	"an older activity put back": {func(w *world, all *tables) {
		id := w.decided.Get("id").Text()
		i := slices.IndexFunc(all.entries, func(e entry) bool { return e.id == id })
		j := slices.IndexFunc(w.earlier.entries, func(e entry) bool { return e.id == id })
		all.entries[i] = w.earlier.entries[j]
	}, "activity", "(status, time, votes, decision, result)"},
	"an activity and its entry removed": {func(w *world, all *tables) {
		all.entries = slices.DeleteFunc(all.entries, func(e entry) bool { return e.id == w.signed })
		all.log = slices.DeleteFunc(all.log, func(e logged) bool { return e.activity == w.signed })
	}, "log entry", "it is missing"},
	"an earlier state of an organization": {func(w *world, all *tables) {
		(&randomChanges{w: w}).putBackOrganization(all)
	}, "head", "an earlier state of the organization was put back"},
	"an organization removed": {func(w *world, all *tables) {
		delete(all.versions, w.child)
		all.drop(func(it item) bool { return it.org == w.child })
	}, "head", "the log speaks of this organization"},
	"a tile removed":       {func(_ *world, all *tables) { all.drop(ofLog(store.LogTile)) }, store.LogTile, "it has 0 bytes"},
	"a tile put back":      {func(w *world, all *tables) { putBackLog(w, all, store.LogTile) }, store.LogTile, "put back from an earlier time"},
	"a block removed":      {func(_ *world, all *tables) { all.drop(ofLog(store.LogBlock)) }, store.LogBlock, "it has 0 places"},
	"a block put back":     {func(w *world, all *tables) { putBackLog(w, all, store.LogBlock) }, store.LogBlock, "put back from an earlier time"},
	"the numbers removed":  {func(_ *world, all *tables) { all.drop(ofLog(store.LogSequence)) }, store.LogSequence, "it is missing"},
	"the numbers put back": {func(w *world, all *tables) { putBackLog(w, all, store.LogSequence) }, store.LogSequence, "in the tree it has number"},
	"the state removed":    {func(_ *world, all *tables) { all.drop(ofLog(store.LogState)) }, store.LogTile, "a tree of 0 entries does not have it"},
	"the state put back":   {func(w *world, all *tables) { putBackLog(w, all, store.LogState) }, store.LogBlock, "and should have"},
	"a list removed":       {func(_ *world, all *tables) { all.drop(ofLog(store.LogOwn)) }, store.LogOwn, "has 0 entries"},
	"a list put back":      {func(w *world, all *tables) { putBackLog(w, all, store.LogOwn) }, store.LogOwn, "rows are missing"},
	"a row of a list removed": {func(_ *world, all *tables) {
		i := slices.IndexFunc(all.items, ofLog(store.LogOwn))
		all.items = slices.Delete(all.items, i, i+1)
	}, store.LogOwn, "rows are missing"},
	"a list of children removed": {func(_ *world, all *tables) { all.drop(ofLog(store.LogChildren)) }, store.LogChildren, "of its sub-organizations"},
	"the checkpoint removed":     {func(_ *world, all *tables) { all.drop(ofLog(store.LogCheckpoint)) }, store.LogCheckpoint, "it is missing"},
	"the checkpoint put back": {func(w *world, all *tables) {
		putBackLog(w, all, store.LogCheckpoint)
	}, store.LogCheckpoint, "it was put back from an earlier time"},
}

// TestLog changes what belongs to the log, in ways of which each must be named.
func TestLog(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for name, c := range logTamperings {
			t.Run(name, func(t *testing.T) {
				w.db.t = t
				changed := w.now.clone()
				c.change(w, &changed)
				w.db.write(changed)
				_, found := audited(t, url)
				if !slices.ContainsFunc(found, func(f store.Finding) bool { return f.Kind == c.kind && strings.Contains(f.What, c.what) }) {
					t.Errorf("findings: %+v", found)
				}
			})
		}
	})
}

// checkpointOf is the newest one in some rows, and its size.
func checkpointOf(t testing.TB, all tables) (audit.Earlier, int64) {
	t.Helper()
	it, ok := all.get(store.LogOrganization, store.LogCheckpoint, "newest")
	if !ok {
		t.Fatal("there is no checkpoint")
	}
	note := it.body[17:] // behind the mark
	known, err := translog.PeekCheckpoint(note)
	if err != nil {
		t.Fatal(err)
	}
	return audit.Earlier{Name: "since.txt", Note: note}, known.Size
}

// TestSince: the log continues what was signed earlier; one that is shorter, or
// another one, does not. Rows that are all from an earlier time are noticed in no
// other way.
func TestSince(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		old, size := checkpointOf(t, w.earlier)
		newest, more := checkpointOf(t, w.now)
		if size >= more {
			t.Fatalf("a checkpoint of %d entries, and then one of %d", size, more)
		}
		if _, found := audited(t, url, old, newest); len(found) > 0 {
			t.Errorf("today's tree continues both: %+v", found)
		}
		forked, err := w.fork(t, translog.Head{Size: size, Root: translog.Hash{1}})
		if err != nil {
			t.Fatal(err)
		}
		if _, found := audited(t, url, audit.Earlier{Name: "since.txt", Note: forked}); len(found) != 1 || !strings.Contains(found[0].What, "a fork") || found[0].ID != "since.txt" {
			t.Errorf("a fork: %+v", found)
		}
		w.db.write(w.earlier)
		if _, found := audited(t, url); len(found) > 0 {
			t.Errorf("a whole database of an earlier time: %+v", found)
		}
		if _, found := audited(t, url, newest); len(found) != 1 || !strings.Contains(found[0].What, "the newest ones are missing") {
			t.Errorf("a missing end: %+v", found)
		}
	})
}

// fork lets the log sign another tree, as an operator can who starts the server on
// an older database.
func (w *world) fork(t testing.TB, head translog.Head) ([]byte, error) {
	t.Helper()
	s, err := server.OpenStore(t.Context(), w.url)
	if err != nil {
		return nil, err
	}
	keys, err := server.OpenKeys(t.Context(), s, &config.Config{MasterKey: servertest.MasterKey(t, w.url)}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer keys.Vault.Close()
	defer s.Close()
	return keys.LogKeys.SignCheckpoint(head, time.Now())
}

// TestLogWithoutKey audits the log of a backup alone: the tree is checked, and with
// the verifier keys also what was signed.
func TestLogWithoutKey(t *testing.T) {
	w := newWorld(t, servertest.SQLite(t))
	for name, c := range map[string]logTampering{
		"untouched": {func(*world, *tables) {}, "", ""},
		"a record": {func(_ *world, all *tables) {
			all.log[7].body = bytes.Replace(all.log[7].body, []byte(`"timeMs":1`), []byte(`"timeMs":2`), 1)
		}, "log entry", "it is not what entry 7 of the tree is"},
		"a signature": {func(_ *world, all *tables) {
			i := slices.IndexFunc(all.items, ofLog(store.LogCheckpoint))
			all.items[i].body = bytes.Replace(all.items[i].body, []byte("\n\n— latchkey/"), []byte("\n\n— latchkey-"), 1)
		}, store.LogCheckpoint, "it is not signed by"},
		"an activity": {func(w *world, all *tables) {
			i := slices.IndexFunc(all.entries, func(e entry) bool { return e.id == w.signed })
			all.entries[i].status = "ACTIVITY_STATUS_FAILED"
		}, "activity", "it is not what its newest entry of the log says (status"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := w.now.clone()
			c.change(w, &changed)
			w.db.write(changed)
			image, err := server.OpenImage(t.Context(), w.url)
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			_, found := run(t, &audit.Audit{Image: image, LogKeys: w.logKeys})
			hit := slices.ContainsFunc(found, func(f store.Finding) bool { return f.Kind == c.kind && strings.Contains(f.What, c.what) })
			if hit != (c.what != "") || c.what == "" && len(found) > 0 {
				t.Errorf("findings: %+v", found)
			}
		})
	}
}

// TestForeignActivity puts an activity into the database that was recorded by a
// server with the same keys, on a copy of it: its mark is right, and the log has
// nothing of it.
func TestForeignActivity(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		copied := w.now.clone()
		s := w.start(t)
		s.As(w.root).Submit(t, "sign_raw_payload", w.payload("0f"))
		s.Stop(t)
		after := w.db.read()
		var extra []entry
		for _, e := range after.entries {
			if !slices.ContainsFunc(copied.entries, func(o entry) bool { return o.id == e.id }) {
				extra = append(extra, e)
			}
		}
		if len(extra) != 1 {
			t.Fatalf("%d activities are new", len(extra))
		}
		copied.entries = append(copied.entries, extra...)
		w.db.write(copied)
		_, found := audited(t, url)
		if len(found) != 1 || found[0].ID != extra[0].id || !strings.Contains(found[0].What, "the log has no entry of it") {
			t.Errorf("findings: %+v", found)
		}
	})
}
