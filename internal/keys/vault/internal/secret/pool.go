package secret

import "sync"

// Secrets come in a few sizes: keys (32 to 66 bytes), seeds with what belongs to
// them, and phrases. Slots of two sizes hold nearly all; what is larger gets
// pages of its own.
const (
	smallSlot  = 128
	largeSlot  = 1024
	regionSize = 64 << 10
)

// Pool hands out locked memory. It never fails: where pages cannot be mapped
// or locked (RLIMIT_MEMLOCK), it hands out ordinary memory, which is wiped all
// the same, and reports it (OnUnlocked). The zero value is ready for use.
type Pool struct {
	mu           sync.Mutex
	regions      [][]byte // mapped pages, cut into slots
	small, large [][]byte // free slots
	own          map[*byte][]byte
	unlocked     error       // why memory that was handed out is not locked
	report       func(error) // of the above
}

// OnUnlocked has report called once, with the reason, when memory is handed out
// that is not locked: now, if there was some already. report must not use the
// pool.
func (p *Pool) OnUnlocked(report func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report = report
	if p.unlocked != nil {
		report(p.unlocked)
	}
}

// Unlocked is why memory that was handed out is not locked; nil: it is.
func (p *Pool) Unlocked() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unlocked
}

// pages maps pages, and notes the first time that they are not locked.
func (p *Pool) pages(n int) []byte {
	pages, err := mapPages(n)
	if err != nil && p.unlocked == nil {
		p.unlocked = err
		if p.report != nil {
			p.report(err)
		}
	}
	return pages
}

// Size is how many bytes are mapped.
func (p *Pool) Size() (bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, region := range p.regions {
		bytes += len(region)
	}
	for _, region := range p.own {
		bytes += len(region)
	}
	return bytes
}

// New returns n zero bytes.
func (p *Pool) New(n int) *Bytes {
	slot := p.take(n)
	in := &inner{b: slot[:n:n], home: p, slot: slot}
	return &Bytes{in: func() *inner { return in }}
}

// Of moves b into a secret: it copies it, and wipes the original.
func (p *Pool) Of(b []byte) *Bytes {
	s := p.New(len(b))
	copy(s.Raw(), b)
	clear(b)
	return s
}

// Random returns n random bytes.
func (p *Pool) Random(n int) *Bytes {
	s := p.New(n)
	s.Fill()
	return s
}

// Close wipes and unmaps everything that was ever handed out. No secret of the
// pool may be in use.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, region := range p.regions {
		clear(region)
		unmapPages(region)
	}
	for _, region := range p.own {
		clear(region)
		unmapPages(region)
	}
	p.regions, p.small, p.large, p.own = nil, nil, nil, nil
}

func (p *Pool) take(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case n <= smallSlot:
		return p.cut(&p.small, smallSlot)
	case n <= largeSlot:
		return p.cut(&p.large, largeSlot)
	}
	slot := p.pages(n)
	if slot == nil {
		return make([]byte, n)
	}
	if p.own == nil {
		p.own = map[*byte][]byte{}
	}
	p.own[&slot[0]] = slot
	return slot
}

// cut takes a free slot, and maps a new region when there is none.
func (p *Pool) cut(free *[][]byte, size int) []byte {
	if len(*free) == 0 {
		region := p.pages(regionSize)
		if region == nil {
			return make([]byte, size)
		}
		p.regions = append(p.regions, region)
		for at := 0; at < len(region); at += size {
			*free = append(*free, region[at:at+size:at+size])
		}
	}
	last := len(*free) - 1
	slot := (*free)[last]
	*free = (*free)[:last]
	return slot
}

// release takes back a slot that has been wiped.
func (p *Pool) release(slot []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if region, ok := p.own[&slot[0]]; ok {
		delete(p.own, &slot[0])
		unmapPages(region)
		return
	}
	switch len(slot) { // a slot on the heap may join the free ones just as well
	case smallSlot:
		p.small = append(p.small, slot)
	case largeSlot:
		p.large = append(p.large, slot)
	}
}
