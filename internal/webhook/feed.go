package webhook

import (
	"context"
	"errors"
	"time"

	"latchkey/internal/domain"
)

// Feed is the events of all organizations, in the order of the log.
type Feed interface {
	// Grown is the end of the feed as this server knows it, and a channel that is
	// closed when it knows of another.
	Grown() (end domain.LogPlace, changed <-chan struct{})
	// Between are the organizations to which events between two places belong, and
	// the parents of those.
	Between(ctx context.Context, from, to domain.LogPlace) (orgs map[string]bool, err error)
	// After is the place right after the newest event of an activity, [ErrNotYet]
	// while that is not in the feed.
	After(ctx context.Context, org, activityID string) (domain.LogPlace, error)
	Read(ctx context.Context, q Query) (Page, error)
	// Waiting counts the events that a query selects, up to its limit; it looks at
	// no filters.
	Waiting(ctx context.Context, q Query) (int, error)
	// Since is a place before all events that happened since a time.
	Since(ctx context.Context, at time.Time) (domain.LogPlace, error)
	// Place is where a cursor points to. An error is safe to show.
	Place(ctx context.Context, cursor string) (domain.LogPlace, error)
}

// What [Feed.After] says of an activity that has no event.
var (
	ErrNotYet  = errors.New("webhook: the event is not in the feed yet")
	ErrNoEntry = errors.New("webhook: the feed has no such event")
)

// Query selects events of an organization and of its children, from a place on.
type Query struct {
	Organization string
	From         domain.LogPlace
	Types        []string // of activities; nil: all
	Statuses     []string // nil: all
	Limit        int
}

// Page is some events.
type Page struct {
	Events []Event
	// Next is the place before which there are no other events.
	Next domain.LogPlace
}

// Event is one change of an activity's status.
type Event struct {
	ID    string
	After domain.LogPlace // right after it
	Time  time.Time
	Type  string // of the activity
	// Status that the activity has got.
	Status string
	Body   []byte // the activity as it stood then, JSON
}
