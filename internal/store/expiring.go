package store

import "context"

// Organizations that hold something that ends by itself are known by name, so
// that whoever tidies up need not visit all of them. An entry is written in the
// commit that writes the record, and deleted in a commit of the organization
// that finds none left: no version guards the entries, but that commit fails if
// the organization was changed meanwhile.

// expiringKind is the kind of the entries, among what belongs to the whole
// installation.
const expiringKind = "expiring"

// Expiring lists the organizations that hold something that ends by itself,
// after an id, ordered by id.
func (s *Store) Expiring(ctx context.Context, after string, limit int) ([]string, error) {
	entries, err := s.driver.Scan(ctx, instanceOrg, expiringKind, Range{From: after + "\x01", Limit: limit})
	orgs := make([]string, len(entries))
	for i, e := range entries {
		orgs[i] = e.ID
	}
	return orgs, err
}

// NothingExpires says that the organization holds nothing more that ends by
// itself.
func (tx *Tx) NothingExpires() {
	tx.posted = append(tx.posted, Change{Org: instanceOrg, Kind: expiringKind, ID: tx.org})
}

func (w *written[T]) expires() bool {
	if w.kind.Expires {
		for _, r := range w.rows {
			if r.after != nil {
				return true
			}
		}
	}
	return false
}
