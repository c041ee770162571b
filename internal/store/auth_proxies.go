package store

import "context"

// An auth proxy is named by the id of its configuration alone. So there is an
// entry for each among what belongs to the whole installation, written in the
// commit that enables it. It is a hint: a caller that finds an
// organization by it looks there whether the configuration is its own.

// authProxyKind is the kind of the entries.
const authProxyKind = "auth-proxy"

// EnterAuthProxy makes the organization found by the id of its auth proxy's
// configuration, when the transaction commits.
func (tx *Tx) EnterAuthProxy(configID string) {
	tx.outside = append(tx.outside, Change{Org: instanceOrg, Kind: authProxyKind, ID: configID, Body: []byte(tx.org)})
}

// AuthProxyOrganization is the organization whose auth proxy has the
// configuration; empty: there is none.
func (s *Store) AuthProxyOrganization(ctx context.Context, configID string) (string, error) {
	rows, err := s.rowsOf(instanceOrg)
	if err != nil {
		return "", err
	}
	row, err := rows.get(ctx, authProxyKind, configID)
	if err != nil || row == nil {
		return "", err
	}
	return string(row.Body), nil
}
