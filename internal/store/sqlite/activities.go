package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/store"
)

// completed is the status that the partial index leaves out.
const completed = `ACTIVITY_STATUS_COMPLETED`

// maxBranches bounds the compound statement below; longer lists, which nobody
// has a use for, are filtered row by row.
const maxBranches = 32

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
// to read them all and sort. So each gets a branch of its own that stops at
// the limit, and at most branches times limit rows are merged.
func listActivities(org string, q store.ActivityQuery) (string, []any) {
	types, statuses := distinct(q.Types), distinct(q.Statuses)
	var column string
	var values []string
	switch {
	case len(statuses) > 0 && !slices.Contains(statuses, completed):
		column, values, statuses = "status", statuses, nil
	case len(types) > 0:
		column, values, types = "type", types, nil
	}
	if len(values) > maxBranches {
		if column == "status" {
			statuses = values
		} else {
			types = values
		}
		column, values = "", nil
	}

	var args []any
	branch := func(value string) string {
		b := `SELECT ` + activityColumns + ` FROM activities WHERE org = ?`
		args = append(args, org)
		if column != "" {
			b += ` AND ` + column + ` = ?`
			args = append(args, value)
		}
		if column == "status" { // literally, or the partial index cannot be used
			b += ` AND status <> '` + completed + `'`
		}
		b += in("type", types, &args) + in("status", statuses, &args)
		if q.After != "" {
			b += ` AND id < ?`
			args = append(args, q.After)
		}
		if q.Before != "" {
			b += ` AND id > ?`
			args = append(args, q.Before)
		}
		return b + order(q, &args)
	}
	if len(values) == 0 {
		return branch(""), args
	}
	var branches []string
	for _, v := range values {
		branches = append(branches, `SELECT * FROM (`+branch(v)+`)`)
	}
	return strings.Join(branches, ` UNION ALL `) + order(q, &args), args
}

func order(q store.ActivityQuery, args *[]any) string {
	s := ` ORDER BY id DESC`
	if backwards(q) {
		s = ` ORDER BY id`
	}
	if q.Limit > 0 {
		s += ` LIMIT ?`
		*args = append(*args, int64(q.Limit))
	}
	return s
}

func in(column string, values []string, args *[]any) string {
	if len(values) == 0 {
		return ""
	}
	for _, v := range values {
		*args = append(*args, v)
	}
	return ` AND ` + column + ` IN (?` + strings.Repeat(`, ?`, len(values)-1) + `)`
}

func distinct(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}
