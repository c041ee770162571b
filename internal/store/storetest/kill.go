package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"latchkey/internal/store"
)

// maxWait is how long to wait for any event on a busy machine.
const maxWait = 2 * time.Minute

// Variables that make a test binary the child process of [RunKill].
const (
	envTarget = "LATCHKEY_STORETEST_TARGET"
	envRound  = "LATCHKEY_STORETEST_ROUND"
)

// KillChild must be called first in TestMain. In a process that [RunKill]
// started it opens the target and commits until it is killed; otherwise it
// does nothing.
func KillChild(open func(ctx context.Context, target string) (store.Driver, error)) {
	target := os.Getenv(envTarget)
	if target == "" {
		return
	}
	ctx := context.Background()
	db, err := open(ctx, target)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	work(ctx, db, os.Getenv(envRound), func(line string) {
		mu.Lock()
		defer mu.Unlock()
		// Not buffered: a line in the pipe survives the process.
		if _, err := os.Stdout.WriteString(line + "\n"); err != nil {
			os.Exit(1)
		}
	})
	fmt.Fprintln(os.Stderr, "the driver failed by itself")
	os.Exit(1)
}

// RunKill lets a child process commit to the target, kills it at a random
// moment, and checks that everything it was told to be done is there, whole.
// It does so kills times over the same database.
func RunKill(t *testing.T, kills int, target string, open func(t *testing.T) store.Driver) {
	l := newLedger()
	for round := range kills {
		killOnce(t, l, target, round)
		db := open(t)
		l.check(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t)
	defer func() { _ = db.Close() }()
	l.checkAll(t, db)
	// Every tenth child may be killed before it comes to anything.
	if l.count < kills-(kills+9)/10 {
		t.Errorf("only %d commits in %d rounds: this proves nothing", l.count, kills)
	}
	t.Logf("%d kills, %d acknowledged commits", kills, l.count)
}

// killOnce runs one child. Every tenth is killed while it opens the database
// or just after.
func killOnce(t *testing.T, l *ledger, target string, round int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), envTarget+"="+target, fmt.Sprintf("%s=%d", envRound, round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill := func(within time.Duration) {
		once.Do(func() {
			time.AfterFunc(time.Millisecond+rand.N(within), func() { _ = cmd.Process.Kill() })
		})
	}
	if round%10 == 0 {
		kill(60 * time.Millisecond)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		kill(40 * time.Millisecond)
		l.ack(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("reading what the child acknowledged: %v", err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v", err)
	}
}

// RunCrash commits, lets crash end the database server at a random moment and
// start it again, and checks the same as [RunKill]: through the driver that was
// open all the time and through a new one.
func RunCrash(t *testing.T, crashes int, open func(t *testing.T) store.Driver, crash func(t *testing.T)) {
	l := newLedger()
	for round := range crashes {
		db := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan struct{})
		var once sync.Once
		var wg sync.WaitGroup
		wg.Go(func() {
			work(ctx, db, fmt.Sprint(round), func(line string) {
				l.ack(line)
				once.Do(func() { close(first) })
			})
		})
		select {
		case <-first:
		case <-time.After(maxWait):
			t.Fatal("nothing was committed")
		}
		time.Sleep(time.Millisecond + rand.N(40*time.Millisecond))
		crash(t)
		cancel()
		wg.Wait()

		deadline := time.Now().Add(maxWait)
		for db.Ready(t.Context()) != nil && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		l.check(t, db)
		commit(t, db, &store.Commit{Org: fmt.Sprint("after crash ", round), Activity: activity("a")}, nil)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t)
		l.checkAll(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d crashes, %d acknowledged commits", crashes, l.count)
}
