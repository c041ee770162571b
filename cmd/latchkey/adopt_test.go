package main

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"latchkey/internal/server/config"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/servertest"
)

// TestAdoptionKilled kills the adoption again and again, wherever it is, and lets
// it end: then a server finds everything as it was.
func TestAdoptionKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	master, path := filepath.Join(dir, "master.key"), filepath.Join(dir, "latchkey.db")
	s := servertest.StartWith(t, "sqlite:"+path, config.Default(), "file:"+master, "")
	owners := map[*servertest.Caller]string{}
	signed := map[*servertest.Caller]string{}
	sign := func(owner *servertest.Caller) string {
		return owner.Submit(t, "sign_raw_payload", payload(owners[owner], "hello")).Get("result", "signRawPayloadResult", "r").Text()
	}
	for i := range 20 {
		owner := s.CreateOrganization(t, fmt.Sprint("organization ", i))
		owners[owner] = owner.Submit(t, "create_private_keys", map[string]any{"privateKeys": []any{map[string]any{
			"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
		}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
		signed[owner] = sign(owner)
	}
	s.Stop(t)

	// How long a start takes is the machine's business: now it is killed before
	// it begins, now while it is at work. When it was faster, it begins again.
	const kills = 20
	longest := 10 * time.Millisecond
	begun := 0
	for range kills {
		if exists(master + ".state") {
			asEarlier(t, path, master+".state")
		}
		command := exec.Command("latchkey", "migrate", "--adopt", "--data", dir)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(longest))
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		longest += 10 * time.Millisecond
		if at, err := os.Stat(path + "-wal"); err == nil && at.Size() > 0 && !exists(master+".state") {
			begun++
		}
	}
	if out, err := exec.Command("latchkey", "migrate", "--adopt", "--data", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("of %d kills %d left something half done", kills, begun)
	s = servertest.StartWith(t, "sqlite:"+path, config.Default(), "file:"+master, "")
	for owner, before := range signed {
		here := s.As(owner)
		owners[here] = owners[owner]
		if sign(here) != before {
			t.Error("a key signs otherwise")
		}
		if n := len(here.Query(t, "list_activities", nil).Get("activities").List()); n != 3 {
			t.Errorf("%d activities", n)
		}
	}
	if found := s.Log.Complaints(); found != "" {
		t.Errorf("the server complained: %s", found)
	}
}

// asEarlier brings a database to the form of a version that marked no rows and
// had no state file and no log.
func asEarlier(t *testing.T, path, state string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Unmark(t, db)
	if err := errors.Join(db.Close(), os.Remove(state)); err != nil {
		t.Fatal(err)
	}
	file, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.ExecContext(t.Context(), "DELETE FROM log_entries")
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
