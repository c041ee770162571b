package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
)

// snapshot holds the resident kinds of one organization at one version. Kinds
// are loaded when first asked for and never change afterwards.
type snapshot struct {
	version int64
	mu      sync.Mutex
	kinds   map[string]any // *residents[T] by kind name
	derived derived        // by the name given to Derived
}

// residents is a whole kind in memory.
type residents[T any] struct {
	ids    []string // sorted
	byID   map[string]*T
	unique map[string]map[string]string // index, key -> id
}

// load returns the kind's records at the transaction's version.
func load[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	snap := tx.snapshot
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if known, ok := snap.kinds[kind.Name]; ok {
		return known.(*residents[T]), nil
	}
	found, err := read(tx.ctx, tx.store.driver, tx.org, kind)
	if err != nil {
		return nil, err
	}
	// The scan saw the newest state. Only if that is still our version may it
	// be kept under it.
	if err := tx.store.checkVersion(tx.ctx, tx.org, tx.version); err != nil {
		return nil, err
	}
	snap.kinds[kind.Name] = found
	return found, nil
}

func read[T any](ctx context.Context, d Driver, org string, kind *Kind[T]) (*residents[T], error) {
	items, err := d.Scan(ctx, org, kind.Name, Range{})
	if err != nil {
		return nil, err
	}
	all := &residents[T]{byID: make(map[string]*T, len(items)), unique: map[string]map[string]string{}}
	for _, index := range kind.Unique {
		all.unique[index.Name] = map[string]string{}
	}
	for _, item := range items {
		value := new(T)
		if err := json.Unmarshal(item.Body, value); err != nil {
			return nil, damaged(org, kind.Name, item.ID, err)
		}
		all.byID[item.ID] = value
		for _, index := range kind.Unique {
			for _, key := range index.keys(value) {
				all.unique[index.Name][key] = item.ID
			}
		}
	}
	all.ids = slices.Sorted(maps.Keys(all.byID))
	return all, nil
}

// cache keeps the snapshots of the organizations used last, in two
// generations: when the young one is full it becomes the old one, and what was
// not asked for since is forgotten.
type cache struct {
	mu         sync.Mutex
	young, old map[string]*snapshot
}

// generation is how many organizations one generation remembers: ten thousand
// that are all at work fit in one. A small organization takes a few kilobytes.
const generation = 12_288

func (c *cache) get(org string, version int64) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := cmp.Or(c.young[org], c.old[org])
	if known == nil || known.version < version {
		known = &snapshot{version: version, kinds: map[string]any{}}
	}
	if known.version > version {
		// Another request has seen a newer version already; this one will
		// find out when it commits. Do not forget what is newer.
		return &snapshot{version: version, kinds: map[string]any{}}
	}
	if c.young[org] != known {
		if c.young == nil || len(c.young) >= generation {
			c.old, c.young = c.young, make(map[string]*snapshot)
		}
		c.young[org] = known
	}
	return known
}
