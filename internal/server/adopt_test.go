package server_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
)

type m = map[string]any

var quiet = slog.New(slog.DiscardHandler)

// TestAdoption: a database of an earlier version is refused, adopted, and then
// everything is there and works, also with another master key.
func TestAdoption(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		dir := t.TempDir()
		source := func(name string) string { return "file:" + filepath.Join(dir, name) }
		c := &config.Config{Store: url, MasterKey: source("old")}
		s := servertest.StartWith(t, url, config.Default(), source("old"), "")
		root := s.Root
		member := s.NewUser(t, root, "Member", client.P256)
		key := root.Submit(t, "create_private_keys", m{"privateKeys": []any{m{
			"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
		}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
		root.Submit(t, "create_policy", m{
			"policyName": "tags together", "effect": "EFFECT_ALLOW", "notes": "",
			"condition": "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'", "consensus": "approvers.count() >= 2",
		})
		waiting := member.MustPost(t, "create_user_tag", member.Body(t, "create_user_tag", m{"userTagName": "together", "userIds": []any{}})).Get("activity")
		if got := waiting.Get("status").Text(); got != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
			t.Fatalf("the activity is %s", got)
		}
		signed := sign(t, root, key)
		if _, err := server.Adopt(t.Context(), c, quiet, func(store.Adoption) {}); err == nil || !strings.Contains(err.Error(), "stop") {
			t.Errorf("beside a running server: %v", err)
		}
		s.Stop(t)
		asEarlier(t, c)

		if err := openOnce(t, c); !errors.Is(err, server.ErrNotAdopted) {
			t.Fatalf("before the adoption: %v", err)
		}
		heard := 0
		done, err := server.Adopt(t.Context(), c, quiet, func(store.Adoption) { heard++ })
		if err != nil || done.Organizations != 1 || done.Rows == 0 || done.Activities < 5 || heard == 0 {
			t.Fatalf("adopting: %+v, %d, %v", done, heard, err)
		}
		if _, err := server.Adopt(t.Context(), c, quiet, nil); !errors.Is(err, store.ErrAdopted) {
			t.Errorf("once more: %v", err)
		}

		s = servertest.StartWith(t, url, config.Default(), source("old"), "")
		root = s.As(root)
		if sign(t, root, key) != signed {
			t.Error("the key signs otherwise")
		}
		if n := len(root.Query(t, "list_users", nil).Get("users").List()); n != 2 {
			t.Errorf("%d users", n)
		}
		if n := len(root.Query(t, "list_activities", nil).Get("activities").List()); n < 6 {
			t.Errorf("%d activities", n)
		}
		approved := root.Submit(t, "approve_activity", m{"fingerprint": waiting.Get("fingerprint").Text()})
		if got := approved.Get("status").Text(); got != "ACTIVITY_STATUS_COMPLETED" {
			t.Errorf("the vote is %s", got)
		}
		tags := root.Query(t, "list_user_tags", nil).Get("userTags").List()
		if len(tags) != 1 {
			t.Errorf("%d tags after the vote", len(tags))
		}
		s.Stop(t)

		if err := unseal.Create(filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		s = servertest.StartWith(t, url, config.Default(), source("new"), source("old"))
		if _, err := server.Rewrap(t.Context(), s.Store, s.Keys.Vault); err != nil {
			t.Fatal(err)
		}
		s.Stop(t)
		s = servertest.StartWith(t, url, config.Default(), source("new"), "")
		if sign(t, s.As(root), key) != signed {
			t.Error("the key signs otherwise under the new master key")
		}
		if log := s.Log.Complaints(); strings.Contains(log, "made anew") {
			t.Errorf("the state file was not taken along with the new master key: %s", log)
		}
		s.Stop(t)
	})
}

// TestAdoptionAgain: an adoption that was killed after its last row is ended by the
// next, with a master key that can be read only once; the log has both.
func TestAdoptionAgain(t *testing.T) {
	c := &config.Config{Store: servertest.SQLite(t), MasterKey: "env:LATCHKEY_TEST_MASTER_KEY"}
	c.Log.State = filepath.Join(t.TempDir(), "state.json")
	adopt := func() error {
		t.Setenv("LATCHKEY_TEST_MASTER_KEY", strings.Repeat("4a", 32))
		_, err := server.Adopt(t.Context(), c, quiet, func(store.Adoption) {})
		return err
	}
	wantNotes := func(want int) {
		t.Helper()
		db, err := sql.Open("sqlite", strings.TrimPrefix(c.Store, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var n int
		err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM log_entries WHERE instr(body, ?) > 0", []byte(store.LogAdopted)).Scan(&n)
		if err != nil || n != want {
			t.Errorf("%d notes, not %d (%v)", n, want, err)
		}
	}
	t.Setenv("LATCHKEY_TEST_MASTER_KEY", strings.Repeat("4a", 32))
	if err := openOnce(t, c); err != nil {
		t.Fatal(err)
	}
	asEarlier(t, c)
	if err := adopt(); err != nil || server.StateFile(c) == "" {
		t.Fatalf("%v; the state file is %q", err, server.StateFile(c))
	}
	wantNotes(1)
	if err := adopt(); !errors.Is(err, store.ErrAdopted) {
		t.Errorf("once more: %v", err)
	}
	wantNotes(1)
	if err := os.Remove(c.Log.State); err != nil { // as if it had been killed before
		t.Fatal(err)
	}
	if err := adopt(); !errors.Is(err, store.ErrAdopted) || server.StateFile(c) == "" {
		t.Errorf("after a kill: %v; the state file is %q", err, server.StateFile(c))
	}
	wantNotes(2)
}

// TestOldCopy: what was adopted once is not taken without its marks again, nor
// made anew.
func TestOldCopy(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		c := &config.Config{Store: url, MasterKey: "file:" + filepath.Join(t.TempDir(), "master.key")}
		if err := openOnce(t, c); err != nil {
			t.Fatal(err)
		}
		state := server.StateFile(c)
		asEarlier(t, c)
		if server.StateFile(c) != "" {
			t.Fatal("an earlier version had no state file")
		}
		if _, err := server.Adopt(t.Context(), c, quiet, func(store.Adoption) {}); err != nil {
			t.Fatal(err)
		}
		if server.StateFile(c) != state || state == "" {
			t.Fatalf("the state file is %q", server.StateFile(c))
		}
		unmark(t, url)
		_, err := server.Adopt(t.Context(), c, quiet, func(store.Adoption) {})
		wantIntegrity(t, err, "an earlier time")
		wantIntegrity(t, openOnce(t, c), "an earlier time")
	})
}

// TestState: a checkpoint of the log is remembered, and what was changed is not
// taken.
func TestState(t *testing.T) {
	c := &config.Config{Store: servertest.SQLite(t), MasterKey: "file:" + filepath.Join(t.TempDir(), "master.key")}
	c.Log.State = filepath.Join(t.TempDir(), "state.json")
	for i, want := range []string{"", "first", "second"} {
		s, keys := openKeys(t, c)
		if got := keys.State.Checkpoint(); got != want {
			t.Errorf("start %d finds %q, not %q", i, got, want)
		}
		if err := keys.State.SetCheckpoint([]string{"first", "second", "third"}[i]); err != nil {
			t.Error(err)
		}
		keys.Vault.Close()
		s.Close()
	}
	text, err := os.ReadFile(c.Log.State)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(text); i += 16 {
		changed := slices.Clone(text)
		if changed[i] ^= 1; strings.ContainsAny(string(text[i:i+1])+string(changed[i:i+1]), " \n") {
			continue // space between members
		}
		if err := os.WriteFile(c.Log.State, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		wantIntegrity(t, openOnce(t, c), c.Log.State)
	}
}

func sign(t *testing.T, by *servertest.Caller, key string) string {
	t.Helper()
	return by.Submit(t, "sign_raw_payload", m{
		"signWith": key, "payload": "hello", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256",
	}).Get("result", "signRawPayloadResult", "r").Text()
}

// asEarlier brings a database, and what is beside the master key, to the form of
// a version that marked no rows.
func asEarlier(t *testing.T, c *config.Config) {
	t.Helper()
	unmark(t, c.Store)
	if err := os.Remove(server.StateFile(c)); err != nil {
		t.Fatal(err)
	}
}

func unmark(t *testing.T, url string) {
	t.Helper()
	var db store.Driver
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		db, err = sqlite.Open(t.Context(), path, sqlite.Config{})
	} else {
		db, err = postgres.Open(t.Context(), url, postgres.Config{})
	}
	if err != nil {
		t.Fatal(err)
	}
	storetest.Unmark(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func openKeys(t *testing.T, c *config.Config) (*store.Store, server.KeyServices) {
	t.Helper()
	s, err := server.OpenStore(t.Context(), c.Store)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := server.OpenKeys(t.Context(), s, c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return s, keys
}

// openOnce opens and closes store and keys.
func openOnce(t *testing.T, c *config.Config) error {
	t.Helper()
	s, err := server.OpenStore(context.Background(), c.Store)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keys, err := server.OpenKeys(t.Context(), s, c, quiet)
	if err == nil {
		keys.Vault.Close()
	}
	return err
}

func wantIntegrity(t *testing.T, err error, text string) {
	t.Helper()
	refusal, ok := fault.As(err)
	if !ok || refusal.Reason != fault.ReasonIntegrity || refusal.Status() != http.StatusInternalServerError || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want a matter of integrity with %q", err, text)
	}
}

// TestNoPlaceForState: a master key without a file, and no folder of a database:
// the server runs, and says what it cannot notice.
func TestNoPlaceForState(t *testing.T) {
	c := &config.Config{Store: pgtest.URL(t), MasterKey: "env:LATCHKEY_TEST_MASTER_KEY"}
	log := new(servertest.Log)
	start := func() {
		t.Helper()
		t.Setenv("LATCHKEY_TEST_MASTER_KEY", strings.Repeat("4a", 32)) // it is unset when it is read
		s, err := server.OpenStore(t.Context(), c.Store)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		keys, err := server.OpenKeys(t.Context(), s, c, slog.New(slog.NewJSONHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		keys.Vault.Close()
	}
	start()
	if got := log.Complaints(); !strings.Contains(got, "set log.state to a file") {
		t.Errorf("the log says %q", got)
	}
	c.Log.State = filepath.Join(t.TempDir(), "state.json")
	start()
	if server.StateFile(c) != c.Log.State {
		t.Error("log.state is not used")
	}
	unmark(t, c.Store)
	t.Setenv("LATCHKEY_TEST_MASTER_KEY", strings.Repeat("4a", 32))
	wantIntegrity(t, openOnce(t, c), c.Log.State)
}
