package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"latchkey/internal/store"
)

// model is the driver in memory.
type model struct {
	version    map[string]int64
	items      map[[3]string]string // organization, kind, id
	activities map[string][]store.ActivityRow
}

func (m *model) commit(c *store.Commit) error {
	if m.version[c.Org] != c.Version {
		return store.ErrConflict
	}
	if a := c.Activity; a != nil {
		for _, b := range m.activities[c.Org] {
			if a.ID == b.ID || a.TimestampMs == b.TimestampMs && a.Fingerprint == b.Fingerprint {
				return store.ErrRecorded
			}
		}
		m.activities[c.Org] = append(m.activities[c.Org], *a)
	}
	if c.Raises() {
		m.version[c.Org]++
	}
	for _, ch := range c.Changes {
		if ch.Body == nil {
			delete(m.items, [3]string{c.Org, ch.Kind, ch.ID})
		} else {
			m.items[[3]string{c.Org, ch.Kind, ch.ID}] = string(ch.Body)
		}
	}
	return nil
}

func (m *model) scan(org, kind string, r store.Range) (items []store.Item) {
	for k, body := range m.items {
		if k[0] == org && k[1] == kind && k[2] >= r.From && (r.To == "" || k[2] < r.To) {
			items = append(items, store.Item{ID: k[2], Body: []byte(body)})
		}
	}
	slices.SortFunc(items, func(a, b store.Item) int { return strings.Compare(a.ID, b.ID) })
	if r.Limit > 0 && len(items) > r.Limit {
		items = items[:r.Limit]
	}
	return items
}

func (m *model) list(org string, q store.ActivityQuery) []store.ActivityRow {
	all := slices.Clone(m.activities[org])
	slices.SortFunc(all, func(a, b store.ActivityRow) int { return strings.Compare(b.ID, a.ID) })
	return listed(all, q)
}

// testModel compares the driver with the model over random sequences. Names
// are few, so that the same one is often used again.
func testModel(t *testing.T, db store.Driver) {
	var run atomic.Int64
	var (
		ids      = []string{"a", "A", "ab", "b", "ä", "\U0001F511", "~"}
		kinds    = []string{"k", "K", "kk"}
		types    = []string{"T", "U", "V"}
		statuses = []string{"ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_PENDING"}
	)
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{version: map[string]int64{}, items: map[[3]string]string{}, activities: map[string][]store.ActivityRow{}}
		prefix := fmt.Sprintf("run%d/", run.Add(1))
		org := rapid.Custom(func(rt *rapid.T) string { return prefix + rapid.SampledFrom([]string{"x", "X"}).Draw(rt, "org") })
		id := rapid.OneOf(rapid.SampledFrom(ids), rapid.StringMatching(`[a-c]{1,2}`))
		activityID := rapid.StringMatching(`[a-e][0-9]`)
		some := func(of []string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(of), 0, 3) }
		equal := func(what string, want, got any) {
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("%s, -want +got:\n%s", what, diff)
			}
		}
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"commit": func(rt *rapid.T) {
				c := &store.Commit{Org: org.Draw(rt, "org")}
				c.Version = max(0, m.version[c.Org]+rapid.SampledFrom([]int64{0, 0, 0, 0, 0, -1, 1}).Draw(rt, "off"))
				if rapid.Bool().Draw(rt, "activity") {
					c.Activity = &store.ActivityRow{
						ID:          activityID.Draw(rt, "id"),
						TimestampMs: rapid.Int64Range(0, 1).Draw(rt, "time"),
						Fingerprint: fingerprint(rapid.IntRange(0, 20).Draw(rt, "fingerprint")),
						Type:        rapid.SampledFrom(types).Draw(rt, "type"),
						Status:      rapid.SampledFrom(statuses).Draw(rt, "status"),
						Body:        []byte(rapid.StringN(0, 3, 9).Draw(rt, "body")),
					}
				}
				changes := rapid.MapOfN(
					rapid.Custom(func(rt *rapid.T) [2]string {
						return [2]string{rapid.SampledFrom(kinds).Draw(rt, "kind"), id.Draw(rt, "id")}
					}),
					rapid.SampledFrom([]string{"", "1", "2", "delete", "delete"}), 0, 4).Draw(rt, "changes")
				for k, body := range changes {
					ch := store.Change{Kind: k[0], ID: k[1]}
					if body != "delete" {
						ch.Body = []byte(body)
					}
					c.Changes = append(c.Changes, ch)
				}
				want := m.commit(c)
				if got := db.Commit(t.Context(), c); !errors.Is(got, want) {
					rt.Fatalf("Commit: got %v, want %v", got, want)
				}
			},
			"scan": func(rt *rapid.T) {
				o, k := org.Draw(rt, "org"), rapid.SampledFrom(kinds).Draw(rt, "kind")
				r := store.Range{Limit: rapid.IntRange(0, 4).Draw(rt, "limit")}
				if rapid.Bool().Draw(rt, "bounds") {
					r.From, r.To = id.Draw(rt, "from"), id.Draw(rt, "to")
				}
				got, err := db.Scan(t.Context(), o, k, r)
				must(err)
				equal("Scan", m.scan(o, k, r), got)
			},
			"list": func(rt *rapid.T) {
				o := org.Draw(rt, "org")
				q := store.ActivityQuery{
					Types: some(types).Draw(rt, "types"), Statuses: some(statuses).Draw(rt, "statuses"),
					Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
				}
				if rapid.Bool().Draw(rt, "before") {
					q.Before = activityID.Draw(rt, "before")
				}
				if rapid.Bool().Draw(rt, "after") {
					q.After = activityID.Draw(rt, "after")
				}
				got, err := db.Activities(t.Context(), o, q)
				must(err)
				equal(fmt.Sprintf("Activities(%+v)", q), m.list(o, q), got)
			},
			"recorded": func(rt *rapid.T) {
				o := org.Draw(rt, "org")
				if len(m.activities[o]) == 0 {
					rt.Skip("no activity")
				}
				a := rapid.SampledFrom(m.activities[o]).Draw(rt, "activity")
				got, err := db.Recorded(t.Context(), o, a.TimestampMs, a.Fingerprint)
				must(err)
				equal("Recorded", &a, got)
				got, err = db.Activity(t.Context(), o, a.ID)
				must(err)
				equal("Activity", &a, got)
			},
			"get": func(rt *rapid.T) {
				k := [3]string{org.Draw(rt, "org"), rapid.SampledFrom(kinds).Draw(rt, "kind"), id.Draw(rt, "id")}
				got, err := db.Get(t.Context(), k[0], k[1], k[2])
				must(err)
				want, ok := m.items[k]
				if ok != (got != nil) || want != string(got) {
					rt.Fatalf("Get: %q, want %q", got, want)
				}
			},
			"": func(rt *rapid.T) {
				o := org.Draw(rt, "org")
				v, err := db.Version(t.Context(), o)
				must(err)
				equal("Version", m.version[o], v)
			},
		})
		for _, o := range []string{prefix + "x", prefix + "X"} {
			list, err := db.Activities(t.Context(), o, store.ActivityQuery{})
			must(err)
			equal("Activities", m.list(o, store.ActivityQuery{}), list)
			for _, k := range kinds {
				items, err := db.Scan(t.Context(), o, k, store.Range{})
				must(err)
				equal("Scan", m.scan(o, k, store.Range{}), items)
			}
		}
	})
}
