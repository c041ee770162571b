package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
)

// Entries implements [store.Driver].
func (db *DB) Entries(ctx context.Context, q store.EntryQuery) ([]store.EntryRow, error) {
	var a args
	sql := selectEntries + ` WHERE `
	if q.Activity != "" {
		sql += `activity = ` + a.add(q.Activity) + ` AND activity <> '' AND org = ` + a.add(q.Org)
	} else {
		sql += `(position > ` + a.add(q.After)
		if len(q.Also) > 0 {
			sql += ` OR position = ANY (` + a.add(q.Also) + `)`
		}
		sql += `)`
	}
	sql += ` ORDER BY position`
	if q.Limit > 0 {
		sql += ` LIMIT ` + a.add(q.Limit)
	}
	list, err := read(ctx, db, all(entryOf), sql, a...)
	if err != nil {
		return nil, fmt.Errorf("reading the entries of the log: %w", err)
	}
	return list, nil
}

const selectEntries = `SELECT position, org, activity, body FROM log_entries`

func entryOf(row pgx.CollectableRow) (e store.EntryRow, err error) {
	err = row.Scan(&e.Position, &e.Org, &e.Activity, &e.Body)
	return e, err
}

// Horizon implements [store.Driver]. Every transaction that writes has its number
// before it takes a position (settingsSQL), so that one which took a position that
// is missing now has a number below Newest, which is the number of a transaction
// that begins now. (The upper end of a snapshot would not do: it only says which
// transactions are over.)
func (db *DB) Horizon(ctx context.Context) (store.Horizon, error) {
	h, err := read(ctx, db, zeroOrOne(horizonOf), `SELECT pg_current_xact_id()::text::bigint,
		pg_snapshot_xmin(pg_current_snapshot())::text::bigint`)
	if err != nil {
		return h, fmt.Errorf("asking which transactions are over: %w", err)
	}
	return h, nil
}

func horizonOf(row pgx.CollectableRow) (h store.Horizon, err error) {
	err = row.Scan(&h.Newest, &h.Settled)
	return h, err
}
