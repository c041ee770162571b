package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// probeEvery is how long the outcome of a probe is taken for the present state:
// no caller can make the database write more often than that.
const probeEvery = time.Second

// probeKind is the kind of the item that is written.
const probeKind = "probe"

// probe is what the last write of [Store.Ready] found.
type probe struct {
	turn chan struct{} // holds one token: who has it may probe
	at   time.Time
	err  error

	// refused is the size of the largest commit that the database could not
	// write since the last probe of that size could be written: a disk without
	// room for it may have some for less. 0: none.
	refused atomic.Int64
}

// maxProbe bounds what a probe writes.
const maxProbe = 64 << 10

func newProbe() *probe {
	p := &probe{turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// observe notes what became of a commit.
func (p *probe) observe(c *Commit, err error) {
	if !errors.Is(err, ErrDiskFull) && !errors.Is(err, ErrReadOnly) && !errors.Is(err, ErrIO) {
		return
	}
	size := 1
	if c.Activity != nil {
		size += len(c.Activity.Body)
	}
	for _, change := range c.Changes {
		size += len(change.Body)
	}
	for {
		known := p.refused.Load()
		if int64(size) <= known || p.refused.CompareAndSwap(known, int64(size)) {
			return
		}
	}
}

// Ready reports whether the database answers, is migrated and takes writes. A
// database that only reads would refuse every request that matters; which of
// [ErrDiskFull], [ErrReadOnly] and [ErrIO] it is, the error says.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.driver.Ready(ctx); err != nil {
		return err
	}
	select {
	case <-s.probe.turn:
		defer func() { s.probe.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if time.Since(s.probe.at) < probeEvery {
		return s.probe.err
	}
	refused := s.probe.refused.Load()
	err := s.write(ctx, min(int(refused), maxProbe))
	if ctx.Err() != nil {
		return cmp.Or(err, ctx.Err()) // of this caller alone
	}
	if err == nil {
		s.probe.refused.CompareAndSwap(refused, 0)
	}
	s.probe.at, s.probe.err = time.Now(), err
	return err
}

// write commits one item of the installation, of a size, which means nothing.
func (s *Store) write(ctx context.Context, size int) error {
	body := append([]byte("{}"), bytes.Repeat([]byte(" "), size)...)
	return s.writeAside(ctx, Change{Org: instanceOrg, Kind: probeKind, ID: "ready", Body: body})
}

// writeAside commits items of the installation that no version guards. Before there is
// an installation there is nothing to write to.
func (s *Store) writeAside(ctx context.Context, changes ...Change) error {
	for {
		version, err := s.driver.Version(ctx, instanceOrg)
		if err != nil || version == 0 {
			return err
		}
		c := &Commit{Org: instanceOrg, Version: version, Changes: slices.Clone(changes)}
		if err := s.newTx(ctx, instanceOrg, version).mark(c); err != nil {
			return err
		}
		err = s.driver.Commit(ctx, c)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
