package witness

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	formats "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"latchkey/internal/translog"
)

func TestCosigns(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	dir := t.TempDir()
	w := openWitness(t, dir, l.keys)
	c := serveWitness(t, w)
	for _, by := range []int{0, 1, 1, 300, 0, 70_000, 5} {
		l.grow(by, "")
		cosigned, err := c.Submit(t.Context(), l.checkpoint(), l.prover())
		if err != nil {
			t.Fatal(err)
		}
		again, err := translog.OpenCheckpoint(cosigned.Note(), l.keys, w.VerifierKeys())
		if err != nil || len(again.CosignedBy(w.VerifierKeys())) != 1 || again.Head != l.tree.Head() {
			t.Fatalf("%v: %v", again, err)
		}
		for _, key := range w.VerifierKeys().Texts() { // as a second implementation reads it
			verifier, err := formats.NewVerifierForCosignatureV1(key)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := note.Open(cosigned.Note(), note.VerifierList(verifier)); err != nil || len(n.Sigs) != 1 {
				t.Fatalf("%s: %v", key, err)
			}
		}
	}
	latest, err := c.Latest(t.Context(), testOrigin, l.keys)
	if err != nil || latest.Head != l.tree.Head() {
		t.Errorf("latest: %+v, %v", latest, err)
	}
	// Another client begins at size 0, and learns the size.
	if _, err := serveWitness(t, w).Submit(t.Context(), l.checkpoint(), l.prover()); err != nil {
		t.Error(err)
	}
	names := w.VerifierKeys().Texts()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l.grow(9, "")
	reopened := openWitness(t, dir, l.keys)
	if strings.Join(names, " ") != strings.Join(reopened.VerifierKeys().Texts(), " ") {
		t.Error("after a restart the witness has other keys")
	}
	if _, err := reopened.AddCheckpoint(l.body(0)); err == nil {
		t.Error("after a restart the witness has forgotten")
	}
	if _, err := reopened.AddCheckpoint(l.body(l.tree.Size() - 9)); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "witness.json")); err != nil || !strings.Contains(string(text), names[0]) || !strings.Contains(string(text), names[1]) {
		t.Errorf("witness.json: %s, %v", text, err)
	}
}

