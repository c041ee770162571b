package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"latchkey/internal/store"
)

// Entries implements [store.Driver].
func (db *DB) Entries(ctx context.Context, q store.EntryQuery) (list []store.EntryRow, err error) {
	var a args
	sql := selectEntries + ` WHERE `
	if q.Activity != "" {
		sql += `activity = ` + a.add(q.Activity) + ` AND activity <> '' AND org = ` + a.add(q.Org)
	} else {
		sql += `position > ` + a.add(q.After) // and no other: a writer that is alone leaves no gap
	}
	sql += ` ORDER BY position`
	if q.Limit > 0 {
		sql += ` LIMIT ` + a.add(int64(q.Limit))
	}
	err = db.query(ctx, func(row []driver.Value) error {
		list = append(list, entryOf(row))
		return nil
	}, sql, a...)
	if err != nil {
		return nil, fmt.Errorf("reading the entries of the log: %w", err)
	}
	return list, nil
}

const selectEntries = `SELECT position, org, activity, body FROM log_entries`

func entryOf(row []driver.Value) (e store.EntryRow) {
	e.Position, _ = row[0].(int64)
	e.Org, _ = row[1].(string)
	e.Activity, _ = row[2].(string)
	e.Body = bytesOf(row[3])
	return e
}

// Horizon implements [store.Driver]. Commits never overlap.
func (db *DB) Horizon(context.Context) (store.Horizon, error) { return store.Horizon{}, nil }
