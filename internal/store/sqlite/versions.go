package sqlite

import (
	"sync"

	"latchkey/internal/lru"
)

// versionsPerGeneration bounds the memory: two generations of this many
// organizations, about 10 MB.
const versionsPerGeneration = 1 << 16

// versions remembers the versions of organizations. It can, because this
// process is the only writer.
//
// A version is put here after its commit is durable and before the commit is
// acknowledged. While a commit that raises it is being flushed the
// organization is in doubt: readers of items may already see the new state,
// so [DB.Version] reads it from the database. That way a caller that finds the
// same version before and after some reads has read one state.
type versions struct {
	mu      sync.Mutex
	known   lru.Map[string, int64]
	inDoubt map[string]int64
	resets  uint64
}

func newVersions(perGeneration int) *versions {
	return &versions{known: lru.Map[string, int64]{Max: perGeneration}}
}

// epoch changes whenever something may have been forgotten.
func (v *versions) epoch() uint64 { return v.resets<<32 + v.known.Turns() }

// get returns the version if it is known, and the epoch for learn.
func (v *versions) get(org string) (version int64, ok bool, epoch uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.inDoubt[org]; ok {
		return 0, false, v.epoch()
	}
	version, ok = v.known.Get(org)
	return version, ok, v.epoch()
}

// learn keeps what was read from the database, unless the writer has set a newer
// version, or may have set one that was forgotten since get returned epoch.
func (v *versions) learn(org string, version int64, epoch uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.epoch() != epoch {
		return
	}
	if _, ok := v.inDoubt[org]; ok {
		return
	}
	if _, ok := v.known.Get(org); !ok {
		v.known.Put(org, version)
	}
}

// flushing says that the commit which raises these versions is about to
// become visible.
func (v *versions) flushing(raised map[string]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inDoubt = raised
}

// flushed says that it is durable.
func (v *versions) flushed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for org, version := range v.inDoubt {
		v.known.Put(org, version)
	}
	v.inDoubt = nil
}

// forget drops everything, after an error that leaves the state unclear.
func (v *versions) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known, v.inDoubt = lru.Map[string, int64]{Max: v.known.Max}, nil
	v.resets++
}
