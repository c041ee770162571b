package sqlite

import (
	"database/sql/driver"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migration is one forward step of the schema.
type migration struct {
	version int64
	sql     string
}

// loadMigrations reads the embedded files, which are named NNNN_what.sql and
// numbered from 1 without gaps.
func loadMigrations() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("migration %s: the number should be %04d", name, i+1)
		}
		body, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: version, sql: string(body)})
	}
	return all, nil
}

// migrate brings the schema up to date in one transaction, and refuses a
// database that a newer binary has migrated: this one cannot know what the
// newer schema means.
func migrate(c *conn, all []migration) (err error) {
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
		if m.version <= at {
			continue
		}
		if err := c.exec(m.sql); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
		if err := c.exec(`INSERT INTO migrations (version, applied_at)
			VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`, m.version); err != nil {
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
