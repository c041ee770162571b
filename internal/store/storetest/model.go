package storetest

import (
	"context"
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

func (m *model) scanIndex(org, kind string, r store.Range, of store.Reference) (found []store.IndexRow) {
	for _, item := range m.scan(org, kind, r) {
		id, ok := strings.CutPrefix(item.ID, of.Prefix)
		if !ok {
			continue
		}
		row := store.IndexRow{Item: item}
		if body, there := m.items[[3]string{org, of.Kind, id}]; there {
			row.Record = []byte(body)
		}
		if body, there := m.items[[3]string{org, of.WithKind, of.WithPrefix + id}]; there && of.WithKind != "" {
			row.With = []byte(body)
		}
		found = append(found, row)
	}
	return found
}

func (m *model) list(org string, q store.ActivityQuery) []store.ActivityRow {
	all := slices.Clone(m.activities[org])
	slices.SortFunc(all, func(a, b store.ActivityRow) int { return strings.Compare(b.ID, a.ID) })
	return listed(all, q)
}

// Names are few, so that the same one is often used again.
var (
	modelIDs      = []string{"a", "A", "ab", "b", "ä", "äa", "\U0001F511", "~"}
	modelKinds    = []string{"k", "K", "kk"}
	modelTypes    = []string{"T", "U", "V"}
	modelStatuses = []string{"ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_PENDING"}
)

// testModel compares the driver with the model over random sequences.
func testModel(t *testing.T, db store.Driver) {
	var runs atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		r := newModelRun(t, db, fmt.Sprintf("run%d/", runs.Add(1)))
		rt.Repeat(map[string]func(*rapid.T){
			"commit":   r.commit,
			"scan":     r.scan,
			"list":     r.list,
			"recorded": r.recorded,
			"get":      r.get,
			"":         r.version,
		})
		r.compareAll(rt)
	})
}

// modelRun is one sequence on the driver and on the model.
type modelRun struct {
	ctx    context.Context
	db     store.Driver
	model  *model
	prefix string // of the organizations

	org, kind, id, activityID *rapid.Generator[string]
}

func newModelRun(t *testing.T, db store.Driver, prefix string) *modelRun {
	return &modelRun{
		ctx: t.Context(), db: db, prefix: prefix,
		model: &model{version: map[string]int64{}, items: map[[3]string]string{}, activities: map[string][]store.ActivityRow{}},
		org: rapid.Custom(func(rt *rapid.T) string {
			return prefix + rapid.SampledFrom([]string{"x", "X"}).Draw(rt, "org")
		}),
		kind:       rapid.SampledFrom(modelKinds),
		id:         rapid.OneOf(rapid.SampledFrom(modelIDs), rapid.StringMatching(`[a-c]{1,2}`)),
		activityID: rapid.StringMatching(`[a-e][0-9]`),
	}
}

func (r *modelRun) commit(rt *rapid.T) {
	c := &store.Commit{Org: r.org.Draw(rt, "org")}
	c.Version = max(0, r.model.version[c.Org]+rapid.SampledFrom([]int64{0, 0, 0, 0, 0, -1, 1}).Draw(rt, "off"))
	if rapid.Bool().Draw(rt, "activity") {
		c.Activity = &store.ActivityRow{
			ID:          r.activityID.Draw(rt, "id"),
			TimestampMs: rapid.Int64Range(0, 1).Draw(rt, "time"),
			Fingerprint: fingerprint(rapid.IntRange(0, 20).Draw(rt, "fingerprint")),
			Type:        rapid.SampledFrom(modelTypes).Draw(rt, "type"),
			Status:      rapid.SampledFrom(modelStatuses).Draw(rt, "status"),
			Body:        []byte(rapid.StringN(0, 3, 9).Draw(rt, "body")),
		}
	}
	changes := rapid.MapOfN(
		rapid.Custom(func(rt *rapid.T) [2]string { return [2]string{r.kind.Draw(rt, "kind"), r.id.Draw(rt, "id")} }),
		rapid.SampledFrom([]string{"", "1", "2", "delete", "delete"}), 0, 4).Draw(rt, "changes")
	for k, body := range changes {
		ch := store.Change{Kind: k[0], ID: k[1]}
		if body != "delete" {
			ch.Body = []byte(body)
		}
		c.Changes = append(c.Changes, ch)
	}
	want := r.model.commit(c)
	if got := r.db.Commit(r.ctx, c); !errors.Is(got, want) {
		rt.Fatalf("Commit: got %v, want %v", got, want)
	}
}

