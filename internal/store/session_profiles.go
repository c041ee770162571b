package store

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// A sub-organization may use the session profiles of its parent. They never
// change, so that they can be read there without a version of the parent.

var sessionProfiles = Kind[domain.SessionProfile]{
	Name: "session-profile", Label: "session profile",
	ID: func(p *domain.SessionProfile) string { return p.ID },
	Unique: []Index[domain.SessionProfile]{{
		Name: ByName, Keys: func(p *domain.SessionProfile) []string { return []string{p.Name} },
		Taken: func(name string) error {
			return fault.Taken("a session profile named %q already exists; their names are unique in an organization", name)
		},
	}},
}

// SessionProfiles holds the organization's own session profiles.
func (tx *Tx) SessionProfiles() Table[domain.SessionProfile] { return In(tx, &sessionProfiles) }

// SessionProfile finds a profile of the organization or of its parent. A missing
// one is a fault.
func (tx *Tx) SessionProfile(id string) (*domain.SessionProfile, error) {
	own, err := tx.SessionProfiles().Lookup(id)
	if err != nil || own != nil {
		return own, err
	}
	org, err := tx.Organization()
	if err != nil {
		return nil, err
	}
	if org.ParentID != "" {
		parent, err := tx.store.rowsOf(org.ParentID)
		if err != nil {
			return nil, err
		}
		row, err := parent.get(tx.ctx, sessionProfiles.Name, id)
		if err != nil {
			return nil, err
		}
		if row != nil {
			return decodeSessionProfile(org.ParentID, id, row.Body)
		}
	}
	return nil, fault.Missing("no session profile with id %s in this organization or its parent", id)
}

// UsableSessionProfiles lists those of the organization, then those of its parent.
func (tx *Tx) UsableSessionProfiles() ([]*domain.SessionProfile, error) {
	all, err := tx.SessionProfiles().List("", 0)
	if err != nil {
		return nil, err
	}
	org, err := tx.Organization()
	if err != nil || org.ParentID == "" {
		return all, err
	}
	parent, err := tx.store.rowsOf(org.ParentID)
	if err != nil {
		return nil, err
	}
	items, err := parent.scan(tx.ctx, sessionProfiles.Name, Range{})
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Body == nil {
			continue // not ours
		}
		p, err := decodeSessionProfile(org.ParentID, item.ID, item.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func decodeSessionProfile(org, id string, body []byte) (*domain.SessionProfile, error) {
	p := new(domain.SessionProfile)
	if err := json.Unmarshal(body, p); err != nil {
		return nil, damaged(org, sessionProfiles.Name, id, err)
	}
	return p, nil
}
