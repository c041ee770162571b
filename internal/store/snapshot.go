package store

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"latchkey/internal/keys/vault"
	"latchkey/internal/lru"
)

// snapshot is what is known of one organization at one version.
type snapshot struct {
	version int64
	head    atomic.Pointer[head]
	mu      sync.Mutex
	caches  []*kindCache // few
}

// kindCache is what is known of some kinds of record: all of a resident kind, and
// what [Derived] made of these kinds alone. It never changes but by growing.
// Versions of the organization between which none of the kinds was changed
// share it.
type kindCache struct {
	kinds []string // sorted

	loading   sync.Mutex
	residents any // *residents[T], of a cache of one kind

	mu      sync.Mutex
	derived lru.Map[string, any] // by the name given to [Derived]
}

// maxDerived bounds a generation of what is remembered of one organization. Some
// of it is for each account that signs, about a kilobyte: ten thousand accounts
// that all sign fit in two generations.
const maxDerived = 16_384

// cacheOf returns the cache of these kinds, which are sorted.
func (s *snapshot) cacheOf(kinds ...string) *kindCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(kinds); i >= 0 {
		return s.caches[i]
	}
	c := &kindCache{kinds: slices.Clone(kinds), derived: lru.Map[string, any]{Max: maxDerived}}
	s.caches = append(s.caches, c)
	return c
}

func (s *snapshot) index(kinds []string) int {
	return slices.IndexFunc(s.caches, func(c *kindCache) bool { return slices.Equal(c.kinds, kinds) })
}

// loaded reports whether the records of its kind are in memory.
func (c *kindCache) loaded() bool {
	c.loading.Lock()
	defer c.loading.Unlock()
	return c.residents != nil
}

// find returns what [Derived] made under a name, and the kinds that it was made of.
func (s *snapshot) find(name string) (made any, kinds []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.caches {
		c.mu.Lock()
		made, ok = c.derived.Get(name)
		c.mu.Unlock()
		if ok {
			return made, c.kinds, true
		}
	}
	return nil, nil, false
}

// inherit takes over what is known of the version before, which differs from
// this one in some kinds only.
func (s *snapshot) inherit(before *snapshot, changed []string) {
	before.mu.Lock()
	same := slices.Clone(before.caches)
	before.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range same {
		if slices.ContainsFunc(c.kinds, func(kind string) bool { return slices.Contains(changed, kind) }) {
			continue
		}
		// A transaction may have begun a new one. The older one holds more.
		if i := s.index(c.kinds); i >= 0 {
			s.caches[i] = c
		} else {
			s.caches = append(s.caches, c)
		}
	}
}

// residents is a whole kind in memory.
type residents[T any] struct {
	ids    []string // sorted
	byID   map[string]*T
	unique map[string]map[string]string // index, key -> id
	marks  map[string]vault.RowMark
}

// load returns the kind's records at the transaction's version.
func load[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	tx.noteRead(kind.Name)
	c := tx.snapshot.cacheOf(kind.Name)
	c.loading.Lock()
	defer c.loading.Unlock()
	if c.residents != nil {
		return c.residents.(*residents[T]), nil
	}
	found, err := readAll(tx, kind)
	if err == nil {
		c.residents = found
	}
	return found, err
}

// readAll reads a whole kind, and makes certain that it is whole.
func readAll[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	found, err := read(tx, kind)
	if err != nil {
		return nil, err
	}
	// The scan saw the newest state. Only if that is still our version may it
	// be kept under it.
	if err := tx.store.checkVersion(tx.ctx, tx.org, tx.version); err != nil {
		return nil, err
	}
	if err := tx.checkSum(kind.sum(), found.marks); err != nil {
		return nil, err
	}
	return found, nil
}

func read[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	items, err := tx.scan(kind.Name, Range{})
	if err != nil {
		return nil, err
	}
	all := &residents[T]{
		byID: make(map[string]*T, len(items)), unique: map[string]map[string]string{},
		marks: make(map[string]vault.RowMark, len(items)),
	}
	for _, index := range kind.Unique {
		all.unique[index.Name] = map[string]string{}
	}
	for _, item := range items {
		if item.Body == nil {
			continue // the sum will not be right
		}
		value := new(T)
		if err := json.Unmarshal(item.Body, value); err != nil {
			return nil, damaged(tx.org, kind.Name, item.ID, err)
		}
		all.byID[item.ID], all.marks[item.ID] = value, item.mark
		for _, index := range kind.Unique {
			for _, key := range index.keys(value) {
				all.unique[index.Name][key] = item.ID
			}
		}
	}
	all.ids = slices.Sorted(maps.Keys(all.byID))
	return all, nil
}

// snapshotCache keeps the snapshots of the organizations used last. A small
// organization takes a few kilobytes.
type snapshotCache struct {
	mu    sync.Mutex
	known lru.Map[string, *snapshot]
}

func (c *snapshotCache) get(org string, version int64) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known.Get(org)
	if ok && known.version == version {
		return known
	}
	made := &snapshot{version: version}
	// Another request may have seen a newer version already; this one will find
	// out when it commits. The newer snapshot is kept.
	if !ok || known.version < version {
		c.known.Put(org, made)
	}
	return made
}
