package stamp

import (
	"cmp"
	"sync"

	"latchkey/internal/lru"
)

// generation is how many keys a generation remembers: two for each of ten
// thousand organizations that are all at work fit in one. Two full ones, each key
// with its table, take some 300 MB.
const generation = 24_576

// remembered keeps parsed keys by their text.
type remembered[V any] struct {
	mu   sync.Mutex
	keys lru.Map[string, V]
}

func (r *remembered[V]) get(name string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys.Get(name)
}

func (r *remembered[V]) put(name string, v V, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys.Max = cmp.Or(most, generation)
	r.keys.Put(name, v)
}
