package store

import (
	"context"
	"encoding/binary"
	"fmt"
)

// Logged is how much of an organization is in the tree. It is written with the
// entries, so that an organization that is older than it was put back.
type Logged struct {
	Sequence int64 // the number of its newest entry
	Version  int64 // the greatest of which an entry speaks; 0: of none
}

// Logged is how much of an organization is in the tree.
func (l LogItems) Logged(org string) (Logged, error) {
	body, err := l.Get(LogSequence, org)
	if err != nil {
		return Logged{}, err
	}
	return ReadLogged(org, body)
}

// PutLogged writes how much of an organization is in the tree.
func (l LogItems) PutLogged(org string, g Logged) {
	body := binary.BigEndian.AppendUint64(nil, uint64(g.Sequence))
	l.Put(LogSequence, org, binary.BigEndian.AppendUint64(body, uint64(g.Version)))
}

func (s *Store) logged(ctx context.Context, org string) (Logged, error) {
	body, err := s.LogItem(ctx, LogSequence, org)
	if err != nil {
		return Logged{}, err
	}
	return ReadLogged(org, body)
}

// ReadLogged reads the item of an organization; none: nothing of it is in the tree.
func ReadLogged(org string, body []byte) (g Logged, err error) {
	switch len(body) {
	case 0:
	case 16:
		g.Version = int64(binary.BigEndian.Uint64(body[8:]))
		fallthrough
	case 8: // of a version that did not note the other number
		g.Sequence = int64(binary.BigEndian.Uint64(body))
	default:
		err = fmt.Errorf("store: the number of the newest entry of organization %s has %d bytes", org, len(body))
	}
	return g, err
}

// checkLogged refuses the head of a state that is older than what the log knows of
// the organization: its rows fit together, but all of them were put back. It costs
// one read, when an organization is not in memory.
func (tx *Tx) checkLogged(found *head) error {
	if tx.org == instanceOrg || headless(tx.org) {
		return nil
	}
	logged, err := tx.store.logged(tx.ctx, tx.org)
	if err != nil || logged.Version <= found.Version {
		return err
	}
	// It may have been changed since the transaction began, and logged since.
	if err := tx.checkVersion(); err != nil {
		return err
	}
	return tx.store.found(Finding{tx.org, headKind, headID, olderState})
}
