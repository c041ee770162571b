package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
)

// args collects the arguments of a statement.
type args []any

// add returns the placeholder of a new argument.
func (a *args) add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// Version implements store.Driver.
func (db *DB) Version(ctx context.Context, org string) (int64, error) {
	var version int64
	err := db.reads.QueryRow(ctx, `SELECT version FROM organizations WHERE org = $1`, org).Scan(&version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("reading the version: %w", err)
	}
	return version, nil
}

// Get implements store.Driver.
func (db *DB) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	var body []byte
	err := db.reads.QueryRow(ctx, `SELECT body FROM items WHERE org = $1 AND kind = $2 AND id = $3`, org, kind, id).
		Scan(&body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading a %s: %w", kind, err)
	}
	return nonNil(body), nil
}

// Organizations implements store.Driver.
func (db *DB) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	rows, err := db.reads.Query(ctx, `SELECT org FROM organizations WHERE org > $1 ORDER BY org LIMIT $2`, after, limit)
	if err == nil {
		var orgs []string
		if orgs, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
			return orgs, nil
		}
	}
	return nil, fmt.Errorf("listing the organizations: %w", err)
}

// Scan implements store.Driver.
func (db *DB) Scan(ctx context.Context, org, kind string, r store.Range) ([]store.Item, error) {
	var a args
	q := `SELECT id, body FROM items WHERE org = ` + a.add(org) + ` AND kind = ` + a.add(kind) + ` AND id >= ` + a.add(r.From)
	if r.To != "" {
		q += ` AND id < ` + a.add(r.To)
	}
	q += ` ORDER BY id`
	if r.Limit > 0 {
		q += ` LIMIT ` + a.add(r.Limit)
	}
	rows, err := db.reads.Query(ctx, q, a...)
	if err == nil {
		var items []store.Item
		items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (it store.Item, err error) {
			err = row.Scan(&it.ID, &it.Body)
			return it, err
		})
		if err == nil {
			return items, nil
		}
	}
	return nil, fmt.Errorf("scanning the %ss: %w", kind, err)
}

// Activity implements store.Driver.
func (db *DB) Activity(ctx context.Context, org, id string) (*store.Activity, error) {
	return db.activity(ctx, `SELECT `+activityColumns+` FROM activities WHERE org = $1 AND id = $2`, org, id)
}

// Recorded implements store.Driver.
func (db *DB) Recorded(ctx context.Context, org string, timestampMs int64, fp store.Fingerprint) (*store.Activity, error) {
	return db.activity(ctx, `SELECT `+activityColumns+` FROM activities
		WHERE org = $1 AND timestamp_ms = $2 AND fingerprint = $3`, org, timestampMs, fp[:])
}

func (db *DB) activity(ctx context.Context, sql string, args ...any) (*store.Activity, error) {
	rows, err := db.reads.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("reading an activity: %w", err)
	}
	a, err := pgx.CollectExactlyOneRow(rows, activityOf)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading an activity: %w", err)
	}
	return &a, nil
}

// activityOf reads the activityColumns.
func activityOf(row pgx.CollectableRow) (a store.Activity, err error) {
	var fp []byte
	if err := row.Scan(&a.ID, &a.TimestampMs, &fp, &a.Type, &a.Status, &a.Body); err != nil {
		return a, err
	}
	if copy(a.Fingerprint[:], fp) != len(a.Fingerprint) {
		return a, fmt.Errorf("the activity %s has a fingerprint of %d bytes", a.ID, len(fp))
	}
	return a, nil
}
