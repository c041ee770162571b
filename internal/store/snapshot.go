package store

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"latchkey/internal/lru"
)

// snapshot is what is known of one organization at one version.
type snapshot struct {
	version int64
	mu      sync.Mutex
	facets  []*facet // few
}

// facet is what is known of some kinds of record: all of a resident kind, and
// what Derived made of these kinds alone. It never changes but by growing.
// Versions of the organization between which none of the kinds was changed
// share it.
type facet struct {
	kinds []string // sorted

	loading   sync.Mutex
	residents any // *residents[T], of a facet of one kind

	mu      sync.Mutex
	derived lru.Map[string, any] // by the name given to Derived
}

// maxDerived bounds a generation of what is remembered of one organization. Some
// of it is for each account that signs, about a kilobyte: ten thousand accounts
// that all sign fit in two generations.
const maxDerived = 16_384

// of returns the facet of these kinds, which are sorted.
func (s *snapshot) of(kinds ...string) *facet {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(kinds); i >= 0 {
		return s.facets[i]
	}
	f := &facet{kinds: slices.Clone(kinds), derived: lru.Map[string, any]{Max: maxDerived}}
	s.facets = append(s.facets, f)
	return f
}

func (s *snapshot) index(kinds []string) int {
	return slices.IndexFunc(s.facets, func(f *facet) bool { return slices.Equal(f.kinds, kinds) })
}

// loaded reports whether the records of its kind are in memory.
func (f *facet) loaded() bool {
	f.loading.Lock()
	defer f.loading.Unlock()
	return f.residents != nil
}

// find returns what Derived made under a name, and the kinds that it was made of.
func (s *snapshot) find(name string) (made any, kinds []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.facets {
		f.mu.Lock()
		made, ok = f.derived.Get(name)
		f.mu.Unlock()
		if ok {
			return made, f.kinds, true
		}
	}
	return nil, nil, false
}

// inherit takes over what is known of the version before, which differs from
// this one in some kinds only.
func (s *snapshot) inherit(before *snapshot, changed []string) {
	before.mu.Lock()
	same := slices.Clone(before.facets)
	before.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range same {
		if slices.ContainsFunc(f.kinds, func(kind string) bool { return slices.Contains(changed, kind) }) {
			continue
		}
		// Somebody may have begun one anew. What was used for longer knows more.
		if i := s.index(f.kinds); i >= 0 {
			s.facets[i] = f
		} else {
			s.facets = append(s.facets, f)
		}
	}
}

// residents is a whole kind in memory.
type residents[T any] struct {
	ids    []string // sorted
	byID   map[string]*T
	unique map[string]map[string]string // index, key -> id
}

// load returns the kind's records at the transaction's version.
func load[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	tx.uses(kind.Name)
	f := tx.snapshot.of(kind.Name)
	f.loading.Lock()
	defer f.loading.Unlock()
	if f.residents != nil {
		return f.residents.(*residents[T]), nil
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
	f.residents = found
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

// cache keeps the snapshots of the organizations used last. A small
// organization takes a few kilobytes.
type cache struct {
	mu    sync.Mutex
	known lru.Map[string, *snapshot]
}

func (c *cache) get(org string, version int64) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known.Get(org)
	if ok && known.version == version {
		return known
	}
	made := &snapshot{version: version}
	// Another request may have seen a newer version already; this one will find
	// out when it commits. What is newer is not forgotten.
	if !ok || known.version < version {
		c.known.Put(org, made)
	}
	return made
}
