package stamp

import "sync"

// generation is the number of entries after which a generation is full. The
// keys of ten thousand organizations that are all at work fit in one; two full
// ones, each key with its table, take some 160 MB.
const generation = 12_288

// remembered is a bounded memory in two generations. New and used entries live
// in the young one; when that is full it becomes the old one, and what the old
// one held is forgotten. An entry in use thus survives, without the cost of
// keeping an order.
type remembered[V any] struct {
	mu         sync.Mutex
	young, old map[string]V
}

func (r *remembered[V]) get(name string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.young[name]
	if ok {
		return v, true
	}
	if v, ok = r.old[name]; ok {
		r.add(name, v)
	}
	return v, ok
}

func (r *remembered[V]) put(name string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(name, v)
}

func (r *remembered[V]) add(name string, v V) {
	if r.young == nil || len(r.young) >= generation {
		r.young, r.old = make(map[string]V), r.young
	}
	r.young[name] = v
}
