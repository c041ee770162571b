package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"unicode/utf8"

	"latchkey/internal/store"
)

// A long read checks this often whether its caller is still waiting.
const rowsBetweenChecks = 128

// Get implements [store.Driver].
func (db *DB) Get(ctx context.Context, org, kind, id string) (body []byte, err error) {
	err = db.readers.do(ctx, func(r *reader) error {
		return r.get.query(func(row []driver.Value) error {
			body = bytesOf(row[0])
			return nil
		}, org, kind, id)
	})
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", kind, err)
	}
	return body, nil
}

// Organizations implements [store.Driver].
func (db *DB) Organizations(ctx context.Context, after string, limit int) (orgs []string, err error) {
	err = db.query(ctx, func(row []driver.Value) error {
		org, _ := row[0].(string)
		orgs = append(orgs, org)
		return nil
	}, `SELECT org FROM organizations WHERE org > ? AND org < x'' ORDER BY org LIMIT ?+0`, after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("listing the organizations: %w", err)
	}
	return orgs, nil
}

// presentKinds lists the kinds of items that an organization has: each step finds
// the next one in the primary key.
const presentKinds = `WITH RECURSIVE present (kind) AS (
	SELECT min(kind) FROM items WHERE org = ?1
	UNION ALL
	SELECT (SELECT min(kind) FROM items WHERE org = ?1 AND kind > present.kind) FROM present WHERE kind IS NOT NULL)
	SELECT kind FROM present WHERE kind IS NOT NULL`

// Kinds implements [store.Driver].
func (db *DB) Kinds(ctx context.Context, org string) (kinds []string, err error) {
	err = db.query(ctx, func(row []driver.Value) error {
		kind, _ := row[0].(string)
		kinds = append(kinds, kind)
		return nil
	}, presentKinds, org)
	if err != nil {
		return nil, fmt.Errorf("listing the kinds: %w", err)
	}
	return kinds, nil
}

// What a scan selects of the items i in a range. Names of columns are copied with each
// answer: without their own they would be the text of what is selected.
const (
	scanned = ` FROM items i WHERE org = ?1 AND kind = ?2 AND id >= ?3 AND id < ?4
		ORDER BY id LIMIT ?5+0` // see args.limit
	withRecord = `, (SELECT r.body FROM items r WHERE r.org = ?1 AND r.kind = ?6 AND r.id = substr(i.id, ?7)) AS r`
	withOther  = `, (SELECT w.body FROM items w WHERE w.org = ?1 AND w.kind = ?8 AND w.id = ?9 || substr(i.id, ?7)) AS w`

	scanItems       = `SELECT id, body` + scanned
	scanRecords     = `SELECT id, body` + withRecord + scanned
	scanRecordsWith = `SELECT id, body` + withRecord + withOther + scanned
)

// afterText is behind all texts, and the empty blob.
var afterText = []byte{0}

// Scan implements [store.Driver].
func (db *DB) Scan(ctx context.Context, org, kind string, r store.Range) (items []store.Item, err error) {
	err = db.scan(ctx, func(row []driver.Value) error {
		items = append(items, itemOf(row))
		return nil
	}, scanItems, org, kind, r)
	return items, err
}

// ScanIndex implements [store.Driver].
func (db *DB) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) (found []store.IndexRow, err error) {
	sql, more := scanRecords, []any{of.Kind, int64(utf8.RuneCountInString(of.Prefix)) + 1}
	if of.WithKind != "" {
		sql, more = scanRecordsWith, append(more, of.WithKind, of.WithPrefix)
	}
	err = db.scan(ctx, func(row []driver.Value) error {
		f := store.IndexRow{Item: itemOf(row), Record: bytesIfAny(row[2])}
		if of.WithKind != "" {
			f.With = bytesIfAny(row[3])
		}
		found = append(found, f)
		return nil
	}, sql, org, kind, r, more...)
	return found, err
}

func itemOf(row []driver.Value) store.Item {
	id, _ := row[0].(string)
	return store.Item{ID: id, Body: bytesOf(row[1])}
}

// scan runs one of the statements above.
func (db *DB) scan(ctx context.Context, each func([]driver.Value) error, sql, org, kind string, r store.Range, more ...any) error {
	var to any = afterText
	if r.To != "" {
		to = r.To
	}
	// Another program may have written an id that is no text: such are behind all
	// texts, and have no place in pages that continue after an id.
	texts := func(row []driver.Value) error {
		if _, ok := row[0].(string); !ok {
			return nil
		}
		return each(row)
	}
	limit := int64(r.Limit)
	if limit <= 0 {
		limit = -1 // none
	}
	if err := db.query(ctx, texts, sql, append([]any{org, kind, r.From, to, limit}, more...)...); err != nil {
		return fmt.Errorf("scanning the %ss: %w", kind, err)
	}
	return nil
}

// Activity implements [store.Driver].
func (db *DB) Activity(ctx context.Context, org, id string) (a *store.ActivityRow, err error) {
	err = db.readers.do(ctx, func(r *reader) error {
		return r.activity.query(func(row []driver.Value) error {
			a = activityOf(row)
			return nil
		}, org, id)
	})
	if err != nil {
		return nil, fmt.Errorf("reading an activity: %w", err)
	}
	return a, nil
}

// Recorded implements [store.Driver].
func (db *DB) Recorded(ctx context.Context, org string, timestampMs int64, fp store.Fingerprint) (a *store.ActivityRow, err error) {
	err = db.readers.do(ctx, func(r *reader) error {
		return r.recorded.query(func(row []driver.Value) error {
			a = activityOf(row)
			return nil
		}, org, timestampMs, fp[:])
	})
	if err != nil {
		return nil, fmt.Errorf("looking for a recorded request: %w", err)
	}
	return a, nil
}

// query runs a statement that may return many rows.
func (db *DB) query(ctx context.Context, fn func([]driver.Value) error, sql string, args ...any) error {
	return db.readers.do(ctx, func(r *reader) error { return r.query(ctx, fn, sql, args...) })
}

func (r *reader) query(ctx context.Context, fn func([]driver.Value) error, sql string, args ...any) error {
	s, kept, err := r.prepared(sql)
	if err != nil {
		return err
	}
	n := 0
	err = s.query(func(row []driver.Value) error {
		if n++; n%rowsBetweenChecks == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return fn(row)
	}, args...)
	if !kept {
		err = errors.Join(err, s.raw.Close())
	}
	return err
}

// activityOf reads the activityColumns.
func activityOf(row []driver.Value) *store.ActivityRow {
	a := &store.ActivityRow{Body: bytesOf(row[5])}
	a.ID, _ = row[0].(string)
	a.TimestampMs, _ = row[1].(int64)
	a.Type, _ = row[3].(string)
	a.Status, _ = row[4].(string)
	if fp := bytesOf(row[2]); len(fp) == len(a.Fingerprint) { // else its mark will not fit
		copy(a.Fingerprint[:], fp)
	}
	return a
}

// bytesIfAny is bytesOf for what may be NULL, which is nil.
func bytesIfAny(v driver.Value) []byte {
	if v == nil {
		return nil
	}
	return bytesOf(v)
}

// bytesOf returns a body, never nil: for the driver an empty blob is nil.
func bytesOf(v driver.Value) []byte {
	b, _ := v.([]byte)
	return store.NonNil(b)
}
