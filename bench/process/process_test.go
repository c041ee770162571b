package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"latchkey/bench/process"
)

func TestStart(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c, err := process.Start(log, "sh", "-c", `echo 'starting up'; echo '{"msg":"ready","address":"http://127.0.0.1:1","more":1}'; exec sleep 100`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (process.Line{Message: "ready", Address: "http://127.0.0.1:1"}); c.Ready != want {
		t.Errorf("got %+v, want %+v", c.Ready, want)
	}
	if _, err := process.CPU(c.PID); err != nil {
		t.Error(err)
	}
	if bytes, err := process.Resident(c.PID); err != nil || bytes < 100<<10 || bytes > 100<<20 {
		t.Errorf("sleep takes %d bytes, %v", bytes, err)
	}
	if age := time.Since(c.Began); age <= 0 || age > time.Minute {
		t.Errorf("it began %v ago", age)
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
	before := process.Total(mine)
	if before <= 0 {
		t.Fatal("no time was used so far")
	}
	for begun := time.Now(); time.Since(begun) < 200*time.Millisecond && process.Total(mine)-before < 20*time.Millisecond; {
	}
	used := process.Total(mine) - before
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	if used < 10*time.Millisecond {
		t.Errorf("computing used only %v", used)
	}
	account := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	if difference := process.Total(mine) - account; difference < -50*time.Millisecond || difference > 50*time.Millisecond {
		t.Errorf("the clock differs from getrusage by %v", difference)
	}
}
