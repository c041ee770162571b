package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"latchkey/internal/store"
	"latchkey/internal/store/migration"
)

var _ store.Image = (*Image)(nil)

// Image is a [store.Image] of a database: what one transaction sees that only
// reads. A standby can be read too.
type Image struct {
	conn    *pgx.Conn
	cursors int
}

// OpenImage connects to the database at url.
func OpenImage(ctx context.Context, url string) (*Image, error) {
	m, err := openImage(ctx, url, false)
	if err != nil {
		return nil, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	return m, nil
}

// OpenStopped is [OpenImage] of a database that no server uses. Until it is closed none
// can write to it.
func OpenStopped(ctx context.Context, url string) (*Image, error) {
	if err := Alone(ctx, url); err != nil {
		return nil, err
	}
	conn, err := connectAlone(ctx, url)
	var m *Image
	if err == nil {
		m, err = beginImage(ctx, conn, false, "BEGIN ISOLATION LEVEL REPEATABLE READ", noTimeout,
			"LOCK TABLE organizations, items, activities, log_entries IN SHARE MODE", "SET TRANSACTION READ ONLY")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	return m, nil
}

// openImage is [OpenImage]; loading says that the database may be one into which rows
// are being loaded.
func openImage(ctx context.Context, url string, loading bool) (_ *Image, err error) {
	c, err := pgxpool.ParseConfig(url) // which knows the settings of pools
	if err != nil {
		return nil, err
	}
	c.ConnConfig.RuntimeParams["application_name"] = "latchkey audit"
	conn, err := connectPlain(ctx, c.ConnConfig)
	if err != nil {
		return nil, err
	}
	return beginImage(ctx, conn, loading, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", noTimeout)
}

// beginImage takes a connection over, and begins the transaction by some statements.
func beginImage(ctx context.Context, conn *pgx.Conn, loading bool, begin ...string) (_ *Image, err error) {
	m := &Image{conn: conn}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	for _, sql := range begin {
		if _, err := m.conn.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	if unfinished, err := collect(ctx, m, zeroOrOne(pgx.RowTo[bool]), selectUnfinished); err != nil || unfinished && !loading {
		return nil, cmp.Or(err, store.ErrUnfinished)
	}
	steps, err := migration.Load(migrations)
	if err != nil {
		return nil, err
	}
	at, err := collect(ctx, m, zeroOrOne(pgx.RowTo[int64]), selectSchema)
	if err != nil {
		return nil, err
	}
	if at != int64(len(steps)) {
		return nil, fmt.Errorf("the database has schema %d, not %d: use the latchkey that its servers run", at, len(steps))
	}
	return m, nil
}

// Close implements [store.Image].
func (m *Image) Close() error { return m.conn.Close(context.Background()) }

// Rows implements [store.Image].
func (m *Image) Rows(ctx context.Context) (int64, error) {
	return collect(ctx, m, zeroOrOne(pgx.RowTo[int64]), `SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM activities) + (SELECT count(*) FROM log_entries)`)
}

// Version implements [store.Image].
func (m *Image) Version(ctx context.Context, org string) (int64, error) {
	return collect(ctx, m, zeroOrOne(pgx.RowTo[int64]), `SELECT version FROM organizations WHERE org = $1`, org)
}

// Versions implements [store.Image].
func (m *Image) Versions(ctx context.Context, fn func(string, int64) error) error {
	type versioned struct {
		Org     string
		Version int64
	}
	return each(ctx, m, pgx.RowToStructByPos[versioned], func(v versioned) error { return fn(v.Org, v.Version) },
		`SELECT org, version FROM organizations ORDER BY org`)
}

// Get implements [store.Image].
func (m *Image) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	return collect(ctx, m, zeroOrOne(bodyOf), `SELECT body FROM items WHERE org = $1 AND kind = $2 AND id = $3`, org, kind, id)
}

// Items implements [store.Image].
func (m *Image) Items(ctx context.Context, org, kind string, fn func(org, kind string, item store.Item) error) error {
	sql := `SELECT org, kind, id, body FROM items`
	var a args
	if org != "" {
		sql += ` WHERE org = ` + a.add(org)
		if kind != "" {
			sql += ` AND kind = ` + a.add(kind)
		}
	}
	type row struct {
		Org, Kind, ID string
		Body          []byte
	}
	return each(ctx, m, pgx.RowToStructByPos[row], func(r row) error {
		return fn(r.Org, r.Kind, store.Item{ID: r.ID, Body: r.Body})
	}, sql+` ORDER BY org, kind, id`, a...)
}

// Activity implements [store.Image].
func (m *Image) Activity(ctx context.Context, org, id string) (*store.ActivityRow, error) {
	found, err := collect(ctx, m, all(activityOf), `SELECT `+activityColumns+` FROM activities WHERE org = $1 AND id = $2`, org, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Activities implements [store.Image].
func (m *Image) Activities(ctx context.Context, fn func(string, *store.ActivityRow) error) error {
	return m.activities(ctx, fn, "")
}

// OrderedActivities implements [store.Image].
func (m *Image) OrderedActivities(ctx context.Context, fn func(string, *store.ActivityRow) error) error {
	return m.activities(ctx, fn, " ORDER BY org, id")
}

func (m *Image) activities(ctx context.Context, fn func(string, *store.ActivityRow) error, order string) error {
	type row struct {
		org string
		store.ActivityRow
	}
	return each(ctx, m, func(r pgx.CollectableRow) (found row, err error) {
		var fp []byte
		err = r.Scan(&found.org, &found.ID, &found.TimestampMs, &fp, &found.Type, &found.Status, &found.Body)
		if len(fp) == len(found.Fingerprint) {
			copy(found.Fingerprint[:], fp)
		}
		return found, err
	}, func(r row) error { return fn(r.org, &r.ActivityRow) }, `SELECT org, `+activityColumns+` FROM activities`+order)
}

// NewestEntry implements [store.Image].
func (m *Image) NewestEntry(ctx context.Context) (int64, error) {
	return collect(ctx, m, zeroOrOne(pgx.RowTo[int64]), `SELECT coalesce(max(position), 0) FROM log_entries`)
}

// Entries implements [store.Image].
func (m *Image) Entries(ctx context.Context, fn func(store.EntryRow) error) error {
	return each(ctx, m, entryOf, fn, selectEntries+` ORDER BY position`)
}

// EntriesAt implements [store.Image].
func (m *Image) EntriesAt(ctx context.Context, positions []int64) ([]store.EntryRow, error) {
	return collect(ctx, m, all(entryOf), selectEntries+` WHERE position = ANY ($1)`, positions)
}

// EntriesOf implements [store.Image].
func (m *Image) EntriesOf(ctx context.Context, activities []string) ([]store.EntryRow, error) {
	return collect(ctx, m, all(entryOf), selectEntries+` WHERE activity = ANY ($1) AND activity <> '' ORDER BY position`, activities)
}

func collect[T any](ctx context.Context, m *Image, read func(pgx.Rows) (T, error), sql string, args ...any) (found T, err error) {
	rows, err := m.conn.Query(ctx, sql, args...)
	if err != nil {
		return found, err
	}
	return read(rows)
}

// rowsAtOnce are in memory together.
const rowsAtOnce = 64

// each gives the rows of a statement to fn, through a cursor, so that fn can use
// the connection.
func each[T any](ctx context.Context, m *Image, of pgx.RowToFunc[T], fn func(T) error, sql string, args ...any) error {
	m.cursors++
	name := "audit_" + strconv.Itoa(m.cursors)
	if _, err := m.conn.Exec(ctx, `DECLARE `+name+` NO SCROLL CURSOR FOR `+sql, args...); err != nil {
		return err
	}
	for {
		page, err := collect(ctx, m, all(of), `FETCH `+strconv.Itoa(rowsAtOnce)+` FROM `+name)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := fn(row); err != nil {
				return err
			}
		}
		if len(page) < rowsAtOnce {
			_, err := m.conn.Exec(ctx, `CLOSE `+name)
			return err
		}
	}
}
