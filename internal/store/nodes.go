package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
)

// nodes are the servers of the installation, as each tells of itself. No decision
// rests on them.
var nodes = Kind[domain.Node]{
	Name: "node", Label: "server", Unguarded: true,
	ID: func(n *domain.Node) string { return n.ID },
}

// Announce writes what a server tells of itself, in place of what it told before.
func (s *Store) Announce(ctx context.Context, n *domain.Node) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.writeAside(ctx, Change{Org: instanceOrg, Kind: nodes.Name, ID: n.ID, Body: body})
}

// Leave deletes what a server has told of itself.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.writeAside(ctx, Change{Org: instanceOrg, Kind: nodes.Name, ID: id})
}

// Nodes lists what servers have told of themselves.
func (s *Store) Nodes(ctx context.Context) (all []domain.Node, err error) {
	rows, err := s.rowsOf(instanceOrg)
	if err != nil {
		return nil, err
	}
	stored, err := rows.scan(ctx, nodes.Name, Range{})
	if err != nil {
		return nil, err
	}
	for _, row := range stored {
		var n domain.Node
		if row.Body != nil && json.Unmarshal(row.Body, &n) == nil {
			all = append(all, n)
		}
	}
	return all, nil
}

// ForgetNodes deletes what servers have told that were not seen since a time: they were
// killed.
func (s *Store) ForgetNodes(ctx context.Context, since time.Time) error {
	rows, err := s.rowsOf(instanceOrg)
	if err != nil {
		return err
	}
	stored, err := rows.scan(ctx, nodes.Name, Range{})
	if err != nil {
		return err
	}
	var gone []Change
	for _, row := range stored {
		var n domain.Node
		if row.Body == nil || json.Unmarshal(row.Body, &n) != nil || n.SeenAt.Before(since) {
			gone = append(gone, Change{Org: instanceOrg, Kind: nodes.Name, ID: row.ID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.writeAside(ctx, gone...)
}
