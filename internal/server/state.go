package server

import (
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/secretfile"
	"latchkey/internal/server/config"
)

// State is what a server remembers outside of the database, in a file: which
// database is its own, and that its rows are marked. An old copy of the database
// without marks, put in its place, could be adopted and so be made to look right;
// beside this file it is refused. The file holds no secret, and a code that only
// the installation can make. Each server has one of its own.
type State struct {
	path string // empty: there is no place for it
	keys *vault.RowKeys

	mu   sync.Mutex
	data stateData
}

type stateData struct {
	Format       int       `json:"format"` // 1
	Installation string    `json:"installation"`
	Marked       bool      `json:"marked"`
	Time         time.Time `json:"time"` // when it was written
	// Checkpoint is the newest one of the log.
	Checkpoint string `json:"checkpoint"`
}

// stateFile is what is in the file.
type stateFile struct {
	stateData
	Code string `json:"code"` // hex
}

// statePath is where the state is kept, "" for nowhere.
func statePath(c *config.Config, masterKey string) string {
	if c.Log.State != "" {
		return c.Log.State
	}
	if kind, path, _ := strings.Cut(masterKey, ":"); kind == "file" || kind == "passphrase" || kind == "seal" {
		return path + ".state"
	}
	if path, ok := strings.CutPrefix(c.Store, "sqlite:"); ok {
		return filepath.Join(filepath.Dir(path), "latchkey-state.json")
	}
	return ""
}

// StateFile is the file that says that the database of a config is marked, ""
// when there is none.
func StateFile(c *config.Config) string {
	for _, masterKey := range []string{c.MasterKey, c.PreviousMasterKey} {
		// While the master key is replaced, the file may be beside the one before.
		if path := statePath(c, masterKey); path != "" && !missing(path) {
			return path
		}
	}
	return ""
}

// oldCopy refuses a database that is not marked, beside a file that says that
// it was.
func oldCopy(path string) error {
	return integrity("%s says that the rows of this installation's database are marked, and in this database they are not, or it is empty. "+
		"Perhaps a copy from an earlier time was put in place, or the store is another one than before. "+
		"Put the right database in place. If the old one, or a new one, is meant to take its place, move %s away first; "+
		"an old one is then adopted with latchkey migrate --adopt, and what was done since is lost", path, path)
}

func integrity(format string, args ...any) error {
	return fault.New(fault.DataLoss, fault.ReasonIntegrity, string(fault.ReasonIntegrity)+": "+format, args...)
}

// openState reads the state and compares it with the database, or makes it.
func openState(c *config.Config, rows *vault.RowKeys, installation string, isNew bool, log *slog.Logger) (*State, error) {
	s := &State{path: statePath(c, c.MasterKey), keys: rows}
	s.data = stateData{Format: 1, Installation: installation, Marked: true}
	if s.path == "" {
		log.Warn("nothing is remembered outside of the database: an old copy of it that is put in its place is not noticed; set log.state to a file")
		return s, nil
	}
	if err := secretfile.Tidy(s.path); err != nil {
		log.Warn("what a server left that died while it wrote its state cannot be removed", "error", err)
	}
	found := StateFile(c)
	if found != "" {
		if err := s.read(found); err != nil {
			return nil, err
		}
		if found == s.path {
			return s, nil
		}
	}
	err := s.write()
	switch {
	case err != nil && c.Log.State == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		log.Warn("nothing is remembered outside of the database: the file beside the master key cannot be written; set log.state to another one",
			"file", s.path, "error", err)
		s.path = ""
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("log.state: %w", err)
	case found == "" && !isNew:
		log.Warn("the file that says which database is this server's own was missing and was made anew", "file", s.path, "installation", installation)
	}
	return s, nil
}

// read takes over what a file says, if it is of this installation.
func (s *State) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("log.state: %w", err)
	}
	return s.parse(path, text)
}

// parse takes over the text of a file.
func (s *State) parse(path string, text []byte) error {
	var file stateFile
	err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true))
	if err == nil && file.Installation != s.data.Installation {
		return integrity("%s is of another installation (%.40q) than this database (%q). "+
			"Perhaps another database was put in place, or two databases share one master key file: then give each a file of its own in log.state. "+
			"If this database is the right one, move %s away, and it is made anew", path, file.Installation, s.data.Installation, path)
	}
	if err == nil {
		var code []byte
		if code, err = s.code(file.stateData); err == nil && !hmac.Equal([]byte(hex.EncodeToString(code)), []byte(file.Code)) {
			err = errors.New("its code is not right")
		}
	}
	if err == nil && (file.Format != s.data.Format || !file.Marked) {
		err = errors.New("it has an unknown form")
	}
	if err != nil {
		return integrity("%s is damaged, or was changed by another program (%v). "+
			"If you are certain that this database is the newest, move the file away, and it is made anew", path, err)
	}
	s.data = file.stateData
	return nil
}

func (s *State) code(data stateData) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return s.keys.AuthenticateState(text)
}

// write makes the file, whole or not at all. The caller holds the lock, or is
// alone.
func (s *State) write() error {
	s.data.Time = time.Now().UTC()
	code, err := s.code(s.data)
	if err != nil {
		return err
	}
	text, err := json.Marshal(stateFile{s.data, hex.EncodeToString(code)}, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return secretfile.Write(s.path, append(text, '\n'))
}

// Checkpoint is the newest checkpoint of the log that is remembered, "" when
// there is none.
func (s *State) Checkpoint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.Checkpoint
}

// SetCheckpoint remembers a checkpoint of the log. It is durable when this
// returns, if there is a place for it.
func (s *State) SetCheckpoint(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data.Checkpoint = text
	if s.path == "" {
		return nil
	}
	return s.write()
}
