package pgtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands before a database, counts what is asked, and can hold back what
// the server answers.
type Proxy struct {
	URL string // of the database, through the proxy
	// Trips counts the questions that clients waited for: each ends with a message
	// that makes the server answer. A look whether an idle connection is alive is none.
	Trips    atomic.Int64
	withheld atomic.Bool
}

// NewProxy returns a proxy before the database at a URL, which must not ask for TLS.
func NewProxy(t testing.TB, database string) *Proxy {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := u.Host
	u.Host = listener.Addr().String()
	p := &Proxy{URL: u.String()}
	t.Cleanup(func() { p.Release(); listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.lead(conn, to)
		}
	}()
	return p
}

// Withhold keeps back what the server answers to questions that count, until
// [Proxy.Release]. A connection that was idle for long is looked at before it is used:
// that goes through, or no question would ever be sent on a slow machine.
func (p *Proxy) Withhold() { p.withheld.Store(true) }

// Release passes on what was kept back, and all that follows.
func (p *Proxy) Release() { p.withheld.Store(false) }

func (p *Proxy) lead(client net.Conn, to string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	var asked atomic.Bool // a question that counts, and that is not answered yet
	go func() {
		p.forward(server, client, &asked)
		server.Close() // the client is gone
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		for asked.Load() && p.withheld.Load() {
			time.Sleep(time.Millisecond)
		}
		asked.Store(false)
		if _, failed := client.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// forward passes on what a client says, message by message ("Message Formats" in
// the manual of PostgreSQL). The first one has no type.
func (p *Proxy) forward(server io.Writer, client io.Reader, asked *atomic.Bool) {
	for header := make([]byte, 4); ; header = make([]byte, 5) {
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(header[len(header)-4:]) - 4
		message := append(header, make([]byte, size)...)
		if _, err := io.ReadFull(client, message[len(header):]); err != nil {
			return
		}
		asks := len(header) == 5 && (header[0] == 'S' || header[0] == 'Q') && // Sync, Query
			!bytes.Contains(message, []byte("-- ping"))
		if asks { // before there can be an answer
			asked.Store(true)
			p.Trips.Add(1)
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}