func (r *modelRun) scan(rt *rapid.T) {
	org, kind := r.org.Draw(rt, "org"), r.kind.Draw(rt, "kind")
	ids := store.Range{Limit: rapid.IntRange(0, 4).Draw(rt, "limit")}
	if rapid.Bool().Draw(rt, "bounds") {
		ids.From, ids.To = r.id.Draw(rt, "from"), r.id.Draw(rt, "to")
	}
	got, err := r.db.Scan(r.ctx, org, kind, ids)
	wantEqual(rt, "Scan", r.model.scan(org, kind, ids), got, err)
	// Some ids lead to others behind these prefixes, most to none.
	of := store.Reference{Prefix: rapid.SampledFrom([]string{"", "a", "ä"}).Draw(rt, "prefix"), Kind: r.kind.Draw(rt, "of")}
	if rapid.Bool().Draw(rt, "with others") {
		of.WithKind, of.WithPrefix = r.kind.Draw(rt, "with"), rapid.SampledFrom([]string{"", "a", "ä", "~"}).Draw(rt, "with prefix")
	}
	found, err := r.db.ScanIndex(r.ctx, org, kind, ids, of)
	found = slices.DeleteFunc(found, func(row store.IndexRow) bool { return !strings.HasPrefix(row.ID, of.Prefix) })
	want := r.model.scanIndex(org, kind, ids, of)
	wantEqual(rt, fmt.Sprintf("ScanIndex(%+v)", of), want, found, err)
	for i := range want { // an empty body is not none
		if (want[i].Record == nil) != (found[i].Record == nil) || (want[i].With == nil) != (found[i].With == nil) {
			rt.Fatalf("ScanIndex(%+v): got %+v, want %+v", of, found[i], want[i])
		}
	}
}

func (r *modelRun) list(rt *rapid.T) {
	some := func(of []string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(of), 0, 3) }
	org := r.org.Draw(rt, "org")
	q := store.ActivityQuery{
		Types: some(modelTypes).Draw(rt, "types"), Statuses: some(modelStatuses).Draw(rt, "statuses"),
		Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
	}
	if rapid.Bool().Draw(rt, "before") {
		q.Before = r.activityID.Draw(rt, "before")
	}
	if rapid.Bool().Draw(rt, "after") {
		q.After = r.activityID.Draw(rt, "after")
	}
	got, err := r.db.Activities(r.ctx, org, q)
	wantEqual(rt, fmt.Sprintf("Activities(%+v)", q), r.model.list(org, q), got, err)
}

func (r *modelRun) recorded(rt *rapid.T) {
	org := r.org.Draw(rt, "org")
	if len(r.model.activities[org]) == 0 {
		rt.Skip("no activity")
	}
	a := rapid.SampledFrom(r.model.activities[org]).Draw(rt, "activity")
	got, err := r.db.Recorded(r.ctx, org, a.TimestampMs, a.Fingerprint)
	wantEqual(rt, "Recorded", &a, got, err)
	got, err = r.db.Activity(r.ctx, org, a.ID)
	wantEqual(rt, "Activity", &a, got, err)
}

func (r *modelRun) get(rt *rapid.T) {
	k := [3]string{r.org.Draw(rt, "org"), r.kind.Draw(rt, "kind"), r.id.Draw(rt, "id")}
	got, err := r.db.Get(r.ctx, k[0], k[1], k[2])
	want, ok := r.model.items[k]
	if err != nil || ok != (got != nil) || want != string(got) {
		rt.Fatalf("Get: %q, %v, want %q", got, err, want)
	}
}

func (r *modelRun) version(rt *rapid.T) {
	org := r.org.Draw(rt, "org")
	got, err := r.db.Version(r.ctx, org)
	wantEqual(rt, "Version", r.model.version[org], got, err)
}

// compareAll compares everything that the sequence has left.
func (r *modelRun) compareAll(rt *rapid.T) {
	for _, org := range []string{r.prefix + "x", r.prefix + "X"} {
		list, err := r.db.Activities(r.ctx, org, store.ActivityQuery{})
		wantEqual(rt, "Activities", r.model.list(org, store.ActivityQuery{}), list, err)
		for _, kind := range modelKinds {
			items, err := r.db.Scan(r.ctx, org, kind, store.Range{})
			wantEqual(rt, "Scan", r.model.scan(org, kind, store.Range{}), items, err)
		}
	}
}

func wantEqual(rt *rapid.T, what string, want, got any, err error) {
	if err != nil {
		rt.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("%s, -want +got:\n%s", what, diff)
	}
}
