package postgres

import (
	"context"
	"fmt"
	"slices"

	"latchkey/internal/store"
)

// completed is the status that the partial index leaves out.
const completed = `ACTIVITY_STATUS_COMPLETED`

// Activities implements [store.Driver].
func (db *DB) Activities(ctx context.Context, org string, q store.ActivityQuery) ([]store.ActivityRow, error) {
	sql, args := listActivities(org, q)
	list, err := read(ctx, db, all(activityOf), sql, args...)
	if err != nil {
		return nil, fmt.Errorf("listing activities: %w", err)
	}
	if q.Backwards() {
		slices.Reverse(list)
	}
	return list, nil
}

// listActivities writes the statement. An index can deliver the rows of one
// type, or of one status, in the order of their ids; for several it would have
// to read them all and sort. So each value is looked up on its own, up to the
// limit, and at most values times limit rows are merged.
func listActivities(org string, q store.ActivityQuery) (string, []any) {
	var a args
	q = q.Distinct()
	types, statuses := q.Types, q.Statuses
	var values []string
	each := `SELECT ` + activityColumns + ` FROM activities WHERE org = ` + a.add(org)
	switch {
	case len(statuses) > 0 && !slices.Contains(statuses, completed):
		values, statuses = statuses, nil
		// Literally, or the partial index cannot be used.
		each += ` AND status = v.value AND status <> '` + completed + `'`
	case len(types) > 0:
		values, types = types, nil
		each += ` AND type = v.value`
	}
	if len(types) > 0 {
		each += ` AND type = ANY (` + a.add(types) + `::text[])`
	}
	if len(statuses) > 0 {
		each += ` AND status = ANY (` + a.add(statuses) + `::text[])`
	}
	if q.After != "" {
		each += ` AND id < ` + a.add(q.After)
	}
	if q.Before != "" {
		each += ` AND id > ` + a.add(q.Before)
	}
	order := ` ORDER BY id DESC`
	if q.Backwards() {
		order = ` ORDER BY id`
	}
	page := order
	if q.Limit > 0 {
		page += ` LIMIT ` + a.add(q.Limit)
	}
	list := each + page
	if len(values) > 0 {
		list = `SELECT a.* FROM unnest(` + a.add(values) + `::text[]) AS v (value)
			CROSS JOIN LATERAL (` + list + `) AS a` + page
	}
	if q.MaxBytes == 0 {
		return list, a
	}
	// The length of a body is known without reading it.
	return `SELECT ` + activityColumns + ` FROM (
			SELECT a.*, sum(octet_length(body)) OVER (` + order + `) - octet_length(body) AS before FROM (` + list + `) AS a
		) AS a WHERE before < ` + a.add(q.MaxBytes) + order, a
}
