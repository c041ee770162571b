package audit_test

import (
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"latchkey/internal/audit"
	"latchkey/internal/request/ops"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
)

// database is the attacker: it writes what it likes, without the server.
type database struct {
	t   testing.TB
	url string
	sql *sql.DB
}

func openDatabase(t testing.TB, storeURL string) *database {
	t.Helper()
	path, isFile := strings.CutPrefix(storeURL, "sqlite:")
	name, source := "pgx", storeURL
	if isFile {
		name, source = "sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(60000)"
	}
	db, err := sql.Open(name, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &database{t, storeURL, db}
}

func (d *database) isFile() bool { return strings.HasPrefix(d.url, "sqlite:") }

// numbered writes the placeholders $1 as the database wants them.
func (d *database) numbered(statement string) string {
	if d.isFile() {
		return strings.ReplaceAll(statement, "$", "?")
	}
	return statement
}

// exec changes some row.
func (d *database) exec(statement string, args ...any) {
	d.t.Helper()
	result, err := d.sql.Exec(d.numbered(statement), args...)
	if err != nil {
		d.t.Fatalf("%s: %v", statement, err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		d.t.Fatalf("%s %v: nothing was changed: %v", statement, args, err)
	}
}

// item and entry are rows as the database has them.
type item struct {
	org, kind, id string
	body          []byte
}

type entry struct {
	org, id, typ, status string
	time                 int64
	fingerprint, body    []byte
}

// logged is a row of the log.
type logged struct {
	position      int64
	org, activity string
	body          []byte
}

// tables are all rows at one moment.
type tables struct {
	versions map[string]int64
	items    []item
	entries  []entry
	log      []logged
}

func (d *database) read() (all tables) {
	d.t.Helper()
	all.versions = map[string]int64{}
	d.each(`SELECT org, version FROM organizations`, func(scan func(...any) error) error {
		var org string
		var version int64
		err := scan(&org, &version)
		all.versions[org] = version
		return err
	})
	d.each(`SELECT org, kind, id, body FROM items ORDER BY org, kind, id`, func(scan func(...any) error) error {
		var it item
		err := scan(&it.org, &it.kind, &it.id, &it.body)
		all.items = append(all.items, it)
		return err
	})
	d.each(`SELECT org, id, type, status, timestamp_ms, fingerprint, body FROM activities ORDER BY org, id`, func(scan func(...any) error) error {
		var e entry
		err := scan(&e.org, &e.id, &e.typ, &e.status, &e.time, &e.fingerprint, &e.body)
		all.entries = append(all.entries, e)
		return err
	})
	d.each(`SELECT position, org, activity, body FROM log_entries ORDER BY position`, func(scan func(...any) error) error {
		var e logged
		err := scan(&e.position, &e.org, &e.activity, &e.body)
		all.log = append(all.log, e)
		return err
	})
	return all
}

func (d *database) each(query string, fn func(scan func(...any) error) error) {
	d.t.Helper()
	rows, err := d.sql.Query(query)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
}

// write puts all rows in the place of what is there.
func (d *database) write(all tables) {
	d.t.Helper()
	tx, err := d.sql.Begin()
	if err != nil {
		d.t.Fatal(err)
	}
	run := func(statement string, args ...any) {
		if _, err := tx.Exec(d.numbered(statement), args...); err != nil {
			d.t.Fatal(err)
		}
	}
	for _, table := range []string{"organizations", "items", "activities", "log_entries"} {
		run(`DELETE FROM ` + table)
	}
	for org, version := range all.versions {
		run(`INSERT INTO organizations (org, version) VALUES ($1, $2)`, org, version)
	}
	for _, it := range all.items {
		run(`INSERT INTO items (org, kind, id, body) VALUES ($1, $2, $3, $4)`, it.org, it.kind, it.id, store.NonNil(it.body))
	}
	for _, e := range all.entries {
		run(`INSERT INTO activities (org, id, type, status, timestamp_ms, fingerprint, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			e.org, e.id, e.typ, e.status, e.time, store.NonNil(e.fingerprint), store.NonNil(e.body))
	}
	for _, e := range all.log {
		run(`INSERT INTO log_entries (position, org, activity, body) VALUES ($1, $2, $3, $4)`, e.position, e.org, e.activity, store.NonNil(e.body))
	}
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
}

// clone is a copy that can be changed.
func (all tables) clone() tables {
	c := tables{versions: map[string]int64{}, items: slices.Clone(all.items), entries: slices.Clone(all.entries), log: slices.Clone(all.log)}
	for org, version := range all.versions {
		c.versions[org] = version
	}
	for i := range c.items {
		c.items[i].body = slices.Clone(c.items[i].body)
	}
	for i := range c.entries {
		c.entries[i].body, c.entries[i].fingerprint = slices.Clone(c.entries[i].body), slices.Clone(c.entries[i].fingerprint)
	}
	for i := range c.log {
		c.log[i].body = slices.Clone(c.log[i].body)
	}
	return c
}

// get finds an item.
func (all tables) get(org, kind, id string) (item, bool) {
	i := slices.IndexFunc(all.items, func(it item) bool { return it.org == org && it.kind == kind && it.id == id })
	if i < 0 {
		return item{}, false
	}
	return all.items[i], true
}

// audited runs the audit with the keys of the installation.
func audited(t testing.TB, storeURL string, earlier ...audit.Earlier) (audit.Counts, []store.Finding) {
	t.Helper()
	opened, err := server.OpenAudited(context.Background(), &config.Config{Store: storeURL, MasterKey: servertest.MasterKey(t, storeURL)}, "")
	if err != nil {
		return audit.Counts{}, []store.Finding{{Org: "instance", Kind: "sealed", What: err.Error()}}
	}
	defer opened.Close()
	return run(t, &audit.Audit{Image: opened.Image, Keys: opened.Rows, Earlier: earlier})
}

// run audits and collects what is found.
func run(t testing.TB, a *audit.Audit) (audit.Counts, []store.Finding) {
	t.Helper()
	var found []store.Finding
	a.Catalog = catalog()
	a.Found = func(f store.Finding) error {
		found = append(found, f)
		return nil
	}
	counts, err := a.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts, found
}

var catalog = sync.OnceValue(ops.Catalog)
