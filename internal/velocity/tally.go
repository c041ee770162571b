package velocity

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"latchkey/internal/chain/transfer"
	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
)

// Counts reports whether activities of a type are counted.
func (c *Control) Counts(kind string) bool {
	return len(c.kinds) == 0 || slices.Contains(c.kinds, kind)
}

// Amount is with how much a request counts, 0 if it does not, in the unit of the
// control. The error says why that cannot be told.
func (c *Control) Amount(request *fact.Request) (*big.Int, error) {
	if !c.Counts(request.Activity.Kind) {
		return new(big.Int), nil
	}
	if c.DataSource.ActivityExecution != nil {
		return power(c.places), nil
	}
	if request.Transfers == nil {
		return new(big.Int), nil
	}
	moved, err := request.Transfers()
	if err != nil {
		return nil, err
	}
	amounts, err := transfer.Sum(moved, c.assets)
	if err != nil {
		return nil, &Unreadable{err}
	}
	sum := new(big.Int)
	for i, amount := range amounts {
		sum.Add(sum, amount.Mul(amount, c.factors[i]))
	}
	if c.Aggregate.Method == domain.VelocityCount && sum.Sign() > 0 {
		return power(c.places), nil
	}
	return sum, nil
}

// Unreadable says why what a signature moves cannot be told.
type Unreadable struct{ Err error }

func (e *Unreadable) Error() string { return e.Err.Error() }

// Group is the group that a request belongs to; false: to none.
func (c *Control) Group(org, userID, signsFor string) (string, bool) {
	switch by := &c.Aggregate.GroupBy; {
	case by.User != nil:
		return userID, userID != ""
	case by.Wallet != nil:
		return signsFor, signsFor != ""
	}
	return org, true
}

// Holds compares a sum with the threshold.
func (c *Control) Holds(sum *big.Int) bool {
	order := sum.Cmp(c.threshold)
	switch c.Aggregate.Operator {
	case domain.VelocityLess:
		return order < 0
	case domain.VelocityLessOrEqual:
		return order <= 0
	case domain.VelocityEqual:
		return order == 0
	case domain.VelocityGreaterOrEqual:
		return order >= 0
	case domain.VelocityGreater:
		return order > 0
	}
	return false
}

// Left is what an upper bound leaves; false: the control is none.
func (c *Control) Left(used *big.Int) (*big.Int, bool) {
	if c.Aggregate.Operator != domain.VelocityLess && c.Aggregate.Operator != domain.VelocityLessOrEqual {
		return nil, false
	}
	left := new(big.Int).Sub(c.threshold, used)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	return left, true
}

// Book is what was counted in one group, in the order of the numbers.
type Book interface {
	// Newest is the newest entry, nil when there is none.
	Newest() *domain.Tally
	// Entry is the one with a number that is not above that of the newest.
	Entry(number int64) (*domain.Tally, error)
}

// Sum is what a control has in one group at one time.
type Sum struct {
	NowMs     int64
	Used      *big.Int
	number    int64 // of the newest entry
	total     *big.Int
	gone      int64
	goneTotal *big.Int
	// NextMs is when the next amount leaves the window; 0: none will.
	NextMs int64
}

// Sum adds up what is in the window. Time never goes back in a group.
func (c *Control) Sum(book Book, now time.Time) (*Sum, error) {
	newest := book.Newest()
	s := &Sum{NowMs: now.UnixMilli(), Used: new(big.Int), total: new(big.Int), goneTotal: new(big.Int)}
	if newest == nil {
		return s, nil
	}
	s.NowMs = max(s.NowMs, newest.AtMs)
	s.number, s.gone = newest.Number, newest.Gone
	var err error
	if s.total, err = units(newest.Total); err != nil {
		return nil, err
	}
	if newest.Gone > 0 {
		if s.goneTotal, err = units(newest.GoneTotal); err != nil {
			return nil, err
		}
	}
	if cut, ends := c.cutoff(time.UnixMilli(s.NowMs)); ends {
		if err := s.expire(c, book, cut); err != nil {
			return nil, err
		}
	}
	s.Used = new(big.Int).Sub(s.total, s.goneTotal)
	return s, nil
}

// expire finds the newest entry that is out of the window. The entry from which
// it starts is out already, so that mostly it looks at one entry only; where many
// have left since, it takes ever longer steps.
func (s *Sum) expire(c *Control, book Book, cut int64) error {
	out, in := s.gone, s.number+1 // out is out; in is in, or one too far
	var first *domain.Tally       // the entry at in
	last := (*domain.Tally)(nil)  // the entry at out
	for step := int64(1); in-out > 1; {
		at := out + (in-out)/2
		if first == nil {
			at = min(out+step, s.number)
			step *= 2
		}
		entry, err := entryOf(book, at)
		if err != nil {
			return err
		}
		if entry.AtMs <= cut {
			out, last = at, entry
		} else {
			in, first = at, entry
		}
	}
	if last != nil {
		total, err := units(last.Total)
		if err != nil {
			return err
		}
		s.gone, s.goneTotal = out, total
	}
	if first != nil {
		s.NextMs = c.leaves(first.AtMs, s.NowMs)
	}
	return nil
}

func entryOf(book Book, number int64) (*domain.Tally, error) {
	if newest := book.Newest(); newest.Number == number {
		return newest, nil
	}
	return book.Entry(number)
}

// Next is the entry that counts an activity.
func (c *Control) Next(s *Sum, group, activityID string, amount *big.Int) *domain.Tally {
	next := &domain.Tally{
		ControlID: c.ID, GroupID: group, Number: s.number + 1, ActivityID: activityID, AtMs: s.NowMs,
		Amount: amount.String(), Total: new(big.Int).Add(s.total, amount).String(), Gone: s.gone,
	}
	if s.gone > 0 {
		next.GoneTotal = s.goneTotal.String()
	}
	return next
}

var errUnits = errors.New("an amount that was counted is not a number")

func units(text string) (*big.Int, error) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.Sign() < 0 {
		return nil, errUnits
	}
	return n, nil
}

// Parse reads a decimal number into the unit of the control.
func (c *Control) Parse(decimal string) (*big.Int, error) {
	whole, fraction, _ := strings.Cut(decimal, ".")
	if !decimalText.MatchString(decimal) || len(fraction) > c.places {
		return nil, errUnits
	}
	return units(whole + fraction + strings.Repeat("0", c.places-len(fraction)))
}

// Text is an amount as a decimal number.
func (c *Control) Text(amount *big.Int) string {
	digits := amount.String()
	if pad := c.places + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, fraction := digits[:len(digits)-c.places], strings.TrimRight(digits[len(digits)-c.places:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
