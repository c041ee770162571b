package patroni

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
)

// link is a way over the network that can be cut. It is a listener on this machine
// that passes connections on to another port. While it is cut it passes nothing: what
// was sent waits, connections stay open, and new ones get no answer, as when a cable
// is pulled; later all goes on, as if a switch came back.
type link struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	opened *sync.Cond
	cut    bool
	closed bool
}

// newLink listens on a free port, and passes on to another.
func newLink(target int) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, target: local(target)}
	l.opened = sync.NewCond(&l.mu)
	go l.serve()
	return l, nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (l *link) address() string { return l.listener.Addr().String() }

// set cuts the link, or mends it.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	l.opened.Broadcast()
}

func (l *link) close() {
	l.mu.Lock()
	l.cut, l.closed = false, true
	l.opened.Broadcast()
	l.mu.Unlock()
	_ = l.listener.Close()
}

// pass waits until the link is whole, and reports whether it is still used.
func (l *link) pass() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.cut {
		l.opened.Wait()
	}
	return !l.closed
}

func (l *link) serve() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.lead(from)
	}
}

func (l *link) lead(from net.Conn) {
	defer func() { _ = from.Close() }()
	if !l.pass() {
		return
	}
	to, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	var both sync.WaitGroup
	both.Go(func() { l.copy(to, from) })
	both.Go(func() { l.copy(from, to) })
	both.Wait()
}

// copy passes on what comes, and at last that nothing more comes.
func (l *link) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if !l.pass() {
			err = net.ErrClosed
		}
		if _, failed := to.Write(buffer[:n]); failed != nil {
			err = failed
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			_ = to.(*net.TCPConn).CloseWrite() // it may be closed already
			return
		default:
			_, _ = to.Close(), from.Close() // so that the other direction ends too
			return
		}
	}
}
