package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"latchkey/internal/store"
)

// pool is a pool of connections at which callers wait in line. The server may
// admit fewer connections than the pool could have, because others use it too;
// that is no failure, it makes the line longer.
type pool struct {
	conns *pgxpool.Pool
	line  chan struct{} // filled by each that has a connection, or is about to
	waits store.Waiting
}

func newPool(ctx context.Context, c *pgxpool.Config) (*pool, error) {
	p, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	return &pool{conns: p, line: make(chan struct{}, c.MaxConns)}, nil
}

// acquire returns a connection, for release, as soon as there is one, or an
// error when ctx ends.
func (p *pool) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := p.queue(ctx); err != nil {
		return nil, err
	}
	// The place in the line is kept while the server is full, so that it is
	// asked now and then by a few, not by all that wait.
	for attempt := 0; ; attempt++ {
		conn, err := p.conns.Acquire(mayDial(ctx))
		if err == nil {
			return conn, nil
		}
		if code(err) != tooManyConnections || pause(ctx, attempt) != nil {
			<-p.line
			return nil, err
		}
	}
}

// queue waits for a place in the line.
func (p *pool) queue(ctx context.Context) error {
	select {
	case p.line <- struct{}{}:
		return nil
	default:
	}
	defer p.waits.Begin()()
	select {
	case p.line <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pool says how the connections are used, those that read and those that commit.
func (db *DB) Pool() (all store.Pool) {
	for _, p := range []*pool{db.reads, db.writes} {
		now := p.conns.Stat()
		all.Used += int(now.AcquiredConns())
		all.Idle += int(now.IdleConns())
		all.Most += int(now.MaxConns())
		times, waited := p.waits.Total()
		all.Waits += times
		all.Waited += waited
	}
	return all
}

// tooManyConnections is about the server, the database or the role.
const tooManyConnections = "53300"

func (p *pool) release(conn *pgxpool.Conn) {
	conn.Release()
	<-p.line
}
