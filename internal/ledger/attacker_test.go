package ledger_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// database is who administers it: rows are read and put back without the server.
type database struct {
	t   testing.TB
	sql *sql.DB
	pg  bool
}

func openDatabase(t testing.TB, storeURL string) *database {
	t.Helper()
	name, source := "pgx", storeURL
	path, isFile := strings.CutPrefix(storeURL, "sqlite:")
	if isFile {
		name, source = "sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(60000)"
	}
	db, err := sql.Open(name, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &database{t, db, !isFile}
}

// rows are those of a table, by column.
type rows struct {
	columns []string
	values  [][]any
}

// tables hold what belongs to organizations first.
var tables = []string{"organizations", "items", "activities", "log_entries"}

func (d *database) placeholder(n int) string {
	if d.pg {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// read copies all rows, or those of one organization.
func (d *database) read(org string) map[string]rows {
	d.t.Helper()
	all := map[string]rows{}
	for _, table := range tables {
		if org != "" && table == "log_entries" {
			continue
		}
		query, args := "SELECT * FROM "+table, []any{}
		if org != "" {
			query, args = query+" WHERE org = "+d.placeholder(1), []any{org}
		}
		all[table] = d.query(query, args...)
	}
	return all
}

func (d *database) query(query string, args ...any) (all rows) {
	d.t.Helper()
	found, err := d.sql.Query(query, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	defer found.Close()
	if all.columns, err = found.Columns(); err != nil {
		d.t.Fatal(err)
	}
	for found.Next() {
		values, to := make([]any, len(all.columns)), make([]any, len(all.columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := found.Scan(to...); err != nil {
			d.t.Fatal(err)
		}
		all.values = append(all.values, values)
	}
	if err := found.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}

// putBack writes rows in place of all, or of those of one organization.
func (d *database) putBack(org string, earlier map[string]rows) {
	d.t.Helper()
	tx, err := d.sql.Begin()
	if err != nil {
		d.t.Fatal(err)
	}
	run := func(statement string, args ...any) {
		d.t.Helper()
		if _, err := tx.Exec(statement, args...); err != nil {
			d.t.Fatal(err)
		}
	}
	for table, rows := range earlier {
		if org == "" {
			run("DELETE FROM " + table)
		} else {
			run("DELETE FROM "+table+" WHERE org = "+d.placeholder(1), org)
		}
		marks := make([]string, len(rows.columns))
		for i := range marks {
			marks[i] = d.placeholder(i + 1)
		}
		for _, values := range rows.values {
			run(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(rows.columns, ", "), strings.Join(marks, ", ")), values...)
		}
	}
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
}
