package process

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	ready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	defer ready.Close()
	host := strings.TrimPrefix(ready.URL, "http://")
	c, err := Start(filepath.Join(t.TempDir(), "log"), host, "tail", "-f", "/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	if c.Ready != "/readyz" || len(ReadCPU(c.PID)) != 1 || Resident(c.PID) == 0 {
		t.Errorf("got %+v", c)
	}
	c.Stop()
	if err := syscall.Kill(c.PID, 0); !errors.Is(err, syscall.ESRCH) || len(ReadCPU(c.PID)) != 0 || Resident(c.PID) != 0 {
		t.Errorf("it is still there: %v", err)
	}
	if host, err = FreeHost(); err != nil {
		t.Fatal(err)
	}
	_, err = Start(filepath.Join(t.TempDir(), "log"), host, "sh", "-c", "echo out of luck >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("got %v", err)
	}
}

func TestSince(t *testing.T) {
	const ended, stayed, came = 1, 2, 3
	before := CPU{ended: time.Hour, stayed: time.Minute}
	after := CPU{stayed: time.Minute + 2*time.Second, came: time.Second}
	if got := after.Since(before); got != 3*time.Second {
		t.Errorf("got %v", got)
	}
}
