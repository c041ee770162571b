package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pool is a pool of connections at which callers wait in line. The server may
// admit fewer connections than the pool could have, because others use it too;
// that is no failure, it makes the line longer.
type pool struct {
	conns *pgxpool.Pool
	line  chan struct{} // filled by each that has a connection, or is about to
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
	select {
	case p.line <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
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

// tooManyConnections is about the server, the database or the role.
const tooManyConnections = "53300"

func (p *pool) release(conn *pgxpool.Conn) {
	conn.Release()
	<-p.line
}
