package audit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/audit"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
	"latchkey/internal/translog"
)

// exported runs an export.
func exported(t testing.TB, url, after, organization string) ([]*audit.Exported, int64, error) {
	t.Helper()
	opened, err := server.OpenAudited(t.Context(), &config.Config{Store: url, MasterKey: servertest.MasterKey(t, url)}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	var all []*audit.Exported
	x := &audit.Export{
		Image: opened.Image, Keys: opened.Rows, Catalog: catalog(), After: after, Organization: organization,
		Write: func(e *audit.Exported) error {
			all = append(all, e)
			return nil
		},
	}
	damaged, err := x.Run(t.Context())
	return all, damaged, err
}

// TestExport writes the log out beside a running server: in order, each entry
// once, from any cursor on.
func TestExport(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		s := w.start(t) // beside a running one
		all, damaged, err := exported(t, url, "", "")
		if err != nil || damaged > 0 || len(all) < len(w.now.log) {
			t.Fatalf("%d entries, %d damaged: %v", len(all), damaged, err)
		}
		for i, e := range all {
			r, err := translog.ParseRecord(e.Record)
			if err != nil || e.Index != int64(i) || len(e.Salt) != 64 {
				t.Errorf("entry %d: %+v: %v", i, e, err)
			}
			if (e.Activity == nil) != (r.ActivityID == "") || e.Activity != nil && e.Activity.ID != r.ActivityID {
				t.Errorf("entry %d: the record is of activity %q, and comes with %v", i, r.ActivityID, e.Activity)
			}
		}
		s.As(w.root).Submit(t, "sign_raw_payload", w.payload("aa"))
		w.server = s
		w.published()
		for _, from := range []int{0, len(all) / 2, len(all) - 1} {
			rest, _, err := exported(t, url, all[from].Cursor, "")
			if err != nil || len(rest) <= len(all)-from-1 || rest[0].Index != int64(from+1) {
				t.Errorf("after entry %d: %d more: %v", from, len(rest), err)
			}
		}
		of, _, err := exported(t, url, "", w.child)
		if err != nil || len(of) != 3 || !strings.Contains(of[0].Record, w.child) || !strings.Contains(of[2].Record, w.child) {
			t.Errorf("of the sub-organization: %v, %v", of, err)
		}
		cursor := all[3].Cursor
		for _, bad := range []string{"x", cursor + "A", cursor[:len(cursor)-1], strings.ToUpper(cursor), "AAAAAQAAAAAAAAAAAAAAAAAAAAA", "////"} {
			if rest, _, err := exported(t, url, bad, ""); !errors.Is(err, audit.ErrCursor) || len(rest) > 0 {
				t.Errorf("cursor %q: %d entries, %v", bad, len(rest), err)
			}
		}
	})
}

// TestExportHidesSecrets: what serves its holder is for the submitter alone.
func TestExportHidesSecrets(t *testing.T) {
	url := servertest.SQLite(t)
	w := newWorld(t, url)
	s := w.start(t)
	login := s.As(w.root).Submit(t, "create_read_write_session", m{"targetPublicKey": w.ada.Key.PublicKey(), "apiKeyName": "session"})
	secret := login.Get("result", "createReadWriteSessionResultV2", "credentialBundle").Text()
	w.server = s
	w.published()
	all, _, err := exported(t, url, "", "")
	if err != nil {
		t.Fatal(err)
	}
	newest := all[len(all)-1]
	if newest.Activity == nil || newest.Activity.ID != login.Get("id").Text() {
		t.Fatalf("the newest entry: %+v", newest)
	}
	if text := fmt.Sprintf("%+v %s", newest, newest.Activity.Result); secret == "" || strings.Contains(text, secret) {
		t.Errorf("a session is exported: %s", text)
	}
}

// TestExportDamaged: what is not ours is left out, and counted.
func TestExportDamaged(t *testing.T) {
	url := servertest.SQLite(t)
	w := newWorld(t, url)
	changed := w.now.clone()
	changed.log[5].body[70] ^= 1
	w.db.write(changed)
	all, damaged, err := exported(t, url, "", "")
	if err != nil || damaged != 1 || len(all) != len(changed.log)-1 {
		t.Errorf("%d entries of %d, %d damaged: %v", len(all), len(changed.log), damaged, err)
	}
}
