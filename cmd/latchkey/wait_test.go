package main

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"latchkey/internal/server"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// status CONFIG N waits until so many servers have told that they run.
func status(ts *testscript.TestScript, _ bool, args []string) {
	var last string
	if !testkit.Await(func() bool {
		command := exec.Command("latchkey", "status", "--config", ts.MkAbs(args[0]), "--json")
		command.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
		text, err := command.Output()
		last = string(text)
		var s server.Status
		return err == nil && json.Unmarshal(text, &s) == nil && len(s.Nodes) == int(args[1][0]-'0')
	}) {
		ts.Fatalf("not %s servers: %s", args[1], last)
	}
}

// TestWaitForDatabase: a server and init that wait come up when the database does;
// without --wait they end at once, and what waiting does not help ends them too.
func TestWaitForDatabase(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t)
	store := database.URL(t)
	dir, listen := t.TempDir(), testkit.Reserve(t)
	file := filepath.Join(dir, "latchkey.yaml")
	text := "listen: " + listen + "\nstore: " + store + "\ntimeouts: {lameDuck: 0}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	public, err := exec.Command("latchkey", "keygen", "--out", filepath.Join(dir, "key")).Output()
	if err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--config", file}
	create := []string{"init", "--config", file, "--organization", "Acme", "--user", "Ada", "--public-key", strings.TrimSpace(string(public))}
	database.Kill(t)
	for _, args := range [][]string{serve, create} {
		out, err := exec.Command("latchkey", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "opening the PostgreSQL database") || strings.Contains(string(out), "is away") {
			t.Errorf("without --wait: %v\n%s", err, out)
		}
	}
	out, err := exec.Command("latchkey", append(serve, "--wait", "1s")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the database is away; it is tried again") || !strings.Contains(string(out), "after 1s: opening the PostgreSQL database") {
		t.Errorf("for a second: %v\n%s", err, out)
	}

	var waiting []*exec.Cmd
	var logs []*lockedLog
	wait := func(args []string) {
		t.Helper()
		log := new(lockedLog)
		command := exec.Command("latchkey", append(args, "--wait", "10m")...)
		command.Stderr = log
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
		waiting, logs = append(waiting, command), append(logs, log)
		testkit.Until(t, "it waits", func() bool { return strings.Contains(log.String(), "the database is away; it is tried again") })
	}
	wait(serve)
	stop(t, waiting[0]) // ends well: it did what it was asked
	if !strings.Contains(logs[0].String(), "stopped before it was ready") {
		t.Errorf("stopped while it waited:\n%s", logs[0])
	}
	wait(create)
	wait(serve)
	database.Restart(t)
	if err := waiting[1].Wait(); err != nil {
		t.Errorf("init: %v\n%s", err, logs[1])
	}
	testkit.Until(t, "the server answers", func() bool { return answers("http://" + listen) })
	stop(t, waiting[2])

	wrong := filepath.Join(dir, "wrong.yaml")
	other, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	other.Path += "_none"
	if err := os.WriteFile(wrong, []byte(strings.Replace(text, store, other.String(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = exec.Command("latchkey", "serve", "--config", wrong, "--wait", "10m").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "create it first (CREATE DATABASE)") {
		t.Errorf("a database that does not exist: %v\n%s", err, out)
	}
}

// lockedLog is a log that is read while it is written.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
