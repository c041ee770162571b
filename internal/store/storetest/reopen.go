package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/store"
)

// RunReopen tests what outlives the driver. open opens the same database each
// time, empty at first.
func RunReopen(t *testing.T, open func(t *testing.T) store.Driver) {
	db := open(t)
	create(t, db, "org")
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: activity("a"),
		Changes: []store.Change{put("k", "i", "1"), del("initial", "item")},
	}, nil)
	for v := int64(2); v < 5; v++ {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t)
		wantVersion(t, db, "org", v)
		wantVersion(t, db, "other", 0)
		wantItem(t, db, "org", "k", "i", []byte("1"))
		wantItem(t, db, "org", "initial", "item", nil)
		wantActivity(t, db, "org", "a", activity("a"))
		commit(t, db, &store.Commit{Org: "org", Version: v, Activity: activity("a")}, store.ErrRecorded)
		commit(t, db, &store.Commit{Org: "org", Version: v - 1, Activity: activity("b")}, store.ErrConflict)
		commit(t, db, &store.Commit{Org: "org", Version: v, Changes: []store.Change{put("k", "j", "1")}}, nil)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Nodes is a driver that sends every call to the next of several nodes over
// one database. If it passes [Run], a caller cannot tell one node from many.
type Nodes struct {
	nodes []store.Driver
	calls atomic.Uint64
}

var _ store.Driver = (*Nodes)(nil)

// NewNodes returns a driver over nodes, which it closes.
func NewNodes(nodes ...store.Driver) *Nodes { return &Nodes{nodes: nodes} }

func (n *Nodes) next() store.Driver { return n.nodes[n.calls.Add(1)%uint64(len(n.nodes))] }

// Version implements [store.Driver].
func (n *Nodes) Version(ctx context.Context, org string) (int64, error) {
	return n.next().Version(ctx, org)
}

// Versions implements [store.Driver].
func (n *Nodes) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	return n.next().Versions(ctx, orgs)
}

// Remote implements [store.Driver].
func (n *Nodes) Remote() bool { return n.next().Remote() }

// Organizations implements [store.Driver].
func (n *Nodes) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	return n.next().Organizations(ctx, after, limit)
}

// Now implements [store.Driver].
func (n *Nodes) Now(ctx context.Context) (time.Time, error) { return n.next().Now(ctx) }

// Kinds implements [store.Driver].
func (n *Nodes) Kinds(ctx context.Context, org string) ([]string, error) {
	return n.next().Kinds(ctx, org)
}

// Get implements [store.Driver].
func (n *Nodes) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	return n.next().Get(ctx, org, kind, id)
}

// ScanIndex implements [store.Driver].
func (n *Nodes) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) ([]store.IndexRow, error) {
	return n.next().ScanIndex(ctx, org, kind, r, of)
}

// Scan implements [store.Driver].
func (n *Nodes) Scan(ctx context.Context, org, kind string, r store.Range) ([]store.Item, error) {
	return n.next().Scan(ctx, org, kind, r)
}

// Activity implements [store.Driver].
func (n *Nodes) Activity(ctx context.Context, org, id string) (*store.ActivityRow, error) {
	return n.next().Activity(ctx, org, id)
}

// Recorded implements [store.Driver].
func (n *Nodes) Recorded(ctx context.Context, org string, timestampMs int64, fp store.Fingerprint) (*store.ActivityRow, error) {
	return n.next().Recorded(ctx, org, timestampMs, fp)
}

// Activities implements [store.Driver].
func (n *Nodes) Activities(ctx context.Context, org string, q store.ActivityQuery) ([]store.ActivityRow, error) {
	return n.next().Activities(ctx, org, q)
}

// Entries implements [store.Driver].
func (n *Nodes) Entries(ctx context.Context, q store.EntryQuery) ([]store.EntryRow, error) {
	return n.next().Entries(ctx, q)
}

// Horizon implements [store.Driver].
func (n *Nodes) Horizon(ctx context.Context) (store.Horizon, error) { return n.next().Horizon(ctx) }

// Commit implements [store.Driver].
func (n *Nodes) Commit(ctx context.Context, c *store.Commit) error { return n.next().Commit(ctx, c) }

// ReplaceBodies implements [store.Driver].
func (n *Nodes) ReplaceBodies(ctx context.Context, org string, bodies []store.StoredBody) error {
	return n.next().ReplaceBodies(ctx, org, bodies)
}

// Ready implements [store.Driver].
func (n *Nodes) Ready(ctx context.Context) error { return n.next().Ready(ctx) }

// Close implements [store.Driver].
func (n *Nodes) Close() error {
	for _, db := range n.nodes {
		if err := db.Close(); err != nil {
			return err
		}
	}
	return nil
}
