package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// Where a commit is when it is acknowledged: on the disk of the primary, or on
// that of a synchronous standby too.
const (
	Local   = "local"
	Replica = "replica"
)

// errNoStandby is why a server is refused whose commits should wait for a
// standby.
var errNoStandby = errors.New("the primary has no synchronous standby (its synchronous_standby_names is empty), but store.durability is replica, " +
	"as set or as found before: give it a standby, or set store.durability to local")

// settingsSQL begins each transaction that writes. What it sets holds to the
// end of the transaction, whatever a pooler did to the session. A primary that
// has lost the setting of its standbys must not commit: then the statement
// reads a parameter that no server knows, and fails.
//
// It also takes the number of the transaction, before any position in the log
// is taken; see [DB.Horizon].
const settingsSQL = `SELECT pg_current_xact_id()::text, set_config('synchronous_commit', $1, true), set_config('statement_timeout', $3, true), CASE
	WHEN $2::boolean AND current_setting('synchronous_standby_names') = '' THEN current_setting('latchkey.synchronous_standby') END`

// settings are the arguments of settingsSQL.
func (db *DB) settings() []any {
	return []any{db.flush, db.replica.Load(), strconv.FormatInt(db.timeout.Milliseconds(), 10)}
}

// undefinedObject is how that fails.
const undefinedObject = "42704"

// checkSession refuses a session that cannot hold to the invariants, and
// reports whether its commits wait for a standby.
func (db *DB) checkSession(ctx context.Context, conn *pgconn.PgConn) (replicates bool, err error) {
	row, err := one(ctx, conn, `SELECT current_setting('server_version_num'), current_setting('synchronous_commit'),
		current_setting('fsync'), current_setting('synchronous_standby_names')`)
	if err != nil {
		return false, err
	}
	version, flush, fsync, standbys := row[0], row[1], row[2], row[3]
	if n, err := strconv.Atoi(version); err != nil || n < minServer {
		return false, fmt.Errorf("the server has version %s, but PostgreSQL %d or newer is needed", version, minServer/10_000)
	}
	if flush != flushOn && flush != flushApply && !db.pooled { // where each transaction sets it
		return false, fmt.Errorf("the session has synchronous_commit=%s, which can lose acknowledged commits; does a pooler drop the setting?", flush)
	}
	if fsync != "on" {
		return false, fmt.Errorf("the server has fsync=%s, which can lose acknowledged commits: set it to on", fsync)
	}
	return standbys != "", nil
}

// checkDurability compares what the server does with what is wanted, and
// remembers it: a standby that is lost does not lower the durability in silence.
func (db *DB) checkDurability(ctx context.Context, conn *pgconn.PgConn, replicates bool) error {
	row, err := one(ctx, conn, `SELECT durability FROM primary_server`)
	if code(err) == undefinedTable { // not migrated yet
		row, err = []string{Local}, nil
	}
	if err != nil {
		return err
	}
	remembered := row[0]
	wanted := db.wanted
	switch {
	case wanted != "":
	case replicates:
		wanted = Replica
	default:
		wanted = remembered
	}
	if wanted == Replica && !replicates {
		return errNoStandby
	}
	db.replica.Store(wanted == Replica)
	if wanted == remembered {
		return nil
	}
	return db.write(ctx, conn, `UPDATE primary_server SET passed_at = now(), durability = '`+wanted+`'`)
}

// Durability is [Replica] or [Local]: what was asked for, or else what was
// found, now or earlier.
func (db *DB) Durability() string {
	if db.replica.Load() {
		return Replica
	}
	return Local
}

// one returns the columns of the one row of a statement.
func one(ctx context.Context, conn *pgconn.PgConn, sql string) ([]string, error) {
	result := conn.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Rows) != 1 {
		return nil, fmt.Errorf("%d rows in place of one", len(result.Rows))
	}
	var row []string
	for _, column := range result.Rows[0] {
		row = append(row, string(column))
	}
	return row, nil
}
