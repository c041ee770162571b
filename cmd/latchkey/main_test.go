package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"latchkey/internal/pgtest"
)

// The scripts in testdata run the real program the way a person does.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"latchkey": main})
}

// tests stops the private PostgreSQL after the last test.
type tests struct{ m *testing.M }

func (t tests) Run() int { return pgtest.Main(t.m) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready":   ready,
			"mode":    mode,
			"envfile": envfile,
			"serving": serving,
			"message": message,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTGRES", pgtest.URL(t))
			// Somebody else could take the port before the script does; that
			// is rare enough, and fails loudly.
			probe, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Setenv("ADDRESS", probe.Addr().String())
			return probe.Close()
		},
	})
}

// ready DIR waits until the dev server of a data folder answers.
func ready(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for range 2400 { // a minute
		if f, err := readDevFile(dir); err == nil && f.BaseURL != "" {
			if reply, err := http.Get(f.BaseURL + "/readyz"); err == nil {
				reply.Body.Close()
				if reply.StatusCode == http.StatusOK {
					ts.Setenv("URL", f.BaseURL)
					ts.Setenv("ORGANIZATION", f.OrganizationID)
					return
				}
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("no server became ready in %s", dir)
}

// serving waits until a server answers at $ADDRESS.
func serving(ts *testscript.TestScript, _ bool, _ []string) {
	for range 2400 { // a minute
		if reply, err := http.Get("http://" + ts.Getenv("ADDRESS") + "/readyz"); err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("no server became ready at %s", ts.Getenv("ADDRESS"))
}

// mode PERMISSIONS FILE checks the permissions of a file.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := info.Mode().Perm().String(); (got == args[0]) == neg {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}

// envfile NAME FILE puts the text of a file into a variable.
func envfile(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Clean(ts.MkAbs(args[1])))
	ts.Check(err)
	ts.Setenv(args[0], string(text[:len(text)-1]))
}

// message DIR N FILE waits until an outbox holds N mails, and copies the newest
// one.
func message(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	for range 400 {
		names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "[^.]*.eml")) // sorted by time
		ts.Check(err)
		if len(names) == want {
			newest := names[want-1]
			text, err := os.ReadFile(newest)
			ts.Check(err)
			info, err := os.Stat(newest)
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), text, info.Mode()))
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("%s does not hold %d mails", args[0], want)
}
