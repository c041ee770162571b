package witness

import (
	"bufio"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/internal/translog"
)

// TestMain is the witness of TestKilled, when that starts it.
func TestMain(m *testing.M) {
	dir := os.Getenv("WITNESS_TEST_FOLDER")
	if dir == "" {
		os.Exit(m.Run())
	}
	logs, err := translog.ParseKeys(strings.Fields(os.Getenv("WITNESS_TEST_LOG"))...)
	if err != nil {
		panic(err)
	}
	w, err := Open(dir, "", logs, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n", listener.Addr(), strings.Join(w.VerifierKeys().Texts(), " "))
	panic(http.Serve(listener, w.Handler()))
}

// startWitness starts a witness as a process of its own.
func startWitness(t *testing.T, dir string, logs translog.Keys) (*exec.Cmd, *Client) {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), "WITNESS_TEST_FOLDER="+dir, "WITNESS_TEST_LOG="+strings.Join(logs.Texts(), " "))
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, keys, _ := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient("http://"+address, keys)
	if err != nil {
		t.Fatal(err)
	}
	return program, c
}

// TestKilled kills the witness at random moments while a log and a fork of it send
// their checkpoints. It must never have cosigned both, nor forget what it cosigned.
func TestKilled(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	honest := newLog(t, testOrigin, 1)
	honest.grow(1, "")
	liar := honest.fork(0)
	liar.grow(1, "other")
	dir := t.TempDir()
	var largest int64
	var signed int
	for round := range 12 {
		program, c := startWitness(t, dir, honest.keys)
		if latest, err := c.Latest(t.Context(), testOrigin, honest.keys); err != nil || largest > 0 && (latest == nil || latest.Size < largest) {
			t.Fatalf("round %d: %d entries were cosigned; after the kill: %+v, %v", round, largest, latest, err)
		}
		var killed sync.WaitGroup
		for first := true; ; first = false {
			cosigned, err := c.Submit(t.Context(), honest.checkpoint(), honest.prover())
			if err != nil && first {
				t.Fatal(err)
			}
			if err != nil {
				break // killed
			}
			largest, signed = cosigned.Size, signed+1
			if first {
				killed.Go(func() {
					time.Sleep(time.Duration(random.IntN(40_000)) * time.Microsecond)
					_ = program.Process.Kill()
					_ = program.Wait()
				})
			}
			if _, err := c.Submit(t.Context(), liar.checkpoint(), liar.prover()); err == nil {
				t.Fatal("a fork is cosigned")
			}
			honest.grow(1+signed%3, "")
			liar.grow(1+signed%3, "other")
		}
		killed.Wait()
	}
	t.Logf("%d checkpoints were cosigned, up to %d entries", signed, largest)
}
