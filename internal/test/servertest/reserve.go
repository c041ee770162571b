package servertest

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Reserve returns a free address on this machine that stays free until the test
// is over, for a server that must be told where to listen. The kernel gives the
// port to nobody who asks for any, and refuses connections to it; who asks for
// this one gets it, as a socket that does not listen stands in nobody's way
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
