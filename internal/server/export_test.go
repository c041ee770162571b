package server

import (
	"net"
	"time"
)

// MetricsAddress is where the metrics are served when they have a listener of
// their own.
func (s *Server) MetricsAddress() net.Addr { return s.serving[1].listener.Addr() }

// ConsoleAddress is where the console listens, if it has a listener of its own.
func (s *Server) ConsoleAddress() net.Addr { return s.serving[1].listener.Addr() }

// StreamsWait lets the test say when streams have been silent for long enough, and
// tells it for how long they would wait.
func (s *Server) StreamsWait(after func(time.Duration) <-chan time.Time) { s.engine.After = after }

// EndLameDuck lets the test say when the time after the order to stop is over.
func (s *Server) EndLameDuck(end <-chan time.Time) {
	s.after = func(time.Duration) <-chan time.Time { return end }
}

// FramesAddress is where the frames are to be; nil: nowhere.
func (b *Bound) FramesAddress() net.Addr {
	if b.frames == nil {
		return nil
	}
	return b.frames.Addr()
}

// Port is that of the console, which is the interface's unless it has its own.
func (b *Bound) Port() string {
	_, port, _ := net.SplitHostPort(b.console.Addr().String()) // it is an address of ours
	return port
}
