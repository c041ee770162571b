package server

import "net"

// MetricsAddress is where the metrics are served when they have a listener of
// their own.
func (s *Server) MetricsAddress() net.Addr { return s.serving[1].listener.Addr() }
