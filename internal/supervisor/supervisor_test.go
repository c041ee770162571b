package supervisor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// systemd listens as systemd does, and hands on what it hears.
func systemd(t *testing.T) <-chan string {
	t.Helper()
	folder, err := os.MkdirTemp("", "notify") // its own: paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "socket")
	on, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = on.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	heard := make(chan string, 100)
	go func() {
		defer close(heard)
		for buffer := make([]byte, 4096); ; {
			n, err := on.Read(buffer)
			if err != nil {
				return
			}
			heard <- string(buffer[:n])
		}
	}()
	return heard
}

func TestTold(t *testing.T) {
	heard := systemd(t)
	s := FromEnvironment()
	if _, still := os.LookupEnv("NOTIFY_SOCKET"); still {
		t.Error("programs that this one starts could speak for it")
	}
	done := s.Waiting("waiting for the database")
	if got := <-heard; got != "STATUS=waiting for the database\nEXTEND_TIMEOUT_USEC=30000000" {
		t.Errorf("got %q", got)
	}
	done()
	s.Ready("serving")
	s.Status("reloaded")
	s.Stopping(25 * time.Second)
	for _, want := range []string{"READY=1\nSTATUS=serving", "STATUS=reloaded", "STOPPING=1\nSTATUS=shutting down\nEXTEND_TIMEOUT_USEC=25000000"} {
		if got := <-heard; got != want {
			t.Errorf("got %q, not %q", got, want)
		}
	}
}

// TestWatch: the watchdog hears from a server that works, and from no other.
func TestWatch(t *testing.T) {
	heard := systemd(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	s := FromEnvironment()
	ctx, stop := context.WithCancel(t.Context())
	var works atomic.Bool
	var asked atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Watch(ctx, func(context.Context) error {
			asked.Add(1)
			if works.Load() {
				return nil
			}
			return errors.New("no")
		})
	}()
	for asked.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	select {
	case got := <-heard:
		t.Errorf("heard %q of a server that does not work", got)
	default:
	}
	works.Store(true)
	if got := <-heard; !strings.HasPrefix(got, "WATCHDOG=1") {
		t.Errorf("got %q", got)
	}
	stop()
	<-ended
}

// TestNone: without systemd, and when the watchdog is for another process, nothing
// waits.
func TestNone(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	s := FromEnvironment()
	s.Ready("")
	s.Waiting("")()
	s.Watch(t.Context(), nil)
	heard := systemd(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", "1")
	FromEnvironment().Watch(t.Context(), nil)
	select {
	case got := <-heard:
		t.Errorf("heard %q", got)
	default:
	}
}
