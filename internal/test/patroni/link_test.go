package patroni

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestLink cuts a way: nothing passes, no connection breaks, and what was sent comes when
// it is mended.
func TestLink(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = echo.Close() }()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				buffer := make([]byte, 1)
				for {
					if _, err := conn.Read(buffer); err != nil {
						_ = conn.Close()
						return
					}
					_, _ = conn.Write(buffer)
				}
			}()
		}
	}()
	l, err := newLink(echo.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	conn, err := net.Dial("tcp", l.address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	send := func() {
		t.Helper()
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	receive := func(patience time.Duration) error {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, err := conn.Read(make([]byte, 1))
		return err
	}
	send()
	if err := receive(time.Minute); err != nil {
		t.Fatalf("before the cut: %v", err)
	}
	l.set(true)
	send()
	if err := receive(100 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("while it is cut: %v", err)
	}
	l.set(false)
	if err := receive(time.Minute); err != nil {
		t.Fatalf("after the cut: %v", err)
	}
	if err := echo.Close(); err != nil {
		t.Fatal(err)
	}
}
