package witness

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"

	"latchkey/internal/translog"
)

const testOrigin = "latchkey/0198c0de"

var testTime = time.Unix(1789000000, 0)

// testLog is a log whose tiles are in memory.
type testLog struct {
	t     testing.TB
	tiles map[[2]int64][]byte
	tree  *translog.Tree
	keys  translog.Keys
	sign  []note.Signer
}

func newLog(t testing.TB, origin string, seed byte) *testLog {
	t.Helper()
	ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	ml, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	first, err := translog.NewKey(origin, translog.Ed25519, ed.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	second, err := translog.NewKey(origin, translog.MLDSA44, ml.PublicKey().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return &testLog{t: t, tiles: map[[2]int64][]byte{}, tree: new(translog.Tree), keys: translog.Keys{first, second}, sign: []note.Signer{
		translog.NewSigner(first, testTime, func(m []byte) ([]byte, error) { return ed25519.Sign(ed, m), nil }),
		translog.NewSigner(second, testTime, func(m []byte) ([]byte, error) { return ml.Sign(nil, m, nil) }),
	}}
}

// fork is a log with the same keys and other entries after a size.
func (l *testLog) fork(size int64) *testLog {
	other := &testLog{t: l.t, tiles: map[[2]int64][]byte{}, tree: new(translog.Tree), keys: l.keys, sign: l.sign}
	other.grow(int(size), "")
	return other
}

func (l *testLog) Tile(level int, n int64, _ int) ([]byte, error) {
	data, found := l.tiles[[2]int64{int64(level), n}]
	if !found {
		return nil, translog.ErrNoTile
	}
	return data, nil
}

// grow appends entries.
func (l *testLog) grow(by int, what string) {
	var leaves []translog.Hash
	for i := range by {
		leaves = append(leaves, translog.LeafHash(translog.EntryHash([32]byte{}, fmt.Appendf(nil, "%s%d", what, l.tree.Size()+int64(i)))))
	}
	tree, tiles := l.tree.Append(leaves...)
	for _, tile := range tiles {
		l.tiles[[2]int64{int64(tile.Level), tile.N}] = tile.Data
	}
	l.tree = tree
}

func (l *testLog) checkpoint() *translog.Signed {
	l.t.Helper()
	text, err := translog.SignCheckpoint(translog.Checkpoint{Origin: l.keys[0].Name(), Head: l.tree.Head()}, l.sign...)
	if err != nil {
		l.t.Fatal(err)
	}
	signed, err := translog.OpenCheckpoint(text, l.keys, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return signed
}

// prover proves for a checkpoint.
func (l *testLog) prover() func(old int64) ([]translog.Hash, error) {
	head := l.tree.Head()
	return func(old int64) ([]translog.Hash, error) { return translog.ProveConsistency(l, head, old) }
}

// body is a submission of the newest checkpoint.
func (l *testLog) body(old int64) string {
	l.t.Helper()
	proof, err := l.prover()(old)
	if err != nil {
		l.t.Fatal(err)
	}
	return submission{old: old, proof: proof, checkpoint: string(l.checkpoint().Note())}.body()
}

func openWitness(t testing.TB, dir string, logs translog.Keys) *Witness {
	t.Helper()
	w, err := Open(dir, "", logs, slog.New(slog.NewTextHandler(io.Discard, nil)), func() time.Time { return testTime })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// serveWitness serves a witness over HTTP and returns a client that verifies both
// of its cosignatures.
func serveWitness(t testing.TB, w *Witness) *Client {
	t.Helper()
	srv := httptest.NewServer(w.Handler())
	t.Cleanup(srv.Close)
	keys := w.VerifierKeys().Texts()
	c, err := NewClient(srv.URL+"/", keys[0]+" "+keys[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}
