package postgres

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Facts are what a server of PostgreSQL tells of itself.
type Facts struct {
	Version  string
	Standby  bool // it is in recovery, and takes no writes
	Fsync    bool
	Standbys string // synchronous_standby_names
	// Remembered is the durability that was found or set last; empty: the database is
	// not migrated yet.
	Remembered string
	// Now is the server's time, Asked and Answered are ours before and after it told it.
	Now, Asked, Answered time.Time

	Sessions  int  // of servers, as far as they can be seen
	Encrypted bool // the connection
	Loopback  bool // the server is on this machine
	Pooled    bool // a pooler stands before the server

	version int
}

// Supported reports whether the server is new enough, and MinVersion is how new.
func (f *Facts) Supported() bool { return f.version >= minServer }

// MinVersion is the oldest version of PostgreSQL that is supported.
const MinVersion = minServer / 10_000

// ClockOff is how far the clocks are apart at least. The server may have looked at its
// own at any moment between question and answer, so time spent on the way is no
// difference.
func (f *Facts) ClockOff() time.Duration {
	return max(0, f.Asked.Sub(f.Now), f.Now.Sub(f.Answered))
}

// ReadFacts connects to the server at url, and changes nothing.
func ReadFacts(ctx context.Context, url string, now func() time.Time) (f Facts, err error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return f, err
	}
	name := c.ConnConfig.RuntimeParams["application_name"]
	if name == "" {
		name = applicationName
	}
	c.ConnConfig.RuntimeParams["application_name"] = "latchkey doctor"
	conn, err := connectPlain(ctx, c.ConnConfig)
	if err != nil {
		return f, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if f.Pooled, err = pooled(ctx, conn); err != nil {
		return f, err
	}
	var fsync, number string
	f.Asked = now()
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num'), pg_is_in_recovery(),
		current_setting('fsync'), current_setting('synchronous_standby_names'), clock_timestamp(),
		(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1)`, name).
		Scan(&f.Version, &number, &f.Standby, &fsync, &f.Standbys, &f.Now, &f.Sessions)
	f.Answered = now()
	if err != nil {
		return f, err
	}
	f.version, _ = strconv.Atoi(number) // 0 is not supported
	f.Version, _, _ = strings.Cut(f.Version, " ")
	f.Fsync = fsync == "on"
	_, f.Encrypted = conn.PgConn().Conn().(interface{ HandshakeContext(context.Context) error })
	address, isTCP := conn.PgConn().Conn().RemoteAddr().(*net.TCPAddr)
	f.Loopback = !isTCP || address.IP.IsLoopback()
	row, err := one(ctx, conn.PgConn(), `SELECT durability FROM primary_server`)
	switch {
	case code(err) == undefinedTable:
		return f, nil
	case err == nil:
		f.Remembered = row[0]
	}
	return f, err
}
