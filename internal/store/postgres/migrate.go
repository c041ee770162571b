package postgres

import (
	"context"
	"embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

const selectSchema = `SELECT coalesce(max(version), 0) FROM migrations`

// migrate brings the schema up to date while other nodes may be doing the
// same, and refuses a database that a newer binary has migrated: this one
// cannot know what the newer schema means.
func migrate(ctx context.Context, conn *pgx.Conn, all []migration.Step) error {
	for attempt := 0; ; attempt++ {
		err := migrateOnce(ctx, conn, all)
		switch code(err) {
		case "42703", "42804", "23502": // undefined_column, datatype_mismatch, not_null_violation
			return fmt.Errorf("this database is not Latchkey's: it has a table \"migrations\" of another application; use a database of its own (%w)", err)
		}
		if err == nil || attempt == maxRetries || !raced(err) {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// raced says that another node was quicker. IF NOT EXISTS does not help
// against a table that is being created at the same moment: PostgreSQL then
// reports a duplicate in its catalogue.
func raced(err error) bool {
	return slices.Contains([]string{
		"23505", // unique_violation, in pg_class or pg_type
		"42P07", // duplicate_table
		"42710", // duplicate_object
		"XX000", // "tuple concurrently updated", in the catalogue
		"40001", "40P01",
	}, code(err))
}

func migrateOnce(ctx context.Context, conn *pgx.Conn, all []migration.Step) error {
	// A transaction of its own: the table must be there to be locked.
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS migrations (
		version bigint NOT NULL PRIMARY KEY, applied_at timestamptz NOT NULL)`); err != nil {
		return err
	}
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		// Row 0 stands for the table: locking it works on every database, which
		// LOCK TABLE does not. Under READ COMMITTED the statements after it see
		// what the node that held it has done.
		if _, err := tx.Exec(ctx, `INSERT INTO migrations (version, applied_at)
			VALUES (0, now()) ON CONFLICT DO NOTHING`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT version FROM migrations WHERE version = 0 FOR UPDATE`); err != nil {
			return err
		}
		var at int64
		if err := tx.QueryRow(ctx, selectSchema).Scan(&at); err != nil {
			return err
		}
		if newest := int64(len(all)); at > newest {
			return fmt.Errorf("the database has schema %d, but this latchkey knows only up to %d: run a newer latchkey", at, newest)
		}
		for _, m := range all {
			if m.Version <= at {
				continue
			}
			if _, err := tx.Exec(ctx, m.SQL); err != nil {
				return fmt.Errorf("migration %d: %w", m.Version, err)
			}
			if _, err := tx.Exec(ctx, `INSERT INTO migrations (version, applied_at) VALUES ($1, now())`, m.Version); err != nil {
				return err
			}
		}
		return nil
	})
}
