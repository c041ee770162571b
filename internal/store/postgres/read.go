package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/store"
)

// args collects the arguments of a statement.
type args []any

// add returns the placeholder of a new argument.
func (a *args) add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// maxRereads is how often a read that timed out is tried again.
const maxRereads = 3

// maxLost bounds on how many lost connections one read may have been.
const maxLost = 32

// read runs a statement that only reads, and collects its rows.
//
// A statement whose connection is lost runs again on another one. After a restart
// of the server all others of the pool may be dead too, each of which fails at
// once.
//
// A caller that goes away in the middle can leave a connection behind on which
// the next statement, of another caller, ends with the same time-out. That one
// reads again; the connection is closed by then.
func read[T any](ctx context.Context, db *DB, collect func(pgx.Rows) (T, error), sql string, args ...any) (found T, err error) {
	for lost, late := 0, 0; ; {
		found, err = readOnce(ctx, db, collect, sql, args...)
		if err == nil || ctx.Err() != nil {
			return found, err
		}
		_, unreachable := errors.AsType[*pgconn.ConnectError](err)
		_, closed := errors.AsType[lostConnection](err)
		switch {
		case unreachable:
			return found, err
		case pgconn.Timeout(err) && late < maxRereads:
			late++
		case closed && !pgconn.Timeout(err) && lost < min(cap(db.reads.line), maxLost):
			lost++
		default:
			return found, err
		}
	}
}

// lostConnection is a failure of a statement that its connection did not survive.
type lostConnection struct{ error }

func (l lostConnection) Unwrap() error { return l.error }

func readOnce[T any](ctx context.Context, db *DB, collect func(pgx.Rows) (T, error), sql string, args ...any) (found T, err error) {
	conn, err := db.reads.acquire(ctx)
	if err != nil {
		return found, err
	}
	defer db.reads.release(conn)
	rows, err := conn.Query(ctx, sql, args...)
	if err == nil {
		found, err = collect(rows)
	}
	if err != nil && conn.Conn().IsClosed() {
		err = lostConnection{err}
	}
	return found, err
}

// zeroOrOne collects the row of a statement that returns at most one, the zero
// value when there is none.
func zeroOrOne[T any](of pgx.RowToFunc[T]) func(pgx.Rows) (T, error) {
	return func(rows pgx.Rows) (found T, err error) {
		found, err = pgx.CollectExactlyOneRow(rows, of)
		if errors.Is(err, pgx.ErrNoRows) {
			return found, nil
		}
		return found, err
	}
}

// all collects every row.
func all[T any](of pgx.RowToFunc[T]) func(pgx.Rows) ([]T, error) {
	return func(rows pgx.Rows) ([]T, error) { return pgx.CollectRows(rows, of) }
}

// Version implements [store.Driver].
func (db *DB) Version(ctx context.Context, org string) (int64, error) {
	versions, err := db.questions.versions(ctx, org)
	if err != nil {
		return 0, fmt.Errorf("reading the version: %w", err)
	}
	return versions[org], nil
}

// Versions implements [store.Driver].
func (db *DB) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	found, err := db.questions.versions(ctx, orgs...)
	if err != nil {
		return nil, fmt.Errorf("reading versions: %w", err)
	}
	versions := make(map[string]int64, len(orgs)) // of others' questions nothing
	for _, org := range orgs {
		if version, ok := found[org]; ok {
			versions[org] = version
		}
	}
	return versions, nil
}

// Remote implements [store.Driver].
func (db *DB) Remote() bool { return true }

// Now implements [store.Driver].
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	now, err := read(ctx, db, zeroOrOne(pgx.RowTo[time.Time]), `SELECT clock_timestamp()`)
	if err != nil {
		return now, fmt.Errorf("asking for the time: %w", err)
	}
	return now, nil
}

// Get implements [store.Driver].
func (db *DB) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	body, err := read(ctx, db, zeroOrOne(bodyOf), `SELECT body FROM items WHERE org = $1 AND kind = $2 AND id = $3`, org, kind, id)
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", kind, err)
	}
	return body, nil
}

// bodyOf reads a body, never nil.
func bodyOf(row pgx.CollectableRow) (body []byte, err error) {
	err = row.Scan(&body)
	return store.NonNil(body), err
}

// Organizations implements [store.Driver].
func (db *DB) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	orgs, err := read(ctx, db, all(pgx.RowTo[string]), `SELECT org FROM organizations WHERE org > $1 ORDER BY org LIMIT $2`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("listing the organizations: %w", err)
	}
	return orgs, nil
}

