package sqlite

import (
	"context"
	"fmt"

	"latchkey/internal/store"
)

// ReplaceBodies implements [store.Driver].
func (db *DB) ReplaceBodies(ctx context.Context, org string, bodies []store.StoredBody) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.readers.isClosed() {
		return ErrClosed
	}
	if err := db.writer.replaceBodies(org, bodies); err != nil {
		return fmt.Errorf("replacing bodies: %w", err)
	}
	return nil
}

func (w *writer) replaceBodies(org string, bodies []store.StoredBody) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil { // lost, see recover
		if err := w.reconnect(); err != nil {
			return fmt.Errorf("opening the database again: %w", named(err))
		}
	}
	defer func() {
		if err != nil {
			err = named(err)
			w.recover()
		}
	}()
	if _, err := w.stmts.begin.exec(); err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	bytes := 0
	for _, b := range bodies {
		if err := w.replaceBody(org, b); err != nil {
			return err
		}
		bytes += len(b.Body)
	}
	if _, err := w.stmts.commit.exec(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	w.wal.wrote(len(bodies), bytes)
	w.wal.restart(w.conn)
	return nil
}

func (w *writer) replaceBody(org string, b store.StoredBody) (err error) {
	var n int64
	if b.Kind == "" {
		n, err = w.stmts.activityBody.exec(store.NonNil(b.Body), org, b.ID)
	} else {
		n, err = w.stmts.itemBody.exec(store.NonNil(b.Body), org, b.Kind, b.ID)
	}
	if err == nil && n != 1 {
		err = fmt.Errorf("%s %q is not there", b.Kind, b.ID)
	}
	return err
}
