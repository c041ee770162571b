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
	err = s.eachNode(ctx, func(_ string, n *domain.Node) {
		if n != nil {
			all = append(all, *n)
		}
	})
	return all, err
}

// eachNode calls fn with what each server has told, nil if it cannot be read.
func (s *Store) eachNode(ctx context.Context, fn func(id string, n *domain.Node)) error {
	rows, err := s.rowsOf(instanceOrg)
	if err != nil {
		return err
	}
	stored, err := rows.scan(ctx, nodes.Name, Range{})
	if err != nil {
		return err
	}
	for _, row := range stored {
		n := new(domain.Node)
		if row.Body == nil || json.Unmarshal(row.Body, n) != nil {
			n = nil
		}
		fn(row.ID, n)
	}
	return nil
}

// ForgetNodes deletes what servers have told that were not seen since a time: they were
// killed.
func (s *Store) ForgetNodes(ctx context.Context, since time.Time) error {
	var gone []Change
	err := s.eachNode(ctx, func(id string, n *domain.Node) {
		if n == nil || n.SeenAt.Before(since) {
			gone = append(gone, Change{Org: instanceOrg, Kind: nodes.Name, ID: id})
		}
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.writeAside(ctx, gone...)
}
