package store

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// probeEvery is how long the outcome of a probe is taken for the present state:
// no caller can make the database write more often than that.
const probeEvery = time.Second

// probe is what the last write of [Store.Ready] found.
type probe struct {
	turn chan struct{} // holds one token: who has it may probe
	at   time.Time
	err  error
}

func newProbe() probe {
	p := probe{turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
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
	err := s.write(ctx)
	if ctx.Err() != nil {
		return cmp.Or(err, ctx.Err()) // of this caller alone
	}
	s.probe.at, s.probe.err = time.Now(), err
	return err
}

// write commits one item of the installation, which means nothing and which no
// version guards. Before there is an installation there is nothing to write to.
func (s *Store) write(ctx context.Context) error {
	for {
		version, err := s.driver.Version(ctx, instanceOrg)
		if err != nil || version == 0 {
			return err
		}
		c := &Commit{
			Org: instanceOrg, Version: version,
			Changes: []Change{{Org: instanceOrg, Kind: "probe", ID: "ready", Body: []byte("{}")}},
		}
		if err := s.markAll(c); err != nil {
			return err
		}
		err = s.driver.Commit(ctx, c)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
