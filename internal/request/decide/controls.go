package decide

import (
	"errors"
	"math/big"
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
	"latchkey/internal/store"
	"latchkey/internal/velocity"
)

// ControlsOf returns the velocity controls of the transaction's organization. One
// that this build cannot read, which an older or newer one wrote, is left out:
// policies that read it fail.
func ControlsOf(tx *store.Tx) ([]*velocity.Control, error) {
	return store.Derived(tx, "velocity controls", func() ([]*velocity.Control, error) {
		stored, err := tx.VelocityControls().List("", 0)
		if err != nil {
			return nil, err
		}
		var all []*velocity.Control
		for _, c := range stored {
			if compiled, err := velocity.Compile(c); err == nil {
				all = append(all, compiled)
			}
		}
		return all, nil
	})
}

// ControlMeter measures one activity by the velocity controls of an organization: what
// they have, and what they would have after it.
type ControlMeter struct {
	Tx *store.Tx
	// Facts are those of the activity. Its type is not counted if Elsewhere says
	// that it happens in another organization.
	Facts     func() (*fact.Request, error)
	Elsewhere bool
	UserID    string // who submitted it
	// Now is the time to suppose; zero: that of the database.
	Now time.Time
	// Supposed is for what is only asked: no turn is taken, and nothing counts.
	Supposed bool
	// Controls are those to suppose; nil: those of the organization.
	Controls []*velocity.Control
	// Used is what a control is supposed to have in a group; nil: what it has
	// counted.
	Used func(c *velocity.Control, group string) *big.Int

	measured []measured
	done     bool
}

// measured is one control.
type measured struct {
	control *velocity.Control
	state   fact.ControlState
	amount  *big.Int // with which the activity counts
	group   store.TallyGroup
	book    *store.TallyBook
	sum     *velocity.Sum
	counts  bool // an entry is written if the activity is executed
}

// Measure measures all controls, once.
func (m *ControlMeter) Measure() ([]fact.ControlState, error) {
	if !m.done {
		if err := m.measure(); err != nil {
			return nil, err
		}
		m.done = true
	}
	states := make([]fact.ControlState, len(m.measured))
	for i := range m.measured {
		states[i] = m.measured[i].state
	}
	return states, nil
}

func (m *ControlMeter) measure() error {
	controls, err := m.Controls, error(nil)
	if controls == nil {
		controls, err = ControlsOf(m.Tx)
	}
	if err != nil || len(controls) == 0 {
		return err
	}
	request, err := m.Facts()
	if err != nil {
		return err
	}
	if m.Now.IsZero() {
		if m.Now, err = m.Tx.DatabaseTime(); err != nil {
			return err
		}
	}
	m.measured = make([]measured, len(controls))
	for i, c := range controls {
		m.measured[i] = measured{control: c, amount: new(big.Int), state: fact.ControlState{ID: c.ID, Identifier: c.Identifier}}
		if err := m.measured[i].count(m, request); err != nil {
			return err
		}
	}
	if err := m.open(); err != nil {
		return err
	}
	for i := range m.measured {
		if err := m.measured[i].compare(m); err != nil {
			return err
		}
	}
	return nil
}

// count finds in which group the activity counts, and with how much.
func (c *measured) count(m *ControlMeter, request *fact.Request) error {
	group, in := c.control.Group(m.Tx.Org(), m.UserID, request.SignsFor)
	if !in {
		return nil
	}
	c.group, c.state.Group = store.TallyGroup{ControlID: c.control.ID, GroupID: group}, group
	if m.Elsewhere {
		return nil
	}
	amount, err := c.control.Amount(request)
	if unreadable, ok := errors.AsType[*velocity.Unreadable](err); ok {
		c.state.Unreadable = unreadable.Error()
		c.group.GroupID = domain.UnreadableGroup
		c.counts = true
		return nil
	}
	if err != nil {
		return err
	}
	c.amount, c.counts = amount, amount.Sign() > 0
	return nil
}

