package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"latchkey/internal/store"
)

// completed is the status that the partial index leaves out.
const completed = `ACTIVITY_STATUS_COMPLETED`

// Activities implements [store.Driver].
//
// An index can deliver the rows of one type, or of one status, in the order of
// their ids; for several it would have to read them all and sort. So each is
// looked up on its own, up to the limit, and what was found is merged by its ids.
// A list of all types looks up those that the organization has.
func (db *DB) Activities(ctx context.Context, org string, q store.ActivityQuery) (list []store.ActivityRow, err error) {
	err = db.readers.do(ctx, func(r *reader) error {
		return r.inTransaction(func() (err error) {
			list, err = r.activities(ctx, org, q)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing activities: %w", err)
	}
	return list, nil
}

func (r *reader) activities(ctx context.Context, org string, q store.ActivityQuery) (list []store.ActivityRow, err error) {
	q = q.Distinct()
	column, values := "type", q.Types
	switch {
	case len(q.Statuses) > 0 && !slices.Contains(q.Statuses, completed):
		column, values = "status", q.Statuses
	case len(values) == 0:
		if values, err = r.typesOf(org); err != nil {
			return nil, err
		}
	}
	size := 0
	keep := func(row []driver.Value) error {
		if q.MaxBytes > 0 && size >= q.MaxBytes {
			return errFull
		}
		a := activityOf(row)
		size += len(a.Body)
		list = append(list, *a)
		return nil
	}
	// found is where an activity is.
	type found struct {
		id  string
		row int64
	}
	var all []found
	for _, value := range values {
		if len(values) == 1 {
			sql, args := listActivities(org, q, column, value, activityColumns)
			if err = r.query(ctx, keep, sql, args...); errors.Is(err, errFull) {
				err = nil
			}
		} else {
			sql, args := listActivities(org, q, column, value, "id, rowid")
			err = r.query(ctx, func(row []driver.Value) error {
				var f found
				f.id, _ = row[0].(string)
				f.row, _ = row[1].(int64)
				all = append(all, f)
				return nil
			}, sql, args...)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.id, a.id) })
	if q.Backwards() {
		slices.Reverse(all)
	}
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	for _, f := range all {
		err := r.byRowID.query(keep, f.row)
		if errors.Is(err, errFull) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if q.Backwards() {
		slices.Reverse(list)
	}
	return list, ctx.Err()
}

// errFull ends a list that has reached its bytes.
var errFull = errors.New("the list is full")

// presentTypes lists the types of activities that an organization has: each step
// finds the next one in the index.
const presentTypes = `WITH RECURSIVE present (type) AS (
	SELECT min(type) FROM activities WHERE org = ?1
	UNION ALL
	SELECT (SELECT min(type) FROM activities WHERE org = ?1 AND type > present.type) FROM present WHERE type IS NOT NULL)
	SELECT type FROM present WHERE type IS NOT NULL`

func (r *reader) typesOf(org string) (types []string, err error) {
	err = r.types.query(func(row []driver.Value) error {
		name, _ := row[0].(string)
		types = append(types, name)
		return nil
	}, org)
	return types, err
}

// listActivities writes the statement for one type or status.
func listActivities(org string, q store.ActivityQuery, column, value, columns string) (string, []any) {
	var a args
	sql := `SELECT ` + columns + ` FROM activities WHERE org = ` + a.add(org) + ` AND ` + column + ` = ` + a.add(value)
	if column == "status" {
		sql += ` AND status <> '` + completed + `'` // literally, or the partial index cannot be used
		if len(q.Types) > 0 {
			sql += ` AND type IN (` + a.addAll(q.Types) + `)`
		}
	} else if len(q.Statuses) > 0 {
		sql += ` AND status IN (` + a.addAll(q.Statuses) + `)`
	}
	if q.After != "" {
		sql += ` AND id < ` + a.add(q.After)
	}
	if q.Before != "" {
		sql += ` AND id > ` + a.add(q.Before)
	}
	if q.Backwards() {
		sql += ` ORDER BY id`
	} else {
		sql += ` ORDER BY id DESC`
	}
	if q.Limit > 0 {
		sql += a.limit(q.Limit)
	}
	return sql, a
}

// args collects the arguments of a statement.
type args []any

// add returns the placeholder of a new argument.
func (a *args) add(value any) string {
	*a = append(*a, value)
	return "?" + strconv.Itoa(len(*a))
}

// limit bounds the number of rows by an argument. As an expression: SQLite prepares
// a statement anew each time another value is bound to a bare parameter there.
func (a *args) limit(rows int) string { return ` LIMIT ` + a.add(int64(rows)) + `+0` }

// addAll is add for the values of a list.
func (a *args) addAll(values []string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = a.add(v)
	}
	return strings.Join(texts, ", ")
}
