package store

import (
	"errors"

	"latchkey/internal/fault"
)

// Finding is something in the database that this installation did not write, or
// wrote and does not find.
type Finding struct {
	Org, Kind, ID string // ID is empty where no row is known
	What          string
}

const (
	notOurs    = "it is not what this server wrote: it was changed, moved or added by another program, or damaged"
	incomplete = "rows of this kind are missing, were added or were put back from an earlier time"
	isGone     = "it is missing"
	// restIncomplete is of the sum that many kinds share.
	restIncomplete = "rows are missing, were added or were put back from an earlier time, among wallets, accounts, private keys, sealed keys, contract interfaces, votes that wait, codes, imports, and their indexes"
	misplaced      = "an index names a record that does not have this key"
	// otherVersion is of a head that was put back, or of a version that was.
	olderState   = "an earlier state of the whole organization was put back: the log knows a later one"
	otherVersion = "the head is not that of the organization's version: one of the two was changed or put back from an earlier time"
)

// activityKind is what activities are called in a [Finding].
const activityKind = "activity"

// OnFinding leaves fn to be called with every finding; it must return soon.
func (s *Store) OnFinding(fn func(Finding)) { s.onFinding = fn }

// found reports a finding, and is the error for what needed the row. It says
// nothing of the content.
func (s *Store) found(f Finding) error {
	if s.onFinding != nil {
		s.onFinding(f)
	}
	return s.refusal(f.Kind)
}

func (*Store) refusal(kind string) error {
	return fault.New(fault.DataLoss, fault.ReasonIntegrity,
		"a stored %s is not as this server wrote it and is not used; ask the operator of the server, whose log says which one", kind)
}

func isFinding(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Reason == fault.ReasonIntegrity
}

// errLocked says that there are no keys yet; see [Store.Bootstrap].
var errLocked = errors.New("store: it was not opened with the keys that mark its rows")
