package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/store"
)

// SealTaken is the seal that a server runs on.
type SealTaken struct {
	Generation int `json:"generation"`
}

// takeSeal has the server go on with what its seal has become, and tells the other
// servers of it. The caller holds s.sealing.
func (s *Server) takeSeal(ctx context.Context, keys *KeyServices) (SealTaken, error) {
	if keys.Seal == nil {
		return SealTaken{}, errors.New("the master key of this server is in no seal")
	}
	next, err := ReadSeal(s.config)
	if err != nil {
		return SealTaken{}, err
	}
	if next.Same(keys.Seal.Seal) {
		return SealTaken{next.Generation()}, nil
	}
	return s.follow(ctx, keys, next, true)
}

// follow goes on with a newer generation. What is under the master key before opens
// all the while, so that requests notice nothing.
func (s *Server) follow(ctx context.Context, keys *KeyServices, next *sealfile.Seal, tell bool) (taken SealTaken, err error) {
	opened, err := keys.Seal.Follow(next, func(next *sealfile.Seal) (*sealfile.Opened, error) {
		return OpenSeal(next, s.config.Seal.Secrets, s.log)
	})
	if err != nil {
		return SealTaken{}, err
	}
	defer func() {
		if err != nil {
			opened.Close()
		}
	}()
	if tell {
		err = s.tellSeal(ctx, keys, opened)
	} else {
		err = keys.Seal.Put(opened)
	}
	if err != nil {
		return SealTaken{}, err
	}
	if err := keys.Vault.Replace(opened.Current(), opened.Previous()); err != nil {
		return SealTaken{}, err
	}
	former := keys.Seal
	keys.Seal = opened
	former.Close()
	s.generation.Store(int64(opened.Generation()))
	if opened.Previous() == nil {
		select {
		case s.sealChanged <- struct{}{}:
		default: // it will look anyway
		}
	}
	s.log.Info("the seal has changed", "file", opened.Path(), "generation", opened.Generation(), "recipient", opened.By())
	return SealTaken{opened.Generation()}, nil
}

// tellSeal leaves the newer seal in the database, and an entry in the log.
func (s *Server) tellSeal(ctx context.Context, keys *KeyServices, next *sealfile.Opened) error {
	row, err := keys.Seal.Row(next)
	if err != nil {
		return err
	}
	return s.store.Instance(ctx, func(tx *store.Tx) error {
		known, err := tx.Installation("")
		if err != nil {
			return err
		}
		return noteGeneration(tx, known, next, row)
	})
}

// lookForSeal takes what another server has made of the seal.
func (s *Server) lookForSeal(ctx context.Context, keys *KeyServices) error {
	// While it is held, this server itself is changing the seal.
	if keys.Seal == nil || !s.sealing.TryLock() {
		return nil
	}
	defer s.sealing.Unlock()
	var known domain.Installation
	err := s.store.Instance(ctx, func(tx *store.Tx) error {
		found, err := tx.Installation("")
		if err == nil {
			known = *found
		}
		return err
	})
	if err != nil || known.SealID != keys.Seal.ID() || known.SealGeneration <= keys.Seal.Generation() {
		return err
	}
	if known.Seal == "" {
		return fmt.Errorf("generation %d of the seal is in use, and this server has %d: copy the newest file to this machine and restart the server", known.SealGeneration, keys.Seal.Generation())
	}
	next, err := keys.Seal.ReadRow(known.Seal)
	if err != nil {
		return err
	}
	_, err = s.follow(ctx, keys, next, false)
	return err
}

// checkOthers refuses what would lock out a server that runs on an older seal.
func checkOthers(ctx context.Context, s *store.Store, node string, generation int) error {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.ID != node && n.Generation < generation && time.Since(n.SeenAt) < NodeAlive {
			return fmt.Errorf("the server %s on %s has generation %d of the seal, and this one %d: it takes the newer one within %v, or its log says why not; run this again then",
				n.Address, n.Host, n.Generation, generation, announceEvery)
		}
	}
	return nil
}

// closeSeal forgets the seal that the server was not started with.
func (s *Server) closeSeal() {
	s.sealing.Lock()
	defer s.sealing.Unlock()
	if s.keys.Seal != nil {
		s.keys.Seal.Close() // again, if it is the caller's
	}
}
