package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"latchkey/internal/test/testkit"
)

// runUnlocked is the program `unlocked PROGRAM ARGUMENTS…`: it runs a program
// that may lock no memory. To root the limit does not apply, because of
// CAP_IPC_LOCK; a program that is started after the capability was taken out of
// the bounding set does not have it, whichever user runs it. Without the right to take
// it out there is none to take.
func runUnlocked() {
	runtime.LockOSThread() // the set is one of the thread
	err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_IPC_LOCK, 0, 0, 0)
	if errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
		err = nil
	}
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{})
	}
	becomeProgram(err)
}

// TestMemoryNotLocked: a server that may lock no memory runs, says so once, with
// what that means and what would be right, and its metrics say it too. One that
// may says nothing.
func TestMemoryNotLocked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		program []string
		warns   int
		metric  string
	}{
		{"refused", []string{"unlocked", "latchkey"}, 1, "latchkey_memory_locked 0"},
		{"allowed", []string{"latchkey"}, 0, "latchkey_memory_locked 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			cmd, log := exec.Command(tt.program[0], append(tt.program[1:], "dev", "--listen", "127.0.0.1:0", "--data", dir)...), new(strings.Builder)
			cmd.Stderr = log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s := &instance{cmd: cmd, dir: dir, log: log}
			t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // it has mostly ended already
			testkit.Until(t, "the server answers", s.ready)
			if err := s.whoami(); err != nil {
				t.Error(err)
			}
			reply, err := http.Get(s.dev.BaseURL + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			metrics, err := io.ReadAll(reply.Body)
			reply.Body.Close()
			if err != nil || !strings.Contains(string(metrics), "\n"+tt.metric+"\n") {
				t.Errorf("the metrics do not have %s: %v", tt.metric, err)
			}
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			warning := "memory with keys could not be locked: keys may be written to swap space. Raise the limit for locked memory (LimitMEMLOCK=64M"
			if n := strings.Count(log.String(), warning); n != tt.warns {
				t.Errorf("it warned %d times, not %d:\n%s", n, tt.warns, log)
			}
			if tt.warns > 0 && !strings.Contains(log.String(), "this process may lock 0 bytes (RLIMIT_MEMLOCK)") {
				t.Errorf("it does not say what failed:\n%s", log)
			}
		})
	}
}
