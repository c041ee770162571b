package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
)

// completed is the status that the partial index leaves out.
const completed = `ACTIVITY_STATUS_COMPLETED`

// Activities implements store.Driver.
func (db *DB) Activities(ctx context.Context, org string, q store.ActivityQuery) (list []store.Activity, err error) {
	sql, args := listActivities(org, q)
	err = db.query(ctx, func(row []driver.Value) error {
		a, err := activityOf(row)
		if err != nil {
			return err
		}
		list = append(list, *a)
		return nil
	}, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("listing activities: %w", err)
	}
	if backwards(q) {
		slices.Reverse(list)
	}
	return list, nil
}

// backwards: before a cursor the nearest come first when counting to the
// limit, though the list still shows the newest first.
func backwards(q store.ActivityQuery) bool { return q.Before != "" && q.After == "" }

// listActivities writes the statement. An index can deliver the rows of one
// type, or of one status, in the order of their ids; for several it would have
// to read them all and sort. So each value is looked up on its own, up to the
// limit, and at most values times limit rows are merged.
func listActivities(org string, q store.ActivityQuery) (string, []any) {
	var a args
	types, statuses := q.Types, q.Statuses
	org = a.add(org)
	// All types that the organization has, found by leaping from each to the
	// next, unless the query names what to look for.
	present := `SELECT min(type) FROM activities WHERE org = ` + org + `
		UNION ALL SELECT (SELECT min(type) FROM activities WHERE org = ` + org + ` AND type > value)
			FROM present WHERE value IS NOT NULL`
	each := `SELECT rowid FROM activities WHERE org = ` + org
	switch {
	case len(statuses) > 0 && !slices.Contains(statuses, completed):
		present, statuses = a.each(statuses), nil
		// Literally, or the partial index cannot be used.
		each += ` AND status = value AND status <> '` + completed + `'`
	case len(types) > 0:
		present, types = a.each(types), nil
		each += ` AND type = value`
	default:
		each += ` AND type = value`
	}
	if len(types) > 0 {
		each += ` AND type IN (` + a.each(types) + `)`
	}
	if len(statuses) > 0 {
		each += ` AND status IN (` + a.each(statuses) + `)`
	}
	if q.After != "" {
		each += ` AND id < ` + a.add(q.After)
	}
	if q.Before != "" {
		each += ` AND id > ` + a.add(q.Before)
	}
	order := ` ORDER BY id DESC`
	if backwards(q) {
		order = ` ORDER BY id`
	}
	limit := ``
	if q.Limit > 0 {
		limit = ` LIMIT ` + a.add(int64(q.Limit))
	}
	return `WITH RECURSIVE present (value) AS (` + present + `)
		SELECT ` + activityColumns + ` FROM activities WHERE rowid IN (
			SELECT found.rowid FROM present CROSS JOIN activities AS found
			ON found.rowid IN (` + each + order + limit + `)` + order + limit + `)` + order, a
}

// args are the arguments of a statement that is being written.
type args []any

// add returns the text that stands for a value.
func (a *args) add(value any) string {
	*a = append(*a, value)
	return "?" + strconv.Itoa(len(*a))
}

// each returns a query for the distinct values.
func (a *args) each(values []string) string {
	text, err := json.Marshal(values)
	if err != nil {
		// Not UTF-8, which nothing that is stored can be.
		text = []byte("[]")
	}
	return `SELECT DISTINCT value FROM json_each(` + a.add(string(text)) + `)`
}
