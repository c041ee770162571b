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
	made    *derivations
}

func newSnapshot(version int64) *snapshot {
	return &snapshot{version: version, made: newDerivations()}
}

// kindCache is a resident kind of record. Versions of the organization between which
// it was not changed share it.
type kindCache struct {
	kind      string
	loading   sync.Mutex
	residents anyResidents // nil until they are asked for
}

// cacheOf returns the cache of a kind.
func (s *snapshot) cacheOf(kind string) *kindCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(kind); i >= 0 {
		return s.caches[i]
	}
	c := &kindCache{kind: kind}
	s.caches = append(s.caches, c)
	return c
}

func (s *snapshot) index(kind string) int {
	return slices.IndexFunc(s.caches, func(c *kindCache) bool { return c.kind == kind })
}

func (s *snapshot) derivations() *derivations {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// known returns all that is known of the version.
func (s *snapshot) known() ([]*kindCache, *derivations) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.caches), s.made
}

// loaded returns the records of its kind, nil if they are not in memory yet.
func (c *kindCache) loaded() anyResidents {
	if !c.loading.TryLock() {
		return nil
	}
	defer c.loading.Unlock()
	return c.residents
}

// next is the snapshot of the version that a commit makes. Kinds that the commit did
// not change are as they were; in one that is in memory the records that it changed
// are replaced.
func (s *snapshot) next(c *Commit) *snapshot {
	changes := map[string][]Change{} // by kind
	for _, ch := range c.Changes {
		if ch.Org == "" {
			changes[ch.Kind] = append(changes[ch.Kind], ch)
		}
	}
	caches, made := s.known()
	after := &snapshot{version: s.version + 1, made: made}
	made.note(c.Changes, after.version)
	for _, cache := range caches {
		if changes[cache.kind] == nil {
			after.caches = append(after.caches, cache)
			continue
		}
		if records := cache.loaded(); records != nil {
			own := &kindCache{kind: cache.kind, residents: records.with(changes[cache.kind])}
			after.caches = append(after.caches, own)
		}
	}
	return after
}

// inherit takes over what is known of the same version.
func (s *snapshot) inherit(other *snapshot) {
	caches, made := other.known() // others may run on it, and add to it
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range caches {
		// A transaction may have begun a new one. The other one holds more.
		if i := s.index(c.kind); i >= 0 {
			s.caches[i] = c
		} else {
			s.caches = append(s.caches, c)
		}
	}
	s.made = made
	s.head.Store(other.head.Load())
}

// anyResidents is residents of some type of record.
type anyResidents interface {
	// with is the kind after changes, as they are stored; nil: one cannot be read.
	with(changes []Change) anyResidents
}

// residents is a whole kind in memory. It never changes.
type residents[T any] struct {
	kind   *Kind[T]
	ids    []string // sorted
	byID   map[string]*T
	unique map[string]map[string]string // index, key -> id
	marks  map[string]vault.RowMark
}

// load returns the kind's records at the transaction's version.
func load[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	tx.noteRead(anyOf(kind.Name))
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
	if tx.base != nil {
		return nil, errStale // before it reads what it could not keep
	}
	found, err := read(tx, kind)
	if err != nil {
		return nil, err
	}
	// The scan saw the newest state. Only if that is still our version may it
	// be kept under it.
	if err := tx.checkVersion(); err != nil {
		return nil, err
	}
	if err := tx.checkSum(kind.sum(), found.marks); err != nil {
		return nil, err
	}
	return found, nil
}

func read[T any](tx *Tx, kind *Kind[T]) (*residents[T], error) {
	items, err := tx.scanUnnoted(kind.Name, Range{})
	if err != nil {
		return nil, err
	}
	all := &residents[T]{
		kind: kind, byID: make(map[string]*T, len(items)), unique: map[string]map[string]string{},
		marks: make(map[string]vault.RowMark, len(items)),
	}
	for _, index := range kind.Unique {
		all.unique[index.Name] = map[string]string{}
	}
	for _, item := range items {
		if item.Body == nil {
			continue // the sum will not be right
		}
		if err := all.put(item); err != nil {
			return nil, damaged(tx.org, kind.Name, item.ID, err)
		}
	}
	all.ids = slices.Sorted(maps.Keys(all.byID))
	return all, nil
}

// put adds a record, or replaces one that was dropped. The ids are left to the caller.
func (r *residents[T]) put(row storedRow) error {
	value := new(T)
	if err := json.Unmarshal(row.Body, value); err != nil {
		return err
	}
	r.byID[row.ID], r.marks[row.ID] = value, row.mark
	for _, index := range r.kind.Unique {
		for _, key := range index.keys(value) {
			r.unique[index.Name][key] = row.ID
		}
	}
	return nil
}

func (r *residents[T]) drop(id string) {
	for _, index := range r.kind.Unique {
		for _, key := range index.keys(r.byID[id]) {
			delete(r.unique[index.Name], key)
		}
	}
	delete(r.byID, id)
	delete(r.marks, id)
}

func (r *residents[T]) with(changes []Change) anyResidents {
	after := &residents[T]{
		kind: r.kind, byID: maps.Clone(r.byID), marks: maps.Clone(r.marks), unique: map[string]map[string]string{},
	}
	for name, owners := range r.unique {
		after.unique[name] = maps.Clone(owners)
	}
	// What is freed by one record may be taken by another.
	for i := range changes {
		after.drop(changes[i].ID)
	}
	for _, ch := range changes {
		if ch.Body == nil {
			continue
		}
		_, body, ok := cut(ch.Body)
		if !ok || ch.after == nil || after.put(storedRow{Item{ch.ID, body}, *ch.after}) != nil {
			return nil
		}
	}
	after.ids = slices.Sorted(maps.Keys(after.byID))
	return after
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
	made := newSnapshot(version)
	// Another request may have seen a newer version already; this one will find
	// out when it commits. The newer snapshot is kept.
	if !ok || known.version < version {
		c.known.Put(org, made)
	}
	return made
}

// add keeps the snapshot of a version that was committed.
func (c *snapshotCache) add(org string, made *snapshot) {
	if known := c.get(org, made.version); known != made {
		known.inherit(made)
	}
}