// presentKinds lists the kinds of items that an organization has: each step finds
// the next one in the primary key.
const presentKinds = `WITH RECURSIVE present (kind) AS (
	(SELECT kind FROM items WHERE org = $1 ORDER BY kind LIMIT 1)
	UNION ALL
	SELECT (SELECT kind FROM items WHERE org = $1 AND items.kind > present.kind ORDER BY kind LIMIT 1)
	FROM present WHERE present.kind IS NOT NULL)
	SELECT kind FROM present WHERE kind IS NOT NULL`

// Kinds implements [store.Driver].
func (db *DB) Kinds(ctx context.Context, org string) ([]string, error) {
	kinds, err := read(ctx, db, all(pgx.RowTo[string]), presentKinds, org)
	if err != nil {
		return nil, fmt.Errorf("listing the kinds: %w", err)
	}
	return kinds, nil
}

// Scan implements [store.Driver].
func (db *DB) Scan(ctx context.Context, org, kind string, r store.Range) ([]store.Item, error) {
	var a args
	return scan(ctx, db, itemOf, `SELECT id, body`, a, org, kind, r)
}

// ScanIndex implements [store.Driver].
func (db *DB) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) ([]store.IndexRow, error) {
	var a args
	// Not a join, for which there are plans that read all items of a kind.
	ofOrg, behind := a.add(org), a.add(utf8.RuneCountInString(of.Prefix)+1)
	columns := `SELECT id, body, (SELECT r.body FROM items r WHERE r.org = ` + ofOrg + ` AND r.kind = ` + a.add(of.Kind) +
		` AND r.id = substr(i.id, ` + behind + `))`
	if of.WithKind != "" {
		columns += `, (SELECT w.body FROM items w WHERE w.org = ` + ofOrg + ` AND w.kind = ` + a.add(of.WithKind) +
			` AND w.id = ` + a.add(of.WithPrefix) + ` || substr(i.id, ` + behind + `))`
	}
	return scan(ctx, db, func(row pgx.CollectableRow) (found store.IndexRow, err error) {
		to := []any{&found.ID, &found.Body, &found.Record}
		if of.WithKind != "" {
			to = append(to, &found.With)
		}
		err = row.Scan(to...)
		return found, err
	}, columns, a, org, kind, r)
}

// scan selects columns of the items i in a range.
func scan[T any](ctx context.Context, db *DB, each pgx.RowToFunc[T], columns string, a args, org, kind string, r store.Range) ([]T, error) {
	q := columns + ` FROM items i WHERE org = ` + a.add(org) + ` AND kind = ` + a.add(kind) + ` AND id >= ` + a.add(r.From)
	if r.To != "" {
		q += ` AND id < ` + a.add(r.To)
	}
	q += ` ORDER BY id`
	if r.Limit > 0 {
		q += ` LIMIT ` + a.add(r.Limit)
	}
	items, err := read(ctx, db, all(each), q, a...)
	if err != nil {
		return nil, fmt.Errorf("scanning the %ss: %w", kind, err)
	}
	return items, nil
}

func itemOf(row pgx.CollectableRow) (it store.Item, err error) {
	err = row.Scan(&it.ID, &it.Body)
	return it, err
}

// Activity implements [store.Driver].
func (db *DB) Activity(ctx context.Context, org, id string) (*store.ActivityRow, error) {
	return db.activity(ctx, `SELECT `+activityColumns+` FROM activities WHERE org = $1 AND id = $2`, org, id)
}

// Recorded implements [store.Driver].
func (db *DB) Recorded(ctx context.Context, org string, timestampMs int64, fp store.Fingerprint) (*store.ActivityRow, error) {
	found, err := db.activity(ctx, `SELECT `+activityColumns+` FROM activities
		WHERE org = $1 AND timestamp_ms = $2 AND fingerprint = $3`, org, timestampMs, fp[:])
	if err == nil && found != nil {
		// It is answered as done, perhaps by a node that knows nothing of the doubt.
		err = db.certain(ctx)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (db *DB) activity(ctx context.Context, sql string, args ...any) (*store.ActivityRow, error) {
	found, err := read(ctx, db, all(activityOf), sql, args...)
	if err != nil {
		return nil, fmt.Errorf("reading an activity: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// activityOf reads the activityColumns.
func activityOf(row pgx.CollectableRow) (a store.ActivityRow, err error) {
	var fp []byte
	if err := row.Scan(&a.ID, &a.TimestampMs, &fp, &a.Type, &a.Status, &a.Body); err != nil {
		return a, err
	}
	if len(fp) == len(a.Fingerprint) { // else its mark will not fit
		copy(a.Fingerprint[:], fp)
	}
	return a, nil
}
