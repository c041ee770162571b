package stamp

import (
	"sync"

	"latchkey/internal/recent"
)

// remembered keeps parsed keys by their text. Two full generations of them, each
// key with its table, take some 160 MB.
type remembered[V any] struct {
	mu   sync.Mutex
	keys recent.Map[string, V]
}

func (r *remembered[V]) get(name string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys.Get(name)
}

func (r *remembered[V]) put(name string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys.Put(name, v)
}
