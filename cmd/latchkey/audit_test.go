package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"filippo.io/mldsa"
	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/sumdb/note"

	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// scriptLog is a log of a few entries, for scripts: its keys are $LOGKEY1 and
// $LOGKEY2.
type scriptLog struct {
	keys    translog.Keys
	signers []note.Signer
}

func newScriptLog(ts *testscript.TestScript) scriptLog {
	const origin = "latchkey/0198c0de"
	ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	ml, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), bytes.Repeat([]byte{2}, 32))
	ts.Check(err)
	first, err := translog.NewKey(origin, translog.Ed25519, ed.Public().(ed25519.PublicKey))
	ts.Check(err)
	second, err := translog.NewKey(origin, translog.MLDSA44, ml.PublicKey().Bytes())
	ts.Check(err)
	at := time.Unix(1789000000, 0)
	ts.Setenv("LOGKEY1", first.Text())
	ts.Setenv("LOGKEY2", second.Text())
	return scriptLog{translog.Keys{first, second}, []note.Signer{
		translog.NewSigner(first, at, func(m []byte) ([]byte, error) { return ed25519.Sign(ed, m), nil }),
		translog.NewSigner(second, at, func(m []byte) ([]byte, error) { return ml.Sign(nil, m, nil) }),
	}}
}

// receipt STATUS FILE makes a log whose third entry says that an activity came to a
// status, has the checkpoint cosigned by the witness at $WITNESSURL if there is one,
// and writes the receipt as the server answers with it. With ! the witness must
// refuse. Another status makes another log with the same keys: a fork.
func receipt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: receipt STATUS FILE")
	}
	l := newScriptLog(ts)
	record := translog.Record{
		OrganizationID: "0198c0de-0000-7000-8000-000000000001", Sequence: 3, ActivityID: "0198c0de-0000-7000-8000-000000000002",
		Status: args[0], TimeMs: 1789000000123, RequestDigest: strings.Repeat("0a", 32),
	}
	text, salt := record.AppendText(nil), [32]byte{7}
	tree, _ := new(translog.Tree).Append(translog.Hash{1}, translog.Hash{2}, translog.LeafHash(translog.EntryHash(salt, text)), translog.Hash{4})
	signed := l.checkpoint(ts, tree)
	if url := ts.Getenv("WITNESSURL"); url != "" {
		cosigned, err := submit(url, ts.Getenv("WITNESSKEY1")+" "+ts.Getenv("WITNESSKEY2"), signed)
		if (err != nil) != neg {
			ts.Fatalf("the witness answers: %v", err)
		}
		if neg {
			return
		}
		signed = cosigned
	}
	inclusion, err := translog.ProveInclusion(tree, tree.Head(), 2)
	ts.Check(err)
	reply, err := json.Marshal(map[string]translog.Receipt{"receipt": translog.NewReceipt(text, salt, 2, inclusion, signed.Note())})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), reply, 0o600))
}

func (l scriptLog) checkpoint(ts *testscript.TestScript, tree *translog.Tree) *translog.Signed {
	text, err := translog.SignCheckpoint(translog.Checkpoint{Origin: l.keys[0].Name(), Head: tree.Head()}, l.signers...)
	ts.Check(err)
	signed, err := translog.OpenCheckpoint(text, l.keys, nil)
	ts.Check(err)
	return signed
}

func submit(url, keys string, signed *translog.Signed) (*translog.Signed, error) {
	c, err := witness.NewClient(url, keys)
	if err != nil {
		return nil, err
	}
	return c.Submit(context.Background(), signed, func(int64) ([]translog.Hash, error) { return nil, nil }) // of the same size, or the first
}

// logkeys sets $LOGKEY1 and $LOGKEY2.
func logkeys(ts *testscript.TestScript, _ bool, _ []string) { newScriptLog(ts) }

// witnesskeys DIR sets $WITNESSKEY1 and $WITNESSKEY2 from witness.json.
func witnesskeys(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0] + "/witness.json"))
	ts.Check(err)
	var file struct {
		VerifierKeys []string `json:"verifierKeys"`
	}
	ts.Check(json.Unmarshal(text, &file))
	ts.Setenv("WITNESSKEY1", file.VerifierKeys[0])
	ts.Setenv("WITNESSKEY2", file.VerifierKeys[1])
}

// checkpoint DIR FILE waits until everything that is in the database of the dev
// server of a folder is in a published checkpoint, and writes that to a file.
func checkpoint(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", "file:"+dataFile(ts.MkAbs(args[0]))+"?mode=ro")
	ts.Check(err)
	defer db.Close()
	if !testkit.Await(func() bool {
		var entries int64
		ts.Check(db.QueryRow(`SELECT count(*) FROM log_entries`).Scan(&entries))
		reply, err := http.Get(ts.Getenv("URL") + "/latchkey/v1/log/checkpoint")
		ts.Check(err)
		defer reply.Body.Close()
		note, err := io.ReadAll(reply.Body)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), note, 0o600))
		known, err := translog.PeekCheckpoint(note)
		return err == nil && known.Size == entries
	}) {
		ts.Fatalf("the log was not published")
	}
}
