package api

import (
	"net/netip"

	"latchkey/internal/fault"
)

// Rate bounds requests a second; 0: no bound.
type Rate struct {
	// Address is for the refused requests of one address, from which nothing is
	// answered while there are more. This machine's own has no bound.
	Address int
	User    int // for all requests of one user
}

// retryAfter is in how many seconds a client that was too fast may try again:
// some room is there after the first, whatever the bound is.
const retryAfter = "1"

// admitAddress refuses a request from an address that was refused too often.
func (s *Server) admitAddress(address string) error {
	if !s.refusals.Full(address) {
		return nil
	}
	return fault.New(fault.ResourceExhausted, fault.ReasonRateLimited,
		"too many requests from this address were refused: at most %d a second are looked at; "+
			"wait a second, and mend what the earlier replies say is wrong", s.refusals.Most())
}

// admitUser refuses a request of a user who has sent too many.
func (s *Server) admitUser(userID string) error {
	if s.requests.Full(userID) {
		return fault.New(fault.ResourceExhausted, fault.ReasonRateLimited,
			"too many requests of this user: at most %d a second are answered; wait a second and send it again", s.requests.Most())
	}
	s.requests.Count(userID)
	return nil
}

func isRateLimited(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Reason == fault.ReasonRateLimited
}

// addressKey is what refused requests from an address are counted for; empty:
// nothing, for this machine's own.
func addressKey(from netip.Addr) string {
	if from.IsLoopback() {
		return ""
	}
	return networkOf(from)
}

// networkOf is what one client has: its address, or of IPv6 the network of 64
// bits, of which it has them all; empty: it is not known.
func networkOf(from netip.Addr) string {
	switch {
	case !from.IsValid():
		return ""
	case from.Is6():
		network, _ := from.Prefix(64) // it has more bits
		return network.String()
	}
	return from.String()
}
