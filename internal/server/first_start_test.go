package server_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/keys/vault"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// firstStart opens the keys of a store, as a server does, and closes them.
func firstStart(ctx context.Context, s *store.Store, masterKey string) (identity string, err error) {
	keys, err := server.OpenKeys(ctx, s, &config.Config{MasterKey: masterKey}, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer keys.Vault.Close()
	return keys.ServerKeys.SignerPublicKey(), nil
}

func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := server.OpenStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestTwoFirstStarts starts two servers at once on a new database without a
// master key. With one file for both, one makes it and the other reads it. With a
// file each, as on two machines, one is refused, and leaves no file that could be
// taken for the key. Always a file is left that opens the database.
func TestTwoFirstStarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files [2]string
	}{
		{"one file", [2]string{"master.key", "master.key"}},
		{"a file each", [2]string{"a.key", "b.key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 8 {
				url, dir := pgtest.URL(t), t.TempDir()
				stores := [2]*store.Store{openStore(t, url), openStore(t, url)}
				var identities [2]string
				var errs [2]error
				var group sync.WaitGroup
				for i, file := range tt.files {
					group.Go(func() {
						identities[i], errs[i] = firstStart(t.Context(), stores[i], "file:"+filepath.Join(dir, file))
					})
				}
				group.Wait()
				var opened []string
				for i, err := range errs {
					switch {
					case err == nil:
						opened = append(opened, identities[i])
					case tt.files[0] == tt.files[1],
						!vault.IsWrongMasterKey(err) && !strings.Contains(err.Error(), "is missing, and this database has keys"):
						t.Errorf("refused: %v", err)
					}
				}
				left, err := filepath.Glob(filepath.Join(dir, "*.key"))
				if err != nil || len(left) != 1 || len(opened) == 0 {
					t.Fatalf("%d opened, files %v, %v", len(opened), left, errs)
				}
				again, err := firstStart(t.Context(), stores[0], "file:"+left[0])
				if err != nil {
					t.Fatalf("the key that is left does not open the database: %v", err)
				}
				for _, identity := range opened {
					if identity != again {
						t.Errorf("a server signs with %s, later ones with %s", identity, again)
					}
				}
			}
		})
	}
}

// TestFirstStartThatFails keeps the master key that it made: whether something
// is sealed under it is not known.
func TestFirstStartThatFails(t *testing.T) {
	t.Parallel()
	url := servertest.SQLite(t)
	s := openStore(t, url)
	db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	key := filepath.Join(t.TempDir(), "master.key")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := server.OpenKeys(ctx, s, &config.Config{MasterKey: "file:" + key}, slog.New(slog.DiscardHandler))
		failed <- err
	}()
	testkit.Until(t, "the key is made", func() bool { _, err := os.Stat(key); return err == nil })
	end()
	if err := <-failed; err == nil {
		t.Fatal("keys were sealed in a database that cannot be written")
	}
	if _, err := os.Stat(key); err != nil {
		t.Errorf("the key is gone: %v", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}