// The statuses are those of tlog-witness.
func TestAnswers(t *testing.T) {
	l, stranger := newLog(t, testOrigin, 1), newLog(t, "latchkey/other", 2)
	impostor := newLog(t, testOrigin, 3)
	w := openWitness(t, t.TempDir(), l.keys)
	srv := httptest.NewServer(w.Handler())
	defer srv.Close()
	l.grow(10, "")
	if status, _, _ := post(t, srv.URL, l.body(0)); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	old := l.checkpoint()
	l.grow(10, "")
	stranger.grow(3, "")
	impostor.grow(20, "")
	good := l.body(10)
	onlyEd, err := translog.SignCheckpoint(old.Checkpoint, l.sign[0])
	if err != nil {
		t.Fatal(err)
	}
	emptyRoot, err := translog.SignCheckpoint(translog.Checkpoint{Origin: testOrigin}, l.sign...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		body        string
		status      int
		kind, reply string
	}{
		"nothing":               {"", 400, "text/plain", "empty line"},
		"no old size":           {strings.TrimPrefix(good, "old 10\n"), 400, "text/plain", "the first line is"},
		"a padded size":         {strings.Replace(good, "old 10", "old 010", 1), 400, "text/plain", "old and a size"},
		"a broken hash":         {strings.Replace(good, "old 10\n", "old 10\nx\n", 1), 400, "text/plain", "hash 1"},
		"64 hashes":             {"old 10\n" + strings.Repeat(translog.Hash{}.String()+"\n", 64) + "\n" + string(l.checkpoint().Note()), 400, "text/plain", "more than 63"},
		"no note":               {"old 10\n\nwords\n", 400, "text/plain", "not a signed note"},
		"above the checkpoint":  {submission{old: 21, checkpoint: string(l.checkpoint().Note())}.body(), 400, "text/plain", "above"},
		"an unknown log":        {stranger.body(0), 404, "text/plain", "latchkey/other"},
		"a foreign key":         {impostor.body(10), 403, "text/plain", "none of its signatures"},
		"a missing signature":   {"old 10\n\n" + string(onlyEd), 403, "text/plain", "ML-DSA-44"},
		"a changed checkpoint":  {strings.Replace(good, "\n20\n", "\n21\n", 1), 403, "text/plain", "was changed"},
		"an old size of zero":   {l.body(0), 409, "text/x.tlog.size", "10\n"},
		"another old size":      {l.body(5), 409, "text/x.tlog.size", "10\n"},
		"an older checkpoint":   {submission{old: 5, checkpoint: string(l.fork(9).checkpoint().Note())}.body(), 409, "text/x.tlog.size", "10\n"},
		"no proof":              {submission{old: 10, checkpoint: string(l.checkpoint().Note())}.body(), 422, "text/plain", "does not show"},
		"a proof of more":       {strings.Replace(good, "old 10\n", "old 10\n"+translog.Hash{}.String()+"\n", 1), 422, "text/plain", "does not show"},
		"an empty tree's root":  {"old 0\n\n" + string(emptyRoot), 409, "text/x.tlog.size", "10\n"},
		"far too large":         {strings.Repeat("x", maxBody+1), 413, "text/plain", "more than"},
		"a proof for the same":  {submission{old: 10, proof: []translog.Hash{{}}, checkpoint: string(old.Note())}.body(), 422, "text/plain", "does not show"},
		"the same once more":    {submission{old: 10, checkpoint: string(old.Note())}.body(), 200, "text/plain", "— " + w.Name() + " "},
		"a second set of lines": {good + "— x y\n", 400, "text/plain", "not a signed note"},
	} {
		status, kind, reply := post(t, srv.URL, tc.body)
		if status != tc.status || !strings.HasPrefix(kind, tc.kind) || !strings.Contains(reply, tc.reply) {
			t.Errorf("%s: %d %s %q; want %d with %q", name, status, kind, reply, tc.status, tc.reply)
		}
	}
	if latest := string(w.Latest(OriginHash(testOrigin))); !strings.Contains(latest, "\n10\n") {
		t.Errorf("after what was refused the newest is %s", latest)
	}
	if status, _, _ := post(t, srv.URL, good); status != http.StatusOK {
		t.Errorf("a good one after bad ones: %d", status)
	}
	fresh := openWitness(t, t.TempDir(), l.keys)
	for name, body := range map[string]string{
		"an empty tree's root":    "old 0\n\n" + string(emptyRoot),
		"a proof that needs none": submission{proof: []translog.Hash{{}}, checkpoint: string(old.Note())}.body(),
	} {
		_, err := fresh.AddCheckpoint(body)
		var refused *refusal
		if !errors.As(err, &refused) || refused.status != 422 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if reply, err := http.Get(srv.URL + "/" + OriginHash("latchkey/other") + "/checkpoint"); err != nil || reply.StatusCode != 404 {
		t.Errorf("the newest of an unknown log: %v, %v", reply, err)
	} else {
		reply.Body.Close()
	}
}

func post(t *testing.T, url, body string) (status int, kind, text string) {
	t.Helper()
	reply, err := http.Post(url+"/add-checkpoint", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	all, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, reply.Header.Get("Content-Type"), string(all)
}

// A log that lies is refused, and both of its checkpoints are kept.
func TestFork(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	dir := t.TempDir()
	w := openWitness(t, dir, l.keys)
	c := serveWitness(t, w)
	l.grow(300, "")
	if _, err := c.Submit(t.Context(), l.checkpoint(), l.prover()); err != nil {
		t.Fatal(err)
	}
	same := l.fork(299)
	same.grow(1, "other")
	larger := l.fork(200)
	larger.grow(200, "other")
	rolledBack := l.fork(250)
	for name, fork := range map[string]*testLog{"of the same size": same, "larger": larger, "rolled back": rolledBack} {
		for range 2 {
			cosigned, err := c.Submit(t.Context(), fork.checkpoint(), fork.prover())
			var lie *ForkError
			if !errors.As(err, &lie) || cosigned != nil || lie.Witness != w.Name() {
				t.Errorf("%s: %v, %v", name, cosigned, err)
			}
		}
	}
	theirs, err := c.Latest(t.Context(), testOrigin, l.keys)
	if err != nil || theirs.Head != l.tree.Head() {
		t.Errorf("what the witness holds: %+v, %v", theirs, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "evidence", OriginHash(testOrigin)+"-*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("evidence %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "cosigned:\n\n")
		first, second, _ := strings.Cut(rest, "\noffered:\n\n")
		for _, checkpoint := range []string{first, second} { // the evidence stands by itself
			if _, err := translog.OpenCheckpoint([]byte(checkpoint), l.keys, w.VerifierKeys()); err != nil {
				t.Errorf("%s: %v", checkpoint, err)
			}
		}
	}
	if _, err := c.Submit(t.Context(), l.checkpoint(), l.prover()); err != nil {
		t.Errorf("the honest log after a fork: %v", err)
	}
}

func TestFolder(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	dir := t.TempDir()
	w := openWitness(t, dir, l.keys)
	open := func(name string, keys translog.Keys) error {
		other, err := Open(dir, name, keys, slog.New(slog.DiscardHandler), time.Now)
		if err == nil {
			_ = other.Close()
		}
		return err
	}
	if err := open("", l.keys); !errors.Is(err, ErrInUse) {
		t.Errorf("a second process: %v", err)
	}
	l.grow(3, "")
	if _, err := w.AddCheckpoint(l.body(0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open("another", l.keys); err == nil || !strings.Contains(err.Error(), "keeps its name") {
		t.Errorf("another name: %v", err)
	}
	if _, err := Open(t.TempDir(), testOrigin, l.keys, slog.New(slog.DiscardHandler), time.Now); err == nil || !strings.Contains(err.Error(), "the name of a log") {
		t.Errorf("a witness with the name of a log: %v", err)
	}
	if err := open("", nil); err == nil {
		t.Error("a witness of no log")
	}
	state := w.statePath(testOrigin)
	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "cut": string(good[:len(good)/2]), "changed": strings.Replace(string(good), "\n3\n", "\n2\n", 1),
		"not cosigned": string(l.checkpoint().Note()), "of another log": string(newLog(t, "latchkey/other", 2).checkpoint().Note()),
	} {
		if err := os.WriteFile(state, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open("", l.keys); err == nil {
			t.Errorf("%s: a witness begins anew", name)
		}
	}
	if err := os.WriteFile(state, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open("", l.keys); err != nil {
		t.Error(err)
	}
	key := filepath.Join(dir, "witness.key")
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{}", strings.Replace(string(secret), `Seed":"`, `Seed":"0`, 1)} {
		if err := os.WriteFile(key, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open("", l.keys); err == nil || strings.Contains(err.Error(), string(secret[40:60])) {
			t.Errorf("damaged keys: %v", err)
		}
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := open("", l.keys); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("keys that others can read: %v", err)
	}
}

// What could not be stored is not cosigned.
func TestDiskFails(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	dir := t.TempDir()
	w := openWitness(t, dir, l.keys)
	l.grow(1, "")
	if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	if lines, err := w.AddCheckpoint(l.body(0)); err == nil {
		t.Errorf("cosigned: %s", lines)
	}
	if w.Latest(OriginHash(testOrigin)) != nil {
		t.Error("what was not stored counts")
	}
}

func FuzzAddCheckpoint(f *testing.F) {
	l := newLog(f, testOrigin, 1)
	l.keys, l.sign = l.keys[:1], l.sign[:1] // the fuzzer is slow on the long texts of ML-DSA-44
	l.grow(5, "")
	w := openWitness(f, f.TempDir(), l.keys)
	if _, err := w.AddCheckpoint(l.body(0)); err != nil {
		f.Fatal(err)
	}
	head := l.tree.Head()
	f.Add(l.body(5))
	l.grow(2, "")
	fork := l.fork(4)
	fork.grow(3, "other")
	f.Add(fork.body(4))
	f.Add("old 5\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		_, err := w.AddCheckpoint(body)
		if latest := w.state[testOrigin].Head; latest != head {
			t.Fatalf("cosigned %+v: %v", latest, err)
		}
	})
}
