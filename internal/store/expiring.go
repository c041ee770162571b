package store

import "context"

// Organizations that hold records that expire are listed, so that the deletion of
// expired ones need not visit all organizations. An entry is written in the
// commit that writes the record, and deleted in a commit of the organization
// that finds none left: no version guards the entries, but that commit fails if
// the organization was changed in the meantime.

// expiringKind is the kind of the entries, among what belongs to the whole
// installation.
const expiringKind = "expiring"

// Expiring lists the organizations that hold records that expire, after an id,
// ordered by id.
func (s *Store) Expiring(ctx context.Context, after string, limit int) ([]string, error) {
	return s.listed(ctx, expiringKind, after, limit)
}

// listed are the organizations with an entry of a kind among what belongs to the
// installation.
func (s *Store) listed(ctx context.Context, kind, after string, limit int) ([]string, error) {
	rows, err := s.rowsOf(instanceOrg)
	if err != nil {
		return nil, err
	}
	// One that is not ours makes the caller visit an organization, and no more.
	entries, err := rows.scan(ctx, kind, Range{From: after + "\x01", Limit: limit})
	orgs := make([]string, len(entries))
	for i, e := range entries {
		orgs[i] = e.ID
	}
	return orgs, err
}

// NothingExpires says that the organization holds no more records that expire.
func (tx *Tx) NothingExpires() {
	tx.outside = append(tx.outside, Change{Org: instanceOrg, Kind: expiringKind, ID: tx.org})
}

func (w *writes[T]) expires() bool {
	if w.kind.Expires {
		for _, r := range w.rows {
			if r.after != nil {
				return true
			}
		}
	}
	return false
}
