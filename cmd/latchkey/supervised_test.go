package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"latchkey/internal/test/testkit"
)

// TestSupervised runs a server as systemd does: it says that it is ready when it
// answers, that it works, and that it stops.
func TestSupervised(t *testing.T) {
	folder, err := os.MkdirTemp("", "supervised") // its own: paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	address := testkit.Reserve(t)
	config := filepath.Join(folder, "latchkey.yaml")
	if err := os.WriteFile(config, []byte("listen: "+address+"\nallowSwap: true\ntimeouts: {lameDuck: 0, drain: 7s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("latchkey", "serve", "--config", config)
	server.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(folder, "notify"), "WATCHDOG_USEC=300000")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	heard := func() string {
		buffer := make([]byte, 4096)
		n, err := socket.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
	expect := func(want string) {
		t.Helper()
		for {
			got := heard()
			if strings.HasPrefix(got, want) {
				return
			}
			if !strings.HasPrefix(got, "WATCHDOG=1") {
				t.Fatalf("heard %q, not %q", got, want)
			}
		}
	}
	expect("STATUS=opening the database\nEXTEND_TIMEOUT_USEC=30000000")
	expect("READY=1\nSTATUS=serving at http://" + address)
	// It answers by now.
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /readyz HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200 OK") {
		t.Errorf("%q, %v", line, err)
	}
	_ = conn.Close()
	for range 3 {
		if got := heard(); got != "WATCHDOG=1" {
			t.Errorf("heard %q", got)
		}
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	expect("STOPPING=1\nSTATUS=shutting down\nEXTEND_TIMEOUT_USEC=12000000")
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
