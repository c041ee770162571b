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

// Withhold keeps back everything that the server answers, until [Proxy.Release].
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
	go func() {
		p.forward(server, client)
		server.Close() // the client is gone
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		for p.withheld.Load() {
			time.Sleep(time.Millisecond)
		}
		if _, failed := client.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// forward passes on what a client says, message by message ("Message Formats" in
// the manual of PostgreSQL). The first one has no type.
func (p *Proxy) forward(server io.Writer, client io.Reader) {
	for header := make([]byte, 4); ; header = make([]byte, 5) {
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(header[len(header)-4:]) - 4
		message := append(header, make([]byte, size)...)
		if _, err := io.ReadFull(client, message[len(header):]); err != nil {
			return
		}
		if _, err := server.Write(message); err != nil {
			return
		}
		asks := len(header) == 5 && (header[0] == 'S' || header[0] == 'Q') // Sync, Query
		if asks && !bytes.Contains(message, []byte("-- ping")) {
			p.Trips.Add(1)
		}
	}
}
