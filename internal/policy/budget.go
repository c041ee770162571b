package policy

import "context"

// Budget is what all evaluations for one request may do together. One expression
// has a bound of its own, but a request can meet many policies, each of them once
// for every voter, and an explanation evaluates every part of each.
//
// What is evaluated when nothing is left fails. It is for one goroutine. A nil
// one has no bound.
type Budget struct {
	ctx  context.Context
	left int
	// look is what is left when the context is looked at next.
	look int
}

// maxRequestWork is in units of [maxWork]; a byte that is shown counts as one.
const maxRequestWork = 4 * maxWork

// workBetweenLooks takes about a millisecond.
const workBetweenLooks = 1 << 16

// NewBudget returns the budget of a request that is given up when ctx ends.
func NewBudget(ctx context.Context) *Budget {
	return &Budget{ctx: ctx, left: maxRequestWork, look: maxRequestWork - workBetweenLooks}
}

// Exhausted reports whether nothing is left, or the request was given up.
func (b *Budget) Exhausted() bool { return b != nil && b.left <= 0 }

// Err is the error of the context, if it has ended.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	return b.ctx.Err()
}

func (b *Budget) take(units int) {
	if b == nil {
		return
	}
	b.left -= units
	if b.left > b.look {
		return
	}
	b.look = b.left - workBetweenLooks
	if b.ctx.Err() != nil {
		b.left = 0
	}
}
