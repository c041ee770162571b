package sqlite

import (
	"database/sql/driver"
	"embed"
	"fmt"

	"latchkey/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date in one transaction, and refuses a
// database that a newer binary has migrated: this one cannot know what the
// newer schema means.
func migrate(c *conn, all []migration.Step) (err error) {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.exec("ROLLBACK")
		}
	}()
	if err := c.exec(`CREATE TABLE IF NOT EXISTS migrations (
		version INTEGER NOT NULL PRIMARY KEY, applied_at TEXT NOT NULL)`); err != nil {
		return err
	}
	at, err := schemaVersion(c)
	if err != nil {
		return err
	}
	if newest := int64(len(all)); at > newest {
		return fmt.Errorf("the database has schema %d, but this latchkey knows only up to %d: run a newer latchkey", at, newest)
	}
	for _, m := range all {
		if m.Version <= at {
			continue
		}
		if err := c.exec(m.SQL); err != nil {
			return fmt.Errorf("migration %d: %w", m.Version, err)
		}
		if err := c.exec(`INSERT INTO migrations (version, applied_at)
			VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`, m.Version); err != nil {
			return err
		}
	}
	return c.exec("COMMIT")
}

// schemaVersion returns the newest applied migration.
func schemaVersion(c *conn) (int64, error) {
	var at int64
	err := c.query(func(row []driver.Value) error {
		at, _ = row[0].(int64)
		return nil
	}, "SELECT coalesce(max(version), 0) FROM migrations")
	return at, err
}

// newestSchema is the version that this program migrates to.
func newestSchema() (int64, error) {
	steps, err := migration.Load(migrations)
	return int64(len(steps)), err
}
