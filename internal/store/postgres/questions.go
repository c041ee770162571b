package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// questions lets callers who ask for versions at the same time share a statement.
//
// A question is answered only by a statement that is sent after it was asked: one
// that is on its way may have been answered before a commit that the caller must
// see. So a caller that comes while as many statements are under way as may be joins
// the next one. A caller that is alone sends their own at once.
//
// The statements are reads like any other (see read): they run on connections
// that were admitted as those of all reads are, and are repeated when one is lost.
type questions struct {
	ask     func(ctx context.Context, orgs []string) (map[string]int64, error)
	timeout time.Duration // of a statement that is shared

	mu       sync.Mutex
	underWay int
	next     *sharedQuestion // not sent yet; nil: there is none
}

// maxUnderWay is how many statements are under way before questions wait for each
// other: enough to keep the processors of a database busy, few enough to be shared.
const maxUnderWay = 4

// maxPatience is how long a question waits for those before it. A statement that
// takes longer may be on a connection that is dead: it must not stop the others,
// for which there are further connections.
const maxPatience = 100 * time.Millisecond

// repeatAfter is when a statement that is shared and has no answer is sent once
// more, on another connection: one that is dead in silence, which costs a caller
// of their own statement their own request, shall not cost all of these theirs.
const repeatAfter = time.Second

// maxShared is how many organizations one caller may ask for in a statement that
// others wait for too.
const maxShared = 4

// sharedQuestion is one statement for several callers.
type sharedQuestion struct {
	orgs    map[string]struct{}
	callers int                // who still wait
	timer   *time.Timer        // until it is sent, and then until it is sent again
	cancel  context.CancelFunc // ends the statements; nil: none was sent yet
	sent    int                // statements that have no answer yet
	over    bool

	answered chan struct{} // closed when what follows is there
	versions map[string]int64
	err      error
}

// versions returns the versions of organizations; those that do not exist are
// left out. The answer may hold others too.
func (q *questions) versions(ctx context.Context, orgs ...string) (map[string]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(orgs) > maxShared {
		return q.ask(ctx, orgs)
	}
	s := q.join(orgs)
	if s == nil {
		defer q.ended()
		return q.ask(ctx, orgs)
	}
	select {
	case <-s.answered:
	case <-ctx.Done():
		q.leave(s)
		return nil, ctx.Err()
	}
	if ofOneCaller(s.err) {
		return q.ask(ctx, orgs)
	}
	return s.versions, s.err
}

// join puts a question into the next statement. nil: it need not wait for one,
// and has begun.
func (q *questions) join(orgs []string) *sharedQuestion {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil && q.underWay < maxUnderWay {
		q.underWay++
		return nil
	}
	if q.next == nil {
		s := &sharedQuestion{orgs: map[string]struct{}{}, answered: make(chan struct{})}
		s.timer = time.AfterFunc(maxPatience, func() { q.sendOverdue(s) })
		q.next = s
	}
	for _, org := range orgs {
		q.next.orgs[org] = struct{}{}
	}
	q.next.callers++
	return q.next
}

// leave forgets a caller who waits no more. A statement for which no one waits is
// not sent, or ends.
func (q *questions) leave(s *sharedQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.callers--; s.callers > 0 {
		return
	}
	if q.next == s {
		q.next = nil
		s.timer.Stop()
		return
	}
	s.cancel()
}

// ended makes room for the next statement.
func (q *questions) ended() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.underWay--
	if q.next != nil && q.underWay < maxUnderWay {
		q.send()
	}
}

func (q *questions) sendOverdue(s *sharedQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == s {
		q.send()
	}
}

// send sends the next statement, which no one can join from then on.
func (q *questions) send() {
	s := q.next
	q.next = nil
	s.timer.Stop()
	q.underWay++
	// It belongs to no caller alone, and ends with the last of them.
	ctx, cancel := context.WithTimeout(context.Background(), q.timeout)
	s.cancel, s.sent = cancel, 1
	s.timer = time.AfterFunc(repeatAfter, func() { q.repeat(ctx, s) })
	go q.run(ctx, s)
}

func (q *questions) repeat(ctx context.Context, s *sharedQuestion) {
	q.mu.Lock()
	again := !s.over
	if again {
		s.sent++
	}
	q.mu.Unlock()
	if again {
		q.run(ctx, s)
	}
}

// run asks, and answers the callers, unless another statement has, or may do
// better.
func (q *questions) run(ctx context.Context, s *sharedQuestion) {
	versions, err := q.ask(ctx, slices.Collect(maps.Keys(s.orgs)))
	q.mu.Lock()
	s.sent--
	first := !s.over && (err == nil || s.sent == 0)
	if first {
		s.over, s.versions, s.err = true, versions, err
		s.timer.Stop()
		s.cancel()
	}
	q.mu.Unlock()
	if first {
		q.ended()
		close(s.answered)
	}
}

// ofOneCaller says that a statement failed for what one of its callers asked, or
// by chance, and at once: each may ask alone. After other failures, each of them
// would wait a second time for a database that is away.
func ofOneCaller(err error) bool {
	state := code(err)
	return strings.HasPrefix(state, "22") || strings.HasPrefix(state, "40") // data exception, transaction rollback
}

// askVersions is the statement.
func (db *DB) askVersions(ctx context.Context, orgs []string) (map[string]int64, error) {
	if len(orgs) == 1 {
		version, err := read(ctx, db, zeroOrOne(pgx.RowTo[int64]), `SELECT version FROM organizations WHERE org = $1`, orgs[0])
		if err != nil || version == 0 {
			return nil, err
		}
		return map[string]int64{orgs[0]: version}, nil
	}
	type versioned struct {
		Org     string
		Version int64
	}
	list, err := read(ctx, db, all(pgx.RowToStructByPos[versioned]), `SELECT org, version FROM organizations WHERE org = ANY ($1)`, orgs)
	if err != nil {
		return nil, err
	}
	versions := make(map[string]int64, len(list))
	for _, v := range list {
		versions[v.Org] = v.Version
	}
	return versions, nil
}
