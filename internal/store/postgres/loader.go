package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"latchkey/internal/store"
)

var _ store.Loader = (*Loader)(nil)

// Loader is a [store.Loader] of a database.
type Loader struct {
	url  string
	conn *pgx.Conn
	done store.LoadCounts // as this loader knows it
}

// convertName is the application name of sessions that convert.
const convertName = "latchkey convert"

// OpenLoader connects to the database at url, which must be as a server needs it, and
// brings its schema up to date.
func OpenLoader(ctx context.Context, url string) (*Loader, error) {
	db, err := open(ctx, url, Config{loading: true})
	if err == nil {
		err = db.Close()
	}
	l := &Loader{url: url}
	if err == nil {
		l.conn, err = connectAlone(ctx, url)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	return l, nil
}

// connectAlone makes a connection for a conversion, which may take long.
func connectAlone(ctx context.Context, url string) (*pgx.Conn, error) {
	c, err := pgxpool.ParseConfig(url) // which knows the settings of pools
	if err != nil {
		return nil, err
	}
	c.ConnConfig.RuntimeParams["application_name"] = convertName
	return connectPlain(ctx, c.ConnConfig)
}

// selectUnfinished finds the table that is there while something is being loaded.
const selectUnfinished = `SELECT to_regclass('` + store.LoadTable + `') IS NOT NULL`

// Begun implements [store.Loader].
func (l *Loader) Begun(ctx context.Context) (what string, done store.LoadCounts, err error) {
	var unfinished bool
	if err := l.conn.QueryRow(ctx, selectUnfinished).Scan(&unfinished); err != nil || !unfinished {
		return "", done, err
	}
	err = l.conn.QueryRow(ctx, `SELECT what, organizations, items, activities, log_entries FROM `+store.LoadTable).
		Scan(&what, &done.Organizations, &done.Items, &done.Activities, &done.Entries)
	l.done = done
	return what, done, err
}

// Begin implements [store.Loader].
func (l *Loader) Begin(ctx context.Context, what string) error {
	if err := Alone(ctx, l.url); err != nil {
		return err
	}
	err := l.transact(ctx, func(tx pgx.Tx) error {
		var some bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM organizations) OR EXISTS (SELECT 1 FROM items)
			OR EXISTS (SELECT 1 FROM activities) OR EXISTS (SELECT 1 FROM log_entries)`).Scan(&some)
		if err != nil {
			return err
		}
		if some {
			return store.ErrNotEmpty
		}
		_, err = tx.Exec(ctx, `CREATE TABLE `+store.LoadTable+` (id smallint NOT NULL PRIMARY KEY CHECK (id = 1), what text NOT NULL,
			organizations bigint NOT NULL, items bigint NOT NULL, activities bigint NOT NULL, log_entries bigint NOT NULL)`)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO `+store.LoadTable+` VALUES (1, $1, 0, 0, 0, 0)`, what)
		return err
	})
	if err != nil {
		return err
	}
	l.done = store.LoadCounts{}
	// A server that was about to begin on the empty database did not see the table.
	if err := Alone(ctx, l.url); err != nil {
		return errors.Join(err, l.Discard(ctx))
	}
	return nil
}

// Discard implements [store.Loader].
func (l *Loader) Discard(ctx context.Context) error {
	return l.transact(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `TRUNCATE organizations, items, activities, log_entries`)
		if err == nil {
			_, err = tx.Exec(ctx, `DROP TABLE `+store.LoadTable)
		}
		return err
	})
}

// errTwo says that someone else loads rows too.
var errTwo = errors.New("another conversion into this database is under way, or was: run this one again")

// Load implements [store.Loader].
func (l *Loader) Load(ctx context.Context, rows *store.LoadRows) error {
	n := rows.Counts()
	err := l.transact(ctx, func(tx pgx.Tx) error {
		// First, so that of two loaders one waits for the other, and then sees it.
		tag, err := tx.Exec(ctx, `UPDATE `+store.LoadTable+` SET organizations = $1::bigint + $5, items = $2::bigint + $6,
			activities = $3::bigint + $7, log_entries = $4::bigint + $8
			WHERE organizations = $1 AND items = $2 AND activities = $3 AND log_entries = $4`,
			l.done.Organizations, l.done.Items, l.done.Activities, l.done.Entries,
			n.Organizations, n.Items, n.Activities, n.Entries)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return errTwo
		}
		return copyRows(ctx, tx, rows)
	})
	if err != nil {
		return err
	}
	l.done.Organizations += n.Organizations
	l.done.Items += n.Items
	l.done.Activities += n.Activities
	l.done.Entries += n.Entries
	return nil
}

func copyRows(ctx context.Context, tx pgx.Tx, rows *store.LoadRows) error {
	for _, table := range []struct {
		name    string
		columns []string
		rows    int
		row     func(i int) ([]any, error)
	}{
		{"organizations", []string{"org", "version"}, len(rows.Organizations), func(i int) ([]any, error) {
			r := &rows.Organizations[i]
			return []any{r.Org, r.Version}, nil
		}},
		{"items", []string{"org", "kind", "id", "body"}, len(rows.Items), func(i int) ([]any, error) {
			r := &rows.Items[i]
			return []any{r.Org, r.Kind, r.ID, r.Body}, nil
		}},
		{"activities", []string{"org", "id", "timestamp_ms", "fingerprint", "type", "status", "body"}, len(rows.Activities), func(i int) ([]any, error) {
			r := &rows.Activities[i]
			return []any{r.Org, r.ID, r.TimestampMs, r.Fingerprint[:], r.Type, r.Status, r.Body}, nil
		}},
		{"log_entries", []string{"position", "org", "activity", "body"}, len(rows.Entries), func(i int) ([]any, error) {
			r := &rows.Entries[i]
			return []any{r.Position, r.Org, r.Activity, r.Body}, nil
		}},
	} {
		if table.rows == 0 {
			continue
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{table.name}, table.columns, pgx.CopyFromSlice(table.rows, table.row)); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return nil
}

// Image implements [store.Loader].
func (l *Loader) Image(ctx context.Context) (store.Image, error) { return openImage(ctx, l.url, true) }

// End implements [store.Loader]. The next position in the log is that after the last
// one; and statements are planned for what is there.
func (l *Loader) End(ctx context.Context) error {
	err := l.transact(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT setval(pg_get_serial_sequence('log_entries', 'position'), max(position)) FROM log_entries HAVING count(*) > 0`)
		if err == nil {
			_, err = tx.Exec(ctx, `ANALYZE organizations, items, activities, log_entries`)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DROP TABLE `+store.LoadTable)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("finishing: %w", err)
	}
	return nil
}

func (l *Loader) transact(ctx context.Context, fn func(pgx.Tx) error) error {
	return named(pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, noTimeout+"; SET LOCAL synchronous_commit = "+flushOn); err != nil {
			return err
		}
		return fn(tx)
	}))
}

// Close implements [store.Loader].
func (l *Loader) Close() error { return l.conn.Close(context.Background()) }
