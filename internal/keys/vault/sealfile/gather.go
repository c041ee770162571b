package sealfile

import (
	"crypto/subtle"
	"fmt"
	"sync"
	"time"

	"latchkey/internal/keys/vault/internal/secret"
)

// shareLasts is how long a share waits for the others.
const shareLasts = 15 * time.Minute

// Gathering collects the shares of people until enough have come. It is safe for
// concurrent use.
type Gathering struct {
	seal *Seal
	now  func() time.Time

	mu   sync.Mutex
	pool *secret.Pool
	have map[string]map[byte]arrived // by recipient and index
}

type arrived struct {
	value *secret.Bytes
	at    time.Time
}

// Progress says how many people have come.
type Progress struct {
	Recipient string `json:"recipient"`
	Have      int    `json:"have"`
	Need      int    `json:"need"`
	// Repeated is set if the share that was given last had come before.
	Repeated bool `json:"-"`
}

// Gather begins to collect shares. ok is false if no group of people is a recipient.
func (s *Seal) Gather(now func() time.Time) (_ *Gathering, ok bool) {
	for _, r := range s.form.Recipients {
		ok = ok || r.Kind == KindPeople
	}
	return &Gathering{seal: s, now: now, pool: &secret.Pool{}, have: map[string]map[byte]arrived{}}, ok
}

// OnUnlocked is that of the vault, for the memory of shares.
func (g *Gathering) OnUnlocked(report func(error)) { g.pool.OnUnlocked(report) }

// Progress is of the group that lacks the fewest shares.
func (g *Gathering) Progress() Progress {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	var best Progress
	for _, r := range g.seal.form.Recipients {
		if r.Kind != KindPeople {
			continue
		}
		p := g.progress(&r)
		if best.Recipient == "" || p.Need-p.Have < best.Need-best.Have {
			best = p
		}
	}
	return best
}

func (g *Gathering) progress(r *recipient) Progress {
	return Progress{Recipient: r.Name, Have: len(g.have[r.Name]), Need: r.people.Threshold}
}

// Path is where the seal is.
func (g *Gathering) Path() string { return g.seal.path }

// Add takes a share, which it wipes. With the last one that is needed it opens the
// seal; opened is nil before. A share that was given already changes nothing. Errors do
// not say where the seal is: they may be for strangers.
func (g *Gathering) Add(text []byte) (opened *Opened, p Progress, err error) {
	defer clear(text)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	given, err := parseShare(g.pool, books(), text)
	if err != nil {
		return nil, Progress{}, err
	}
	r, err := g.place(given)
	if err != nil {
		given.value.Wipe()
		return nil, Progress{}, err
	}
	kept := g.have[r.Name]
	if kept == nil {
		kept = map[byte]arrived{}
		g.have[r.Name] = kept
	}
	old, repeated := kept[given.index]
	if repeated {
		old.value.Wipe()
	}
	kept[given.index] = arrived{given.value, g.now()}
	p = g.progress(r)
	p.Repeated = repeated
	if p.Have < p.Need {
		return nil, p, nil
	}
	opened, err = g.open(r)
	return opened, p, err
}

// place is the group that a share is of. It names a share that is wrong.
func (g *Gathering) place(given *share) (*recipient, error) {
	for i := range g.seal.form.Recipients {
		r := &g.seal.form.Recipients[i]
		if r.Kind != KindPeople || groupOf(r.Recipient) != given.group {
			continue
		}
		if given.index < 1 || int(given.index) > len(r.people.Checks) {
			return nil, fmt.Errorf("recipient %q: it has %d shares, and this is number %d", r.Name, len(r.people.Checks), given.index)
		}
		if subtle.ConstantTimeCompare([]byte(r.people.Checks[given.index-1]), []byte(given.check())) != 1 {
			return nil, fmt.Errorf("recipient %q: share %d is wrong: it is not the one that was handed out", r.Name, given.index)
		}
		return r, nil
	}
	return nil, fmt.Errorf("the share is of group %s, which is none of this seal: it is of another one, or its group was removed", groupName(given.group))
}

// open puts the shares of a group together.
func (g *Gathering) open(r *recipient) (*Opened, error) {
	values := map[byte]*secret.Bytes{}
	for index, a := range g.have[r.Name] {
		values[index] = a.value
	}
	scalar, err := combine(g.pool, values)
	if err != nil {
		return nil, err
	}
	defer scalar.Wipe()
	identity, err := identityOf(scalar)
	if err != nil {
		return nil, err
	}
	return g.seal.open(r, identity, &secret.Pool{})
}

// forget wipes shares that have waited too long.
func (g *Gathering) forget() {
	for _, kept := range g.have {
		for index, a := range kept {
			if g.now().Sub(a.at) >= shareLasts {
				a.value.Wipe()
				delete(kept, index)
			}
		}
	}
}

// Close wipes the shares.
func (g *Gathering) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.have = map[string]map[byte]arrived{}
	g.pool.Close()
}
