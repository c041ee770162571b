package store

import (
	"time"

	"latchkey/internal/translog"
)

// Kinds of entries about the installation. They bear its id in place of that of an
// organization, and are numbered under it.
const (
	LogStarted  = "SERVER_STARTED" // status: its version; digest: of its config
	LogSealed   = "SEAL_CHANGED"   // the master key: status says how far it is
	LogRestored = "RESTORED"       // digest: SHA-256 of the backup
	LogAdopted  = "ADOPTED"        // the rows of an earlier version were taken for ours
	LogEpoch    = "EPOCH_BEGAN"    // status: the last checkpoint before; digest: of it with its signatures
)

// IsInstance reports whether an organization of [Store.Organizations] is the
// installation's own.
func IsInstance(org string) bool { return org == instanceOrg }

// IsOrganization reports whether a name of [Store.Organizations] is of an
// organization, and not of what the installation keeps for itself.
func IsOrganization(org string) bool { return org != instanceOrg && !headless(org) }

// Note is what the log says of the installation.
type Note struct {
	Installation string // its id
	Kind         string
	Status       string // a text that explains the kind
	Digest       string // SHA-256 in lower-case hex, or empty
	Name         string // under which [Store.LogEntriesOf] finds it; may be empty
}

// Note adds an entry about the installation to the log when the transaction
// commits.
func (tx *Tx) Note(n Note) { tx.notes = append(tx.notes, n) }

func (tx *Tx) appendNotes(all []Entry) ([]Entry, error) {
	for _, n := range tx.notes {
		rows, err := tx.store.rowsOf(n.Installation)
		if err != nil {
			return nil, err
		}
		all = append(all, newEntry(rows.key, &translog.Record{
			OrganizationID: n.Installation, Kind: n.Kind, Status: n.Status,
			TimeMs: time.Now().UnixMilli(), RequestDigest: n.Digest,
		}, n.Name))
	}
	return all, nil
}
