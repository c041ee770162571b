package main

import (
	"database/sql"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// The scripts in testdata run the real program the way a person does.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", endAtOnce())
	testscript.Main(tests{m}, map[string]func(){"latchkey": main, "unlocked": runUnlocked, "smallfiles": runSmallFiles, "receiver": runReceiver})
}

// endAtOnce are the settings of the race detector, without the second for which
// it puts off the end of a program, to hear of races until the last moment: the
// program is run some hundred times.
func endAtOnce() string { return strings.TrimSpace("atexit_sleep_ms=0 " + os.Getenv("GORACE")) }

// tests stops the private PostgreSQL after the last test.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	// Most of what is tested here waits for another process.
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set("4")
	}
	return pgtest.Main(t.m)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready":   ready,
			"mode":    mode,
			"envfile": envfile,
			"serving": serving,
			"unready": unready,
			// wellknown DIR FILE: the keys of the log of a dev server.
			"wellknown": wellknown,
			// cosigned DIR NAME: a witness has cosigned its newest checkpoint.
			"cosigned": cosigned,
			"message":  message,
			// status CONFIG N: so many servers have told that they run.
			"status":  status,
			"logged":  logged,
			"receipt": receipt,
			"logkeys": logkeys,
			// witnesskeys DIR: the keys of a witness.
			"witnesskeys": witnesskeys,
			"sql":         runSQL,
			"checkpoint":  checkpoint,
			// postgres makes a database: its URL is $POSTGRES.
			"postgres": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("POSTGRES", pgtest.URL(t)) },
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("ADDRESS", testkit.Reserve(t))
			documents, err := filepath.Abs("../../docs")
			e.Setenv("DOCS", documents)
			return err
		},
	})
}

// answers reports whether a server is ready.
func answers(url string) bool {
	reply, err := http.Get(url + "/readyz")
	if err != nil {
		return false
	}
	reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// ready DIR waits until the dev server of a data folder answers.
func ready(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	if !testkit.Await(func() bool {
		f, err := readDevFile(dir)
		if err != nil || f.BaseURL == "" || !answers(f.BaseURL) {
			return false
		}
		ts.Setenv("URL", f.BaseURL)
		ts.Setenv("ORGANIZATION", f.OrganizationID)
		return true
	}) {
		ts.Fatalf("no server became ready in %s", dir)
	}
}

// serving waits until a server answers at $ADDRESS.
func serving(ts *testscript.TestScript, _ bool, _ []string) {
	if !testkit.Await(func() bool { return answers("http://" + ts.Getenv("ADDRESS")) }) {
		ts.Fatalf("no server became ready at %s", ts.Getenv("ADDRESS"))
	}
}

// logged FILE TEXT waits until a file holds a text.
func logged(ts *testscript.TestScript, _ bool, args []string) {
	if !testkit.Await(func() bool {
		text, _ := os.ReadFile(ts.MkAbs(args[0])) // it may not be there yet
		return strings.Contains(string(text), args[1])
	}) {
		ts.Fatalf("%s does not say %q", args[0], args[1])
	}
}

// runSQL FILE STATEMENT changes a database behind the back of the program.
func runSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	result, err := db.Exec(args[1])
	ts.Check(err)
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("%s changed nothing: %v", args[1], err)
	}
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
	pattern := filepath.Join(ts.MkAbs(args[0]), "[^.]*.eml")
	var names []string // sorted by time
	if !testkit.Await(func() bool {
		names, err = filepath.Glob(pattern)
		ts.Check(err)
		return len(names) >= want
	}) || len(names) != want {
		ts.Fatalf("%s holds %d mails, not %d", args[0], len(names), want)
	}
	text, err := os.ReadFile(names[want-1])
	ts.Check(err)
	info, err := os.Stat(names[want-1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), text, info.Mode()))
}
