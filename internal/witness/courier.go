package witness

import (
	"context"
	"time"

	"latchkey/internal/translog"
)

// Courier brings the newest checkpoint of a log to one witness, in a goroutine of
// its own: a witness that is slow or away delays no one, and what it missed is
// skipped, because a newer checkpoint says more.
type Courier struct {
	client *Client
	prove  Prover
	report Report
	newest chan *translog.Signed // at most one
	first  time.Duration         // pause after the first failure
}

// maxWait bounds the pause between attempts.
const maxWait = 15 * time.Second

// Prover makes the proof that the tree of head continues that of an older size.
type Prover func(ctx context.Context, head translog.Head, old int64) ([]translog.Hash, error)

// Report is told the outcome of every attempt: the checkpoint that was offered, and
// with its cosignatures.
type Report func(ctx context.Context, offered, cosigned *translog.Signed, err error)

// NewCourier returns a courier.
func NewCourier(client *Client, prove Prover, report Report) *Courier {
	return &Courier{client: client, prove: prove, report: report, newest: make(chan *translog.Signed, 1), first: time.Second}
}

// Offer hands over a checkpoint in place of one that still waits. It never blocks.
// One goroutine may call it.
func (c *Courier) Offer(signed *translog.Signed) {
	select {
	case <-c.newest:
	default:
	}
	c.newest <- signed // the one sender has just made room
}

// Run works until the context ends. A checkpoint that failed is tried again, after a
// pause that doubles, unless a newer one has come.
func (c *Courier) Run(ctx context.Context) {
	var failed *translog.Signed
	var wait time.Duration
	for {
		signed, ok := c.next(ctx, failed, wait)
		if !ok {
			return
		}
		cosigned, err := c.client.Submit(ctx, signed, func(old int64) ([]translog.Hash, error) { return c.prove(ctx, signed.Head, old) })
		if ctx.Err() != nil {
			return
		}
		c.report(ctx, signed, cosigned, err)
		if err == nil {
			failed, wait = nil, 0
		} else {
			failed, wait = signed, min(max(2*wait, c.first), maxWait)
		}
	}
}

// next waits for a checkpoint: after a failure for the pause first.
func (c *Courier) next(ctx context.Context, failed *translog.Signed, wait time.Duration) (*translog.Signed, bool) {
	if failed != nil {
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(wait):
		}
		select {
		case signed := <-c.newest:
			return signed, true
		default:
			return failed, true
		}
	}
	select {
	case <-ctx.Done():
		return nil, false
	case signed := <-c.newest:
		return signed, true
	}
}
