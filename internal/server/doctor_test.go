package server_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/test/pgtest"
)

// A machine that is slow, or stood still while the database was asked, has no wrong
// clock.
func TestDoctorTellsSlownessFromAWrongClock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "latchkey.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\nstore: "+pgtest.URL(t)+"\nmasterKey: file:"+filepath.Join(dir, "master.key")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const long = time.Hour
	for name, test := range map[string]struct {
		first, later time.Duration // what the clock says first, and from then on, against the right time
		wrong        bool
	}{
		"right":           {},
		"slow":            {first: -long},
		"behind":          {first: -long, later: -long, wrong: true},
		"ahead":           {first: long, later: long, wrong: true},
		"behind and slow": {first: -2 * long, later: -long, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			off := test.first
			found, err := server.Examine(t.Context(), file, server.Examining{Now: func() time.Time {
				now := time.Now().Add(off)
				off = test.later
				return now
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found.Checks {
				if c.Name == "clock" {
					if wrong := c.Status == server.CheckFail; wrong != test.wrong {
						t.Errorf("%+v", c)
					}
					return
				}
			}
			t.Errorf("the clock was not looked at: %+v", found.Checks)
		})
	}
}
