package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"latchkey/bench/process"
)

func TestStart(t *testing.T) {
	dir := t.TempDir()
	// Nobody writes to it, so the shell waits there until it is ended.
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	c, err := process.Start(filepath.Join(dir, "log"), "sh", "-c",
		`echo 'starting up'; echo '{"msg":"ready","address":"http://127.0.0.1:1","more":1}'; read line < "$0"`, pipe)
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	if want := (process.Line{Message: "ready", Address: "http://127.0.0.1:1"}); c.Ready != want {
		t.Errorf("got %+v, want %+v", c.Ready, want)
	}
	if _, err := process.CPU(c.PID); err != nil {
		t.Error(err)
	}
	if bytes, err := process.Resident(c.PID); err != nil || bytes <= 0 {
		t.Errorf("it takes %d bytes, %v", bytes, err)
	}
	if c.Began.Before(before) || c.Began.After(after) {
		t.Errorf("it began at %v, want %v to %v", c.Began, before, after)
	}
	c.Stop()
	if err := syscall.Kill(c.PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := process.CPU(c.PID); err == nil {
		t.Error("a process that has ended has processor time")
	}
	if _, err := process.Resident(c.PID); err == nil {
		t.Error("a process that has ended has memory")
	}
	c.Stop() // does no harm
}

func TestStartFails(t *testing.T) {
	tests := []struct{ name, program, script, want string }{
		{"no program", "/nowhere/program", "", "no such file"},
		{"ends at once", "sh", "echo out of luck >&2; exit 3", "out of luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := process.Start(filepath.Join(t.TempDir(), "log"), tt.program, "-c", tt.script)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCPU(t *testing.T) {
	mine := []int{os.Getpid()}
	before := process.Read(mine)
	for begun := time.Now(); process.Read(mine).Since(before) < 20*time.Millisecond; {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("computing uses no processor time")
		}
	}
	// The clock that a process has for itself was read before and after, so it
	// is around what the clock by its number says.
	first, used, last := own(t), process.Read(mine)[os.Getpid()], own(t)
	if used < first || used > last {
		t.Errorf("got %v, want %v to %v", used, first, last)
	}
}

// own is the processor time of this process as everybody can ask for it.
func own(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

func TestSince(t *testing.T) {
	const ended, stayed, came = 1, 2, 3
	before := process.Reading{ended: time.Hour, stayed: time.Minute}
	after := process.Reading{stayed: time.Minute + 2*time.Second, came: time.Second}
	if got := after.Since(before); got != 3*time.Second {
		t.Errorf("got %v", got)
	}
	if got := after.Since(nil); got != time.Minute+3*time.Second {
		t.Errorf("of all: %v", got)
	}
}
