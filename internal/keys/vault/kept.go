package vault

import (
	"sync"

	"latchkey/internal/keys/vault/internal/secret"
)

// kept holds secrets that are needed again and again and can be had again, up to a
// number.
type kept[K comparable] struct {
	most int
	mu   sync.RWMutex
	all  map[K]*secret.Bytes
}

// use calls fn with a secret, if it is kept: under the lock, because one that is
// dropped is wiped at once.
func (k *kept[K]) use(name K, fn func(*secret.Bytes)) (found bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	s, found := k.all[name]
	if found {
		fn(s)
	}
	return found
}

// put takes a secret over. When there are as many as may be it drops any other.
func (k *kept[K]) put(name K, s *secret.Bytes) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all[name] != nil {
		s.Wipe()
		return
	}
	if k.all == nil {
		k.all = map[K]*secret.Bytes{}
	}
	for victim, old := range k.all {
		if len(k.all) < k.most {
			break
		}
		old.Wipe()
		delete(k.all, victim)
	}
	k.all[name] = s
}

func (k *kept[K]) count() int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.all)
}

// Wipe forgets all.
func (k *kept[K]) Wipe() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.all {
		s.Wipe()
	}
	k.all = nil
}
