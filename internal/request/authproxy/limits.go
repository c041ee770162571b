package authproxy

import (
	"math"
	"strconv"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/meter"
	"latchkey/internal/request/engine"
)

// Limits bound what one client may do in an hour; 0: it has no bound. A client is
// an address, or a network of 64 bits of IPv6.
type Limits struct {
	SignUps int
	Codes   int // that are sent
	Logins  int // and tries at codes
	LookUps int // of accounts
}

// SetLimits changes the bounds, from the next request on.
func (p *Proxy) SetLimits(l Limits) {
	p.signUps.SetMost(l.SignUps)
	p.codes.SetMost(l.Codes)
	p.logins.SetMost(l.Logins)
	p.lookUps.SetMost(l.LookUps)
}

// limit bounds one kind of request.
type limit struct {
	*meter.Meter
	what string
}

func newLimit(what string, now func() time.Time) *limit {
	return &limit{meter.New(time.Hour, now), what}
}

// take counts a request, and refuses one too many. Clients whose address is not
// known are one client.
func (l *limit) take(r engine.Request) error {
	if l == nil {
		return nil
	}
	network := r.Network
	if network == "" {
		network = "unknown"
	}
	if l.Take(network) {
		return nil
	}
	wait := int(math.Ceil(l.Interval().Seconds()))
	r.ReplyHeader.Set("Retry-After", strconv.Itoa(wait))
	return fault.New(fault.ResourceExhausted, fault.ReasonRateLimited,
		"too many requests from this address: at most %d %s an hour are taken (authProxy.limits); the next in %d seconds", l.Most(), l.what, wait)
}
