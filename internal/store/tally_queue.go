package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/lru"
)

// Transactions of one process that count in the same group pass in line. One
// decides at a time, on the entry that the one before it is about to write; then
// all of them are on their way together, and share a flush. If one fails, those
// that follow it fail too, because the driver finds no predecessor, and the line
// begins anew with what is in the database. So does a transaction that decided on an
// entry which then failed, and writes none itself: what it refuses would have had
// room. Apart from that all of this is for speed: that no limit is passed rests on
// the driver.

// tallyLines are the lines in use.
type tallyLines struct {
	mu    sync.Mutex
	lines map[lineKey]*tallyLine
	// seen are the newest numbers that this process saw in the database: one that
	// is missing later was taken away.
	seen lru.Map[lineKey, int64]
}

type lineKey struct {
	org   string
	group TallyGroup
}

type tallyLine struct {
	all   *tallyLines
	key   lineKey
	users int           // transactions that are in it, guarded by tallyLines.mu
	turn  chan struct{} // filled by the one whose turn it is

	mu      sync.Mutex
	pending map[int64]*tallyTicket // written by transactions that have not ended
	tail    *tallyTicket           // the newest of them
	broken  bool                   // one of them failed: nothing may follow them
	drained chan struct{}          // closed when none is left; nil: none waits for it
	// read are entries of the database. They never change, and requests that follow
	// each other ask for the same: the oldest in their window.
	read lru.Map[int64, *domain.Tally]
}

// tallyTicket is an entry on its way.
type tallyTicket struct {
	tally        *domain.Tally
	body, stored []byte
	before       *tallyTicket // that must be queued first; nil: it is in the database
	queued       chan struct{}
	once         sync.Once
	failed       atomic.Bool
	done         chan struct{} // closed when it is known whether it failed
}

func (t *tallyTicket) sendOff() { t.once.Do(func() { close(t.queued) }) }

func (l *tallyLines) join(org string, g TallyGroup) *tallyLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := lineKey{org, g}
	line := l.lines[key]
	if line == nil {
		if l.lines == nil {
			l.lines = map[lineKey]*tallyLine{}
		}
		line = &tallyLine{all: l, key: key, turn: make(chan struct{}, 1), pending: map[int64]*tallyTicket{}, read: lru.Map[int64, *domain.Tally]{Max: 16}}
		l.lines[key] = line
	}
	line.users++
	return line
}

func (l *tallyLines) leave(line *tallyLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line.users--; line.users == 0 {
		delete(l.lines, line.key)
	}
}

// checkSeen notices a book that has become shorter.
func (l *tallyLines) checkSeen(b *TallyBook) error {
	number := int64(0)
	if b.newest != nil {
		number = b.newest.Number
	}
	l.mu.Lock()
	key := lineKey{b.tx.org, b.TallyGroup}
	seen, _ := l.seen.Get(key)
	if number > seen {
		l.seen.Put(key, number)
	}
	l.mu.Unlock()
	if number < seen {
		return b.tx.store.found(Finding{b.tx.org, tallyKind, b.id(seen), isGone})
	}
	return nil
}

// await waits for the turn of a book, and for what it continues.
func (line *tallyLine) await(ctx context.Context, b *TallyBook) error {
	select {
	case line.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	b.locked = true
	for {
		line.mu.Lock()
		if tail := line.tail; tail != nil && !line.broken {
			b.newest, b.stored, b.rests = tail.tally, tail.stored, tail
			line.mu.Unlock()
			return nil
		}
		if len(line.pending) == 0 {
			line.mu.Unlock()
			return b.readNewest()
		}
		if line.drained == nil {
			line.drained = make(chan struct{})
		}
		drained := line.drained
		line.mu.Unlock()
		select {
		case <-drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// known is an entry that is on its way, or was read lately; nil: it must be read.
func (line *tallyLine) known(number int64) *domain.Tally {
	line.mu.Lock()
	defer line.mu.Unlock()
	if t := line.pending[number]; t != nil {
		return t.tally
	}
	entry, _ := line.read.Get(number)
	return entry
}

func (line *tallyLine) remember(entry *domain.Tally) {
	line.mu.Lock()
	defer line.mu.Unlock()
	line.read.Put(entry.Number, entry)
}

// extend puts an entry behind the one that the book has read.
func (line *tallyLine) extend(b *TallyBook, entry *domain.Tally, body, stored []byte) {
	ticket := &tallyTicket{tally: entry, body: body, stored: stored, queued: make(chan struct{}), done: make(chan struct{})}
	line.mu.Lock()
	ticket.before = line.tail
	line.tail, line.pending[entry.Number] = ticket, ticket
	line.mu.Unlock()
	b.entry = ticket
	b.pass()
}

// pass lets the next transaction have its turn.
func (b *TallyBook) pass() {
	if b.locked {
		b.locked = false
		<-b.line.turn
	}
}

// end says what became of the book's entry, and leaves the line.
func (b *TallyBook) end(committed bool) {
	b.pass()
	if b.entry != nil {
		b.line.ended(b.entry, committed)
	}
	b.line.all.leave(b.line)
}

func (line *tallyLine) ended(t *tallyTicket, committed bool) {
	if !committed {
		t.failed.Store(true)
	}
	t.sendOff()
	close(t.done)
	line.mu.Lock()
	delete(line.pending, t.tally.Number)
	line.broken = line.broken || !committed
	if len(line.pending) == 0 {
		line.tail, line.broken = nil, false
		if line.drained != nil {
			close(line.drained)
			line.drained = nil
		}
	}
	line.mu.Unlock()
	if committed {
		line.all.mu.Lock()
		if seen, _ := line.all.seen.Get(line.key); seen < t.tally.Number {
			line.all.seen.Put(line.key, t.tally.Number)
		}
		line.all.mu.Unlock()
	}
}

// databaseClock follows the clock of the database without asking it each time. It
// is never ahead: what it learned was read before the answer came.
type databaseClock struct {
	mu     sync.Mutex
	learnt time.Time // by this machine's clock, of which only differences are used
	read   time.Time
}

// clockEvery is how long the difference between two clocks is taken for constant.
const clockEvery = time.Second

func (c *databaseClock) now(ctx context.Context, d Driver) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := time.Since(c.learnt); !c.learnt.IsZero() && since < clockEvery {
		return c.read.Add(since), nil
	}
	read, err := d.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	c.read, c.learnt = read, time.Now()
	return read, nil
}
