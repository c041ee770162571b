// Package feed is the events of an installation, in the order of the log. An event
// is one entry of the log about an activity: a change of its status, or a vote that
// was acknowledged. It shows the activity as it stood right after that.
//
// Who reads an organization reads its own entries, and, with its children, theirs:
// what others do costs nothing. Nothing is stored for a reader but its place.
//
// Invariants: a reader that goes on from where it stopped gets every event once and
// in order, whichever server it asks; an event is the same at every time, and holds
// no text that serves its holder.
package feed

import (
	"context"
	"errors"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Bounds of one call of [Feed.Next].
const (
	// maxBytes is about how many bytes of events end a page.
	maxBytes = 4 << 20
	// maxExamined is how many entries are looked at, whatever filters leave out.
	maxExamined = 4096
	// atOnce is how many entries are read together.
	atOnce = 256
)

// Type of all events that there are.
const Type = "ACTIVITY_UPDATES"

// ErrBeyond says that a point is after the end of the log: it is of a later state
// of the database than this one.
var ErrBeyond = errors.New("feed: the point is after the end of the log")

// Feed reads events. Make it with New; its methods may be called from several
// goroutines, but for Run.
type Feed struct {
	store         *store.Store
	ledger        *ledger.Ledger
	catalog       *activity.Catalog
	subscriptions subscriptions
}

// New makes a feed.
func New(s *store.Store, l *ledger.Ledger, c *activity.Catalog) *Feed {
	return &Feed{store: s, ledger: l, catalog: c}
}

// Query says which events are wanted.
type Query struct {
	Organization string
	Children     bool     // those of its children too
	Types        []string // of activities; empty: all
	Statuses     []string // of activities; empty: all
}

// lists are those that have the events.
func (q *Query) lists() []ledger.List {
	lists := []ledger.List{{Org: q.Organization}}
	if q.Children {
		lists = append(lists, ledger.List{Org: q.Organization, Children: true})
	}
	return lists
}

// Event is one event.
type Event struct {
	ID             string
	OrganizationID string
	Activity       activity.View
	// Next is the point after it: where a reader goes on that has seen it.
	Next domain.LogPlace
}

// Page is some events in order.
type Page struct {
	Events []Event
	// Next is where to go on: after the last event, or after what filters left out.
	Next domain.LogPlace
	// More says that the list does not end here: the bounds of one call did.
	More bool
}

// Next returns up to limit events from a point on. It may return none although
// there are more: then the page says so, and its point has moved.
func (f *Feed) Next(ctx context.Context, q Query, from domain.LogPlace, limit int) (*Page, error) {
	end, err := f.ledger.End(ctx)
	if err != nil {
		return nil, err
	}
	if end.Before(from) {
		return nil, ErrBeyond
	}
	page := &Page{Next: from}
	for examined, size := 0, 0; examined < maxExamined; {
		listed, err := f.listed(ctx, &q, page.Next, end, min(atOnce, limit))
		if err != nil || len(listed) == 0 {
			return page, err
		}
		examined += len(listed)
		entries, err := f.entries(ctx, listed)
		if err != nil {
			return nil, err
		}
		for _, l := range listed {
			event, err := f.event(ctx, &q, entries[l.Position])
			if err != nil {
				return nil, err
			}
			page.Next = l.At.Next()
			if event == nil {
				continue
			}
			event.Next = page.Next
			page.Events = append(page.Events, *event)
			if size += event.Activity.Size(); len(page.Events) >= limit || size >= maxBytes {
				page.More = true
				return page, nil
			}
		}
	}
	page.More = true
	return page, nil
}

// Waiting counts the entries from a point on, before filters, up to a bound.
func (f *Feed) Waiting(ctx context.Context, q Query, from domain.LogPlace, most int) (int, error) {
	end, err := f.ledger.End(ctx)
	if err != nil {
		return 0, err
	}
	listed, err := f.listed(ctx, &q, from, end, most)
	return len(listed), err
}

// End is where the feed ends now.
func (f *Feed) End(ctx context.Context) (domain.LogPlace, error) { return f.ledger.End(ctx) }

// After is the point after the newest event of an activity; [ledger.ErrNotYet]
// while it has none, for about a tenth of a second after its commit.
func (f *Feed) After(ctx context.Context, org, activityID string) (domain.LogPlace, error) {
	return f.ledger.After(ctx, org, activityID)
}

// listed are the next entries, of all lists together, up to a limit. What is after
// the end is left: it may be in one list already, and another list have been read
// before.
func (f *Feed) listed(ctx context.Context, q *Query, from, end domain.LogPlace, limit int) (all []ledger.Listed, err error) {
	for _, list := range q.lists() {
		some, err := f.ledger.Listed(ctx, list, from, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	all = slices.DeleteFunc(all, func(l ledger.Listed) bool { return !l.At.Before(end) })
	slices.SortFunc(all, func(a, b ledger.Listed) int {
		if a.At.Before(b.At) {
			return -1
		}
		return 1
	})
	return all[:min(len(all), limit)], nil
}

func (f *Feed) entries(ctx context.Context, listed []ledger.Listed) (map[int64]*store.LogEntry, error) {
	positions := make([]int64, len(listed))
	for i, l := range listed {
		positions[i] = l.Position
	}
	return f.store.LogEntriesAt(ctx, positions)
}

// event makes the event of an entry, nil for one that is not wanted, or that cannot
// be shown because what is stored of it is not ours.
func (f *Feed) event(ctx context.Context, q *Query, e *store.LogEntry) (*Event, error) {
	if e == nil {
		return nil, nil // it was reported
	}
	record, err := translog.ParseRecord(string(e.Record(0)))
	if err != nil {
		return nil, err
	}
	if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, record.Status) {
		return nil, nil
	}
	if allowed, err := f.allowed(ctx, q, e.Org); err != nil || !allowed {
		return nil, err
	}
	now, err := f.store.RecordedActivity(ctx, e.Org, e.Activity)
	if err != nil || now == nil || len(q.Types) > 0 && !slices.Contains(q.Types, now.Type) {
		return nil, err
	}
	then := activity.AsOf(now, &record)
	if then == nil {
		f.store.ReportActivity(e.Org, e.Activity)
		return nil, nil
	}
	view, err := f.catalog.RenderEvent(then)
	return &Event{ID: activity.EventID(e.Salt), OrganizationID: e.Org, Activity: view}, err
}

// allowed looks again at whose entry a list has led to.
func (f *Feed) allowed(ctx context.Context, q *Query, org string) (bool, error) {
	if org == q.Organization {
		return true, nil
	}
	parent, err := f.ledger.Parent(ctx, org)
	return q.Children && parent == q.Organization, err
}
