package store

import (
	"context"
	"errors"

	"latchkey/internal/domain"
)

// Parent is the parent of an organization, "" when it has none. It never changes,
// and stays when the organization is deleted. known is false for an organization
// whose record is not ours, which was reported.
func (s *Store) Parent(ctx context.Context, org string) (parent string, known bool, err error) {
	err = s.View(ctx, org, func(tx *Tx) error {
		found, err := tx.Organization()
		if err == nil {
			parent = found.ParentID
		}
		return err
	})
	if isFinding(err) || errors.Is(err, ErrNoOrganization) {
		return "", false, nil
	}
	return parent, err == nil, err
}

// Versions are those of many organizations, by id; those that do not exist are
// left out.
func (s *Store) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	return s.driver.Versions(ctx, orgs)
}

// RecordedActivity returns an activity as it is now, nil when it is not there or
// not ours, which is reported. It is for what the log says of the activity: what
// never changes needs no view of the organization.
func (s *Store) RecordedActivity(ctx context.Context, org, id string) (*domain.Activity, error) {
	stored, err := s.driver.Activity(ctx, org, id)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		_ = s.found(Finding{org, activityKind, id, isGone})
		return nil, nil
	}
	r, err := s.rowsOf(org)
	if err != nil {
		return nil, err
	}
	if r.activity(stored) != nil {
		return nil, nil // it was reported
	}
	return decodeActivity(org, stored)
}

// ReportActivity says that an activity is not as the log says that it was.
func (s *Store) ReportActivity(org, id string) {
	_ = s.found(Finding{org, activityKind, id, "the log has other votes of it than its row"})
}

// cursorLabel keeps tags of cursors apart from marks of rows.
const cursorLabel = "latchkey cursor 1"

// cursorTagSize is enough against those who guess: a wrong cursor opens nothing, it
// only would be taken for one that was given out.
const cursorTagSize = 8

// CursorTag proves that this installation made a cursor: of what it says, and of
// the log that it is about. It is the same on every node, and for as long as the
// installation lasts.
func (s *Store) CursorTag(log string, text []byte) ([]byte, error) {
	r, err := s.rowsOf(logOrg)
	if err != nil {
		return nil, err
	}
	mark := r.key.Mark(text, cursorLabel, log)
	return mark[:cursorTagSize], nil
}
