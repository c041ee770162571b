package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sys/unix"

	"latchkey/internal/secretfile"
	"latchkey/internal/translog"
)

// ErrInUse says that another process is the witness of a folder.
var ErrInUse = errors.New("the folder is in use by another witness: stop it first")

// Witness cosigns checkpoints of the logs that it knows. It is safe for concurrent
// use.
type Witness struct {
	dir  string
	lock *os.File
	keys *privateKeys
	logs translog.Keys
	log  *slog.Logger
	now  func() time.Time

	// One at a time: between the check of a checkpoint and the write of it no other
	// may come. The work of a witness is small.
	mu    sync.Mutex
	state map[string]*translog.Signed // by origin
}

// Open opens the folder of a witness, and makes it when it is not there. A name that
// is empty is that of the folder, or a random one.
func Open(dir, name string, logs translog.Keys, log *slog.Logger, now func() time.Time) (_ *Witness, err error) {
	if len(logs) == 0 {
		return nil, errors.New("a witness needs the verifier keys of at least one log")
	}
	for _, sub := range []string{"state", "evidence"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	w := &Witness{dir: dir, logs: logs, log: log, now: now, state: map[string]*translog.Signed{}}
	if w.lock, err = lockFile(filepath.Join(dir, "witness.lock")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = w.lock.Close()
		}
	}()
	if w.keys, err = loadOrCreateKeys(dir, name); err != nil {
		return nil, err
	}
	if slices.Contains(logs.Names(), w.Name()) {
		return nil, fmt.Errorf("%s is the name of a log; a witness needs one of its own", w.Name())
	}
	if err := w.publishKeys(); err != nil {
		return nil, err
	}
	return w, w.load()
}

// lockFile keeps other processes from the folder, however this one ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Close gives the folder free.
func (w *Witness) Close() error {
	// A program that is being started has a copy of the file until it runs.
	return errors.Join(unix.Flock(int(w.lock.Fd()), unix.LOCK_UN), w.lock.Close())
}

// Name is the name of the witness.
func (w *Witness) Name() string { return w.keys.public[0].Name() }

// VerifierKeys is the keys that its cosignatures are verified with.
func (w *Witness) VerifierKeys() translog.Keys { return slices.Clone(w.keys.public) }

// publishKeys writes witness.json.
func (w *Witness) publishKeys() error {
	text, err := json.MarshalIndent(struct {
		Name         string   `json:"name"`
		VerifierKeys []string `json:"verifierKeys"`
	}{w.Name(), w.keys.public.Texts()}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, "witness.json")
	if err := secretfile.Write(path, append(text, '\n')); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) // it is for others
}

// load reads the newest checkpoint of each log. One that cannot be read is no
// reason to begin anew: that would forget what was cosigned.
func (w *Witness) load() error {
	for _, origin := range w.logs.Names() {
		text, err := os.ReadFile(w.statePath(origin))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		signed, err := translog.OpenCheckpoint(text, w.logs, w.keys.public)
		if err != nil {
			return fmt.Errorf("what was last cosigned of %s, in %s: %w", origin, w.statePath(origin), err)
		}
		if signed.Origin != origin || len(signed.CosignedBy(w.keys.public)) == 0 {
			return fmt.Errorf("%s is not a checkpoint of %s that this witness has cosigned", w.statePath(origin), origin)
		}
		w.state[origin] = signed
	}
	return nil
}

// OriginHash names a log in paths, tlog-witness.
func OriginHash(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

func (w *Witness) statePath(origin string) string {
	return filepath.Join(w.dir, "state", OriginHash(origin))
}

// Latest is the newest checkpoint of a log that was cosigned, nil if none was.
func (w *Witness) Latest(hash string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for origin, signed := range w.state {
		if OriginHash(origin) == hash {
			return signed.Note()
		}
	}
	return nil
}

// cosign signs a checkpoint, keeps it, and returns the signature lines. The caller
// has checked it and holds the lock.
func (w *Witness) cosign(signed *translog.Signed) ([]byte, error) {
	text, err := note.Sign(&note.Note{Text: signed.Text}, w.keys.signers(w.now())...)
	if err != nil {
		return nil, err
	}
	lines := text[len(signed.Text)+1:]
	cosigned, err := signed.Cosigned(lines, w.keys.public)
	if err != nil {
		return nil, err // a computation went wrong
	}
	if err := secretfile.Write(w.statePath(signed.Origin), cosigned.Note()); err != nil {
		return nil, fmt.Errorf("the checkpoint could not be stored: %w", err)
	}
	w.state[signed.Origin] = cosigned
	return lines, nil
}