// open reads the books, and takes turns in those that the activity counts in.
func (m *ControlMeter) open() error {
	if m.Used != nil {
		return nil
	}
	var turns []store.TallyGroup
	for i := range m.measured {
		switch c := &m.measured[i]; {
		case c.group.GroupID == "":
		case c.counts && !m.Supposed:
			turns = append(turns, c.group)
		default:
			book, err := m.Tx.ReadTally(c.group)
			if err != nil {
				return err
			}
			c.book = book
		}
	}
	if len(turns) == 0 {
		return nil
	}
	books, err := m.Tx.LockTallies(turns)
	if err != nil {
		return err
	}
	for i := range m.measured {
		if c := &m.measured[i]; c.counts {
			k := slices.Index(turns, c.group)
			c.book = books[k]
		}
	}
	return nil
}

// compare finds what the control has and would have.
func (c *measured) compare(m *ControlMeter) error {
	used := new(big.Int)
	switch {
	case m.Used != nil:
		used = m.Used(c.control, c.group.GroupID)
	case c.book != nil:
		var err error
		if c.sum, err = c.control.Sum(c.book, m.Now); err != nil {
			return err
		}
		used = c.sum.Used
	}
	if c.state.Unreadable != "" {
		return nil
	}
	after := new(big.Int).Add(used, c.amount)
	c.state.Used, c.state.After = c.control.Text(used), c.control.Text(after)
	c.state.Holds, c.state.HoldsFree = c.control.Holds(after), c.control.Holds(c.amount)
	if left, ok := c.control.Left(used); ok {
		c.state.Left = c.control.Text(left)
	}
	return nil
}

// CountedAmount is with how much an activity counts in a group of a control.
type CountedAmount struct {
	Control *velocity.Control
	Group   string
	Amount  *big.Int
}

// Amounts are with how much the activity counts, where that can be told.
func (m *ControlMeter) Amounts() (all []CountedAmount, err error) {
	if _, err := m.Measure(); err != nil {
		return nil, err
	}
	for i := range m.measured {
		if c := &m.measured[i]; c.counts && c.state.Unreadable == "" {
			all = append(all, CountedAmount{c.control, c.group.GroupID, c.amount})
		}
	}
	return all, nil
}

// Release ends the turns of an activity that is not executed now.
func (m *ControlMeter) Release() { m.Tx.ReleaseTallies() }

// Count writes what the activity counts, when its transaction commits, and returns
// what the controls had, for the record.
func (m *ControlMeter) Count(activityID string, read []string) ([]domain.ControlEvaluation, error) {
	if _, err := m.Measure(); err != nil {
		return nil, err
	}
	var books []*store.TallyBook
	var entries []*domain.Tally
	for i := range m.measured {
		c := &m.measured[i]
		if !c.counts {
			continue
		}
		amount := c.amount
		if c.state.Unreadable != "" {
			amount = big.NewInt(1)
		}
		books = append(books, c.book)
		entries = append(entries, c.control.Next(c.sum, c.group.GroupID, activityID, amount))
	}
	if err := m.Tx.Count(books, entries); err != nil {
		return nil, err
	}
	recorded := m.Recorded(read)
	for i := range recorded {
		for _, e := range entries {
			if e.ControlID == recorded[i].ControlID {
				recorded[i].Entry = e.Number
			}
		}
	}
	return recorded, nil
}

// Recorded is what was measured, for the record: of the controls that count the
// activity, and of those that are read.
func (m *ControlMeter) Recorded(read []string) (all []domain.ControlEvaluation) {
	for i := range m.measured {
		c := &m.measured[i]
		if !c.counts && !slices.Contains(read, c.control.Identifier) {
			continue
		}
		s := &c.state
		all = append(all, domain.ControlEvaluation{
			ControlID: s.ID, Identifier: s.Identifier, GroupID: s.Group, Used: s.Used, After: s.After, Left: s.Left,
			Holds: s.Holds, Unreadable: s.Unreadable,
		})
	}
	return all
}
