package sqlite

import "sync"

// versionsPerGeneration bounds the memory: two generations of this many
// organizations, about 10 MB.
const versionsPerGeneration = 1 << 16

// versions remembers the versions of organizations. It can, because this
// process is the only writer.
//
// A version is put here after its commit is durable and before the commit is
// acknowledged. While a commit that raises it is being flushed the
// organization is in doubt: readers of items may already see the new state,
// so Version asks the database. That way whoever finds the same version
// before and after some reads has read one state.
type versions struct {
	mu       sync.Mutex
	cur, old map[string]int64
	doubt    map[string]int64
	epoch    uint64 // raised whenever something is forgotten
	limit    int
}

func newVersions(limit int) *versions {
	return &versions{cur: map[string]int64{}, doubt: map[string]int64{}, limit: limit}
}

// get returns the version if it is known, and the epoch for learn.
func (v *versions) get(org string) (version int64, ok bool, epoch uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.doubt[org]; ok {
		return 0, false, v.epoch
	}
	if n, ok := v.cur[org]; ok {
		return n, true, v.epoch
	}
	if n, ok := v.old[org]; ok {
		v.put(org, n)
		return n, true, v.epoch
	}
	return 0, false, v.epoch
}

// learn keeps what was read from the database, unless the writer knows better
// or could have known better and forgotten it since get returned epoch.
func (v *versions) learn(org string, version int64, epoch uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.epoch != epoch {
		return
	}
	if _, ok := v.doubt[org]; ok {
		return
	}
	if _, ok := v.cur[org]; ok {
		return
	}
	if _, ok := v.old[org]; ok {
		return
	}
	v.put(org, version)
}

// flushing says that the commit which raises these versions is about to
// become visible.
func (v *versions) flushing(raised map[string]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.doubt = raised
}

// flushed says that it is durable.
func (v *versions) flushed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for org, version := range v.doubt {
		v.put(org, version)
	}
	v.doubt = nil
}

// forget drops everything, after an error that leaves the state unclear.
func (v *versions) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cur, v.old, v.doubt = map[string]int64{}, nil, nil
	v.epoch++
}

func (v *versions) put(org string, version int64) {
	if _, ok := v.cur[org]; !ok && len(v.cur) >= v.limit {
		v.cur, v.old = map[string]int64{}, v.cur
		v.epoch++
	}
	v.cur[org] = version
}
