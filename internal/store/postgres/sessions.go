package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// applicationName is that of our sessions, unless the URL has another.
const applicationName = "latchkey"

// sessionsEnd is how long the sessions of a process that has ended may still be
// seen.
const sessionsEnd = 5 * time.Second

// Alone refuses a database on which servers have sessions, see [OtherSessions].
func Alone(ctx context.Context, url string) error {
	n, err := OtherSessions(ctx, url)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%d sessions of latchkey are on the database: stop all servers first; nothing was changed", n)
	}
	return nil
}

// OtherSessions returns how many sessions servers have on the database, as far as
// its role may see them and they have the name that the URL gives them.
func OtherSessions(ctx context.Context, url string) (n int, err error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return 0, err
	}
	name := c.ConnConfig.RuntimeParams["application_name"]
	if name == "" {
		name = applicationName
	}
	conn, err := connectPlain(ctx, c.ConnConfig)
	if err != nil {
		return 0, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for end := time.Now().Add(sessionsEnd); ; {
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`, name).Scan(&n)
		if err != nil || n == 0 || time.Now().After(end) {
			return n, err
		}
		if err := pause(ctx, 6); err != nil {
			return n, err
		}
	}
}
