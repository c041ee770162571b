package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/secretfile"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

// What happens to the installation itself is in the log too; see [store.Note].

// noteStart records that a server starts, with its version and config.
func noteStart(ctx context.Context, s *store.Store, c *config.Config, installation, version string) error {
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	return note(ctx, s, store.Note{Installation: installation, Kind: store.LogStarted, Status: version, Digest: digest})
}

func note(ctx context.Context, s *store.Store, n store.Note) error {
	return s.Instance(ctx, func(tx *store.Tx) error {
		tx.Note(n)
		return nil
	})
}

// restored is what a restore leaves for the next server, which has the keys that the
// log needs: in a file beside the database.
type restored struct {
	SHA256 string `json:"sha256"` // of the backup
}

func restoredPath(c *config.Config) string {
	path, ok := strings.CutPrefix(c.Store, "sqlite:")
	if !ok {
		return ""
	}
	return path + ".restored"
}

// LeaveRestored lets the next server record that a backup was restored.
func LeaveRestored(c *config.Config, sha256 string) error {
	text, err := json.Marshal(restored{sha256})
	if err != nil {
		return err
	}
	return secretfile.Write(restoredPath(c), append(text, '\n'))
}

// noteRestored records that a backup was restored, if one was.
func noteRestored(ctx context.Context, s *store.Store, c *config.Config, installation string) error {
	path := restoredPath(c)
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var left restored
	if err == nil {
		err = json.Unmarshal(text, &left)
	}
	if err != nil {
		return fmt.Errorf("%s, which says what was restored, cannot be read: %w", path, err)
	}
	if err := note(ctx, s, store.Note{Installation: installation, Kind: store.LogRestored, Digest: left.SHA256}); err != nil {
		return err
	}
	return os.Remove(path)
}
