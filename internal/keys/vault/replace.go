package vault

import "time"

// Replace has the vault seal under current from now on, and open what is under current
// or under previous, which is nil if there is none. Operations go on meanwhile: one
// that has begun ends with the keys that it began with.
func (v *Vault) Replace(current, previous Unsealer) error {
	if err := v.enter(); err != nil {
		return err
	}
	unsealers := []Unsealer{current}
	if previous != nil {
		unsealers = append(unsealers, previous)
	}
	masters, err := v.unsealMasters(unsealers)
	if err != nil {
		v.leave()
		return err
	}
	former := v.masters.Swap(&masters)
	v.leave()
	v.retire(*former)
	return nil
}

// wipesWithin is how long keys that were replaced wait for a moment in which nothing
// uses them. After that they are wiped with the rest of the memory, at the end.
const wipesWithin = 2 * time.Second

// retire wipes keys when nothing can be using them. It does not stand in line for the
// lock: an operation may take it twice, and would wait for itself.
func (v *Vault) retire(masters []*master) {
	for end := time.Now().Add(wipesWithin); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if !v.mu.TryLock() {
			continue
		}
		if !v.closed {
			for _, m := range masters {
				m.key.Wipe()
			}
		}
		v.mu.Unlock()
		return
	}
}
