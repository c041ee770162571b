package servertest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/test/testkit"
)

// BlockingProxy stands before another server, such as a mail server. It is down
// until [BlockingProxy.Listen], and then holds every connection until
// [BlockingProxy.Open].
type BlockingProxy struct {
	Address string
	Came    atomic.Int32 // connections so far
	// Withhold, if set before [BlockingProxy.Listen], is asked before anything that the other
	// server says is passed on, which waits for as long as it holds.
	Withhold func() bool
	opened   chan struct{}
	once     sync.Once
}

// NewBlockingProxy reserves an address for a proxy that is down.
func NewBlockingProxy(t testing.TB) *BlockingProxy {
	t.Helper()
	return &BlockingProxy{Address: testkit.Reserve(t), opened: make(chan struct{})}
}

// Listen takes connections, and passes them on to an address when it is open.
func (g *BlockingProxy) Listen(t testing.TB, to string) {
	t.Helper()
	listener, err := net.Listen("tcp", g.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close(); g.Open() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			g.Came.Add(1)
			go g.lead(conn, to)
		}
	}()
}

// Open passes all connections on, now and later.
func (g *BlockingProxy) Open() { g.once.Do(func() { close(g.opened) }) }

func (g *BlockingProxy) lead(conn net.Conn, to string) {
	defer conn.Close()
	<-g.opened
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, conn)
		server.Close() // the client is gone
	}()
	_, _ = io.Copy(passing{conn, g.Withhold}, server)
}

// passing is the way back to the client.
type passing struct {
	io.Writer
	withhold func() bool
}

func (p passing) Write(text []byte) (int, error) {
	for p.withhold != nil && p.withhold() {
		time.Sleep(5 * time.Millisecond)
	}
	return p.Writer.Write(text)
}
