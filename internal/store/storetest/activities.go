package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"latchkey/internal/store"
)

func testActivity(t *testing.T, db store.Driver) {
	wantActivity(t, db, "org", "a", nil)
	create(t, db, "org")
	a := &store.ActivityRow{
		ID: "a", TimestampMs: 1<<62 + 1, Fingerprint: fingerprint("x"),
		Type: "type", Status: "status", Body: []byte("body"),
	}
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: a}, nil)
	wantActivity(t, db, "org", "a", a)
	wantActivity(t, db, "org", "b", nil)
	wantActivity(t, db, "other", "a", nil)
}

func testRecorded(t *testing.T, db store.Driver) {
	create(t, db, "org")
	a := activity("a")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: a}, nil)
	for _, tc := range []struct {
		name string
		org  string
		ms   int64
		fp   store.Fingerprint
		want *store.ActivityRow
	}{
		{"there", "org", a.TimestampMs, a.Fingerprint, a},
		{"other time", "org", a.TimestampMs + 1, a.Fingerprint, nil},
		{"other fingerprint", "org", a.TimestampMs, fingerprint("b"), nil},
		{"other organization", "org2", a.TimestampMs, a.Fingerprint, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := db.Recorded(t.Context(), tc.org, tc.ms, tc.fp)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func testActivities(t *testing.T, db store.Driver) {
	const (
		completed = "ACTIVITY_STATUS_COMPLETED"
		pending   = "ACTIVITY_STATUS_CONSENSUS_NEEDED"
		failed    = "ACTIVITY_STATUS_FAILED"
	)
	create(t, db, "org")
	create(t, db, "other")
	var all []store.ActivityRow
	for i := range 60 {
		a := activity(fmt.Sprintf("%04d", i*7919%60)) // inserted out of order
		a.Type = []string{"A", "B", "C"}[i%3]
		a.Status = []string{completed, completed, pending, completed, failed}[i%5]
		all = append(all, *a)
		commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: a}, nil)
		commit(t, db, &store.Commit{Org: "other", Version: 1, Activity: a}, nil)
	}
	slices.SortFunc(all, func(a, b store.ActivityRow) int {
		if a.ID > b.ID {
			return -1
		}
		return 1
	})
	check := func(t *testing.T, q store.ActivityQuery) {
		t.Helper()
		got, err := db.Activities(t.Context(), "org", q)
		if err != nil {
			t.Fatalf("Activities(%+v): %v", q, err)
		}
		if diff := cmp.Diff(listed(all, q), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Activities(%+v), -want +got:\n%s", q, diff)
		}
	}
	for _, types := range [][]string{nil, {"A"}, {"B", "C"}, {"C", "B", "C"}, {"a"}, {"A", "B", "C", "D"}} {
		for _, statuses := range [][]string{
			nil,
			{completed},
			{pending},
			{pending, failed},
			{completed, failed},
			{failed, "OTHER", failed},
			{"OTHER"},
		} {
			for _, cursor := range [][2]string{{}, {"0030", ""}, {"", "0030"}, {"0010", "0040"}, {"0040", "0010"}, {"9", ""}, {"", "0"}, {"0030x", ""}} {
				for _, limit := range []int{0, 1, 7, 100} {
					check(t, store.ActivityQuery{
						Types: types, Statuses: statuses, Before: cursor[0], After: cursor[1], Limit: limit,
					})
				}
			}
		}
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprint("type ", i)
	}
	check(t, store.ActivityQuery{Types: append(many, "B"), Limit: 5})
	// Each body has 13 bytes: a page ends with the one that reaches the bound.
	for _, types := range [][]string{nil, {"A"}, {"B", "C"}} {
		for _, cursor := range [][2]string{{}, {"0030", ""}, {"", "0030"}, {"0010", "0040"}} {
			for _, limit := range []int{0, 2, 7} {
				for _, most := range []int{1, 13, 14, 40, 1000} {
					check(t, store.ActivityQuery{Types: types, Before: cursor[0], After: cursor[1], Limit: limit, MaxBytes: most})
					check(t, store.ActivityQuery{
						Types: types, Statuses: []string{pending, failed}, Before: cursor[0], After: cursor[1], Limit: limit, MaxBytes: most,
					})
				}
			}
		}
	}
	check(t, store.ActivityQuery{Statuses: append(many, failed), Types: []string{"A", "B"}})
}

// listed is what Activities should return out of all, which is newest first.
func listed(all []store.ActivityRow, q store.ActivityQuery) []store.ActivityRow {
	var got []store.ActivityRow
	for _, a := range all {
		if len(q.Types) > 0 && !slices.Contains(q.Types, a.Type) ||
			len(q.Statuses) > 0 && !slices.Contains(q.Statuses, a.Status) ||
			q.After != "" && a.ID >= q.After ||
			q.Before != "" && a.ID <= q.Before {
			continue
		}
		got = append(got, a)
	}
	backwards := q.Before != "" && q.After == ""
	if backwards {
		slices.Reverse(got)
	}
	if q.Limit > 0 && len(got) > q.Limit {
		got = got[:q.Limit]
	}
	size := 0
	for i, a := range got {
		if q.MaxBytes > 0 && size >= q.MaxBytes {
			got = got[:i]
			break
		}
		size += len(a.Body)
	}
	if backwards {
		slices.Reverse(got)
	}
	return got
}
