package testkit

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Reserve returns a free address on this machine that stays free until the test
// is over, for a server that must be told where to listen. The kernel does
// not hand the port out, and refuses connections to it until a server listens
// there: a socket that is bound but does not listen is no obstacle to that
// (SO_REUSEADDR, which Go sets when it listens).
func Reserve(t testing.TB) (address string) {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(bound.(*syscall.SockaddrInet4).Port))
}
