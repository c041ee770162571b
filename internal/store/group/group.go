// Package group gathers commits that arrive at about the same time, so that
// they share one flush to the disk. Both drivers use it: [Queue] collects the
// commits, and [Queue.Run] is the loop that writes them.
//
// Invariants: a commit is handed to at most one writer; one whose caller gave
// up before it was taken is handed to none; every commit that was taken is
// answered exactly once, with its own outcome; after Close nothing enters, and
// the writers write what is left before they stop.
//
// Why wait at all: while a flush of some 70 µs runs, other requests are still
// busy on the same cores, so the next group would hold one or two commits. A
// writer therefore lingers, but only for commits it has reason to expect: as
// many as were outstanding when the last group finished. A caller that is alone
// never waits.
package group

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"latchkey/internal/store"
)

// ErrClosed is returned for every commit that arrives after [Queue.Close].
var ErrClosed = errors.New("store: closed")

// Config bounds the groups. The zero value is usable.
type Config struct {
	Writers    int           // how many goroutines call Run; 0: 1
	Linger     time.Duration // longest wait for more commits; 0: 1 ms; negative: none
	MaxEntries int           // 0: 512
	MaxBytes   int           // of bodies; 0: 8 MiB
}

// entry is one commit in the queue.
type entry struct {
	commit *store.Commit

	size  int
	taken bool // guarded by Queue.mu
	done  chan error
}

// Queue holds the commits that wait for a writer.
type Queue struct {
	cfg Config

	// collecting is held, by filling it, by the one writer that collects, so
	// that two writers do not split one group between them.
	collecting chan struct{}
	timer      *time.Timer // guarded by collecting

	mu       sync.Mutex
	waiting  []*entry
	inflight int  // taken, not finished
	inLine   int  // of them those that follow each other
	expected int  // commits outstanding when the last group finished
	wakeAt   int  // the collecting writer sleeps until this many wait; 0: awake
	closed   bool // nothing enters any more
	wake     chan struct{}
}

// New returns an empty queue.
func New(cfg Config) *Queue {
	if cfg.Writers <= 0 {
		cfg.Writers = 1
	}
	if cfg.Linger == 0 {
		cfg.Linger = time.Millisecond
	}
	if cfg.MaxEntries <= 0 {
		cfg.MaxEntries = 512
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 8 << 20
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Queue{cfg: cfg, collecting: make(chan struct{}, 1), timer: t, wake: make(chan struct{}, 1)}
}

// Do queues c, calls its During, and waits for its outcome. If ctx ends first
// the commit is withdrawn; if a writer already has it, it may still happen, so c
// must not be changed even then.
func (q *Queue) Do(ctx context.Context, c *store.Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := &entry{commit: c, size: c.Size(), done: make(chan error, 1)}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	q.waiting = append(q.waiting, e)
	q.signal()
	q.mu.Unlock()
	if c.During != nil {
		c.During()
	}

	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
	}
	q.mu.Lock()
	if !e.taken {
		if i := slices.Index(q.waiting, e); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1)
		}
	}
	q.mu.Unlock()
	select {
	case err := <-e.done: // it was answered in the meantime: the outcome is known
		return err
	default:
		return ctx.Err()
	}
}

// take waits for commits and returns a group of them; false means that the
// queue is closed and empty. finish must follow for every entry.
func (q *Queue) take() ([]*entry, bool) {
	q.collecting <- struct{}{}
	defer func() { <-q.collecting }()

	q.mu.Lock()
	defer q.mu.Unlock()
	for !slices.ContainsFunc(q.waiting, q.ready) {
		if q.closed && len(q.waiting) == 0 {
			return nil, false
		}
		q.sleep(1, nil)
	}
	q.linger()
	return q.collect(), true
}

// ready reports whether a commit can be taken now: what follows another must not
// overtake it with a second writer.
func (q *Queue) ready(e *entry) bool { return q.inLine == 0 || !e.commit.InLine() }

// collect takes what is ready and fits, with mu held. There may be none: a caller
// may have withdrawn.
func (q *Queue) collect() (got []*entry) {
	bytes, full := 0, false
	inLine := 0
	left := q.waiting[:0]
	for _, e := range q.waiting {
		full = full || len(got) == q.cfg.MaxEntries || len(got) > 0 && bytes+e.size > q.cfg.MaxBytes
		if full || !q.ready(e) {
			left = append(left, e)
			continue
		}
		if e.commit.InLine() {
			inLine++
		}
		e.taken = true
		bytes += e.size
		got = append(got, e)
	}
	clear(q.waiting[len(left):])
	q.waiting = left
	q.inflight += len(got)
	q.inLine += inLine
	return got
}

// finish tells the callers of a group the outcomes of their commits; there is
// one for each, nil for done.
func (q *Queue) finish(group []*entry, outcomes []error) {
	q.mu.Lock()
	q.expected = len(q.waiting) + q.inflight
	q.inflight -= len(group)
	for _, e := range group {
		if e.commit.InLine() {
			q.inLine--
		}
	}
	q.signal()
	q.mu.Unlock()
	for i, e := range group {
		e.done <- outcomes[i]
	}
}

// Close lets nothing more in. What is waiting is still written.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// linger waits, with mu held, until the expected commits are here or the time
// is up. The commits in flight with another writer cannot come, and with
// several writers each waits for its share only, so that one collects while
// another flushes.
func (q *Queue) linger() {
	if q.cfg.Linger < 0 || q.closed {
		return
	}
	want := min(q.expected-q.inflight, (q.expected+q.cfg.Writers-1)/q.cfg.Writers, q.cfg.MaxEntries)
	if len(q.waiting) >= want {
		return
	}
	q.timer.Reset(q.cfg.Linger)
	for len(q.waiting) < want && !q.closed {
		if !q.sleep(want, q.timer.C) {
			return
		}
	}
	q.timer.Stop()
}

// sleep releases mu until n commits wait, the queue is closed, or timeout; it
// reports whether it was woken.
func (q *Queue) sleep(n int, timeout <-chan time.Time) bool {
	select { // drop a signal that came while no writer slept
	case <-q.wake:
	default:
	}
	q.wakeAt = n
	q.mu.Unlock()
	woken := true
	select {
	case <-q.wake:
	case <-timeout:
		woken = false
	}
	q.mu.Lock()
	q.wakeAt = 0
	return woken
}

// signal wakes the sleeping writer if it has what it waits for; mu is held.
func (q *Queue) signal() {
	if q.wakeAt == 0 || (len(q.waiting) < q.wakeAt && !q.closed) {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
