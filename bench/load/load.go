// Package load sends requests that were prepared beforehand over a number of
// connections, as fast as the replies come, and measures.
//
// It does as little as possible while the clock runs, because it shares the
// processors with the server: requests are ready bytes, replies are read into
// one buffer a connection, nothing is allocated. It speaks just enough
// HTTP/1.1 for that.
//
// Every reply is checked. One with another status than 200, or without what it
// must contain, ends the run with an error: a server that refuses requests
// would otherwise look fast.
package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Request is one request, ready to be sent.
type Request struct {
	Wire []byte // header and body
	Want []byte // the reply contains it
	// Check takes a closer look at a reply, when the clock has stopped. Only a
	// sample is checked; nil: there is nothing more to see.
	Check func(reply []byte) error
}

// Clients is a number of open connections to one server.
type Clients struct {
	connections []*connection
}

type connection struct {
	net.Conn
	reader    *bufio.Reader
	body      []byte
	latencies []time.Duration
	sampled   []sampled
	err       error
}

// sampled is a reply to look at later.
type sampled struct {
	check func([]byte) error
	reply []byte
}

// patience is for replies that are still out when the time is up: a server
// that hangs must not hang the benchmark.
const patience = 2 * time.Minute

// Dial opens n connections to address, a host:port.
func Dial(address string, n int) (*Clients, error) {
	c := new(Clients)
	for range n {
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.connections = append(c.connections, &connection{
			Conn: conn, reader: bufio.NewReaderSize(conn, 8<<10), body: make([]byte, 0, 8<<10),
		})
	}
	return c, nil
}

// Close closes the connections.
func (c *Clients) Close() {
	for _, on := range c.connections {
		_ = on.Close()
	}
}

// Result is what a run measured.
type Result struct {
	Latencies []time.Duration // of all requests, in ascending order
	Elapsed   time.Duration   // from the first request to the last reply

	sampled []sampled
}

// Requests is how many requests were answered.
func (r *Result) Requests() int { return len(r.Latencies) }

// Quantile is the latency that the fraction q of the requests did not exceed
// (nearest rank).
func (r *Result) Quantile(q float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	rank := int(q*float64(len(r.Latencies)) + 0.999999)
	return r.Latencies[min(max(rank, 1), len(r.Latencies))-1]
}

// Verify takes the closer look at the sample and reports how many replies were
// in it.
func (r *Result) Verify() (int, error) {
	for _, s := range r.sampled {
		if err := s.check(s.reply); err != nil {
			return 0, fmt.Errorf("a reply is wrong: %w: %s", err, beginning(s.reply))
		}
	}
	return len(r.sampled), nil
}

// Run sends requests, each once, until all are answered or the time is up. Each
// connection sends one at least, as long as there are any: however busy the
// machine is, there is something to measure. One in every of the replies is kept
// for Verify; 0 keeps none.
func (c *Clients) Run(requests []Request, during time.Duration, every int) (*Result, error) {
	var next atomic.Int64
	var stop atomic.Bool
	var running sync.WaitGroup
	begin := make(chan struct{})
	for _, on := range c.connections {
		on.latencies = slices.Grow(on.latencies[:0], 2*len(requests)/len(c.connections)+16)
		on.sampled, on.err = nil, on.SetDeadline(time.Now().Add(during+patience))
		running.Go(func() {
			<-begin
			for {
				i := int(next.Add(1)) - 1
				if on.err != nil || i >= len(requests) {
					break
				}
				on.err = on.exchange(&requests[i], every > 0 && i%every == 0)
				if stop.Load() {
					break
				}
			}
			if on.err != nil {
				stop.Store(true)
			}
		})
	}
	timer := time.AfterFunc(during, func() { stop.Store(true) })
	defer timer.Stop()
	started := time.Now()
	close(begin)
	running.Wait()

	r := &Result{Elapsed: time.Since(started)}
	for _, on := range c.connections {
		if on.err != nil {
			return nil, on.err
		}
		r.Latencies = append(r.Latencies, on.latencies...)
		r.sampled = append(r.sampled, on.sampled...)
	}
	if len(r.Latencies) == 0 {
		return nil, errors.New("there was no request to send")
	}
	slices.Sort(r.Latencies)
	return r, nil
}

// exchange sends one request and reads its reply.
func (on *connection) exchange(r *Request, keep bool) error {
	sent := time.Now()
	if _, err := on.Write(r.Wire); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	status, body, err := readReply(on.reader, on.body)
	if err != nil {
		return fmt.Errorf("reading the reply: %w", err)
	}
	on.latencies = append(on.latencies, time.Since(sent))
	on.body = body
	if status != 200 {
		return fmt.Errorf("HTTP %d: %s", status, beginning(body))
	}
	if !bytes.Contains(body, r.Want) {
		return fmt.Errorf("the reply has no %q: %s", r.Want, beginning(body))
	}
	if keep && r.Check != nil {
		on.sampled = append(on.sampled, sampled{r.Check, bytes.Clone(body)})
	}
	return nil
}

func beginning(text []byte) []byte { return text[:min(len(text), 500)] }
