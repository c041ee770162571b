package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
)

const (
	itemBodiesSQL = `UPDATE items SET body = b.body
		FROM unnest($2::text[], $3::text[], $4::bytea[]) AS b (kind, id, body)
		WHERE items.org = $1 AND items.kind = b.kind AND items.id = b.id`

	activityBodiesSQL = `UPDATE activities SET body = b.body
		FROM unnest($2::text[], $3::bytea[]) AS b (id, body)
		WHERE activities.org = $1 AND activities.id = b.id`
)

var errRowMissing = errors.New("a row is not there")

// ReplaceBodies implements [store.Driver].
func (db *DB) ReplaceBodies(ctx context.Context, org string, bodies []store.StoredBody) error {
	conn, err := db.writes.acquire(ctx)
	if err != nil {
		return fmt.Errorf("replacing bodies: %w", err)
	}
	defer db.writes.release(conn)
	pg := conn.Conn().PgConn()
	forgetWarning(pg)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return db.replaceBodies(ctx, tx, org, bodies) })
	if err == nil {
		err = warned(pg)
	}
	if _, doubt := errors.AsType[inDoubt](err); doubt || conn.Conn().IsClosed() {
		db.drop(pg)
	}
	if err != nil {
		return fmt.Errorf("replacing bodies: %w", named(err))
	}
	return nil
}

func (db *DB) replaceBodies(ctx context.Context, tx pgx.Tx, org string, bodies []store.StoredBody) error {
	if _, err := tx.Exec(ctx, settingsSQL, db.settings()...); err != nil {
		return err
	}
	var kinds, itemIDs, activityIDs []string
	var itemBodies, activityBodies [][]byte
	for _, b := range bodies {
		if b.Kind == "" {
			activityIDs, activityBodies = append(activityIDs, b.ID), append(activityBodies, store.NonNil(b.Body))
		} else {
			kinds, itemIDs, itemBodies = append(kinds, b.Kind), append(itemIDs, b.ID), append(itemBodies, store.NonNil(b.Body))
		}
	}
	items, err := tx.Exec(ctx, itemBodiesSQL, org, kinds, itemIDs, itemBodies)
	if err != nil {
		return err
	}
	activities, err := tx.Exec(ctx, activityBodiesSQL, org, activityIDs, activityBodies)
	if err != nil {
		return err
	}
	if items.RowsAffected()+activities.RowsAffected() != int64(len(bodies)) {
		return errRowMissing
	}
	return nil
}
