package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"latchkey/internal/keys/vault"
)

// Driver is what a database must be able to do. It knows organizations,
// items and activities as bytes; what they mean is up to the typed layer above,
// [Store], which is written once. Package storetest holds the contract that
// every driver passes.
//
// Identifiers and kinds are valid UTF-8 without NUL, compared and ordered byte
// by byte, whatever the database's collation.
type Driver interface {
	// Version returns the version of the organization, 0 when there is none.
	// It is never older than the newest commit acknowledged on any node
	// before the call.
	Version(ctx context.Context, org string) (int64, error)

	// Versions is [Driver.Version] of many organizations at once, by id; those
	// that do not exist are left out.
	Versions(ctx context.Context, orgs []string) (map[string]int64, error)

	// Remote reports whether [Driver.Version] is a question to a database that is
	// elsewhere, and not an answer from memory: see [Store.Read].
	Remote() bool

	// Organizations lists organizations after an id, ordered by id: for work
	// on the whole installation, never for a request.
	Organizations(ctx context.Context, after string, limit int) ([]string, error)

	// Kinds lists the kinds of which an organization has items, ordered: for
	// work on the whole installation too.
	Kinds(ctx context.Context, org string) ([]string, error)

	// Get returns the body of one item, nil when there is none.
	Get(ctx context.Context, org, kind, id string) ([]byte, error)

	// Scan returns the items of a kind in a range, ordered by id.
	Scan(ctx context.Context, org, kind string, r Range) ([]Item, error)
	// ScanIndex is Scan for items whose ids lead to other items, and returns all.
	// Where an id does not begin with the prefix, the others are any or none.
	ScanIndex(ctx context.Context, org, kind string, r Range, of Reference) ([]IndexRow, error)

	// Activity returns one activity by id, nil when there is none.
	Activity(ctx context.Context, org, id string) (*ActivityRow, error)

	// Recorded returns the activity that was made of the request with this
	// time and fingerprint, nil when there is none.
	Recorded(ctx context.Context, org string, timestampMs int64, fingerprint Fingerprint) (*ActivityRow, error)

	// Activities lists activities, newest (greatest id) first.
	Activities(ctx context.Context, org string, q ActivityQuery) ([]ActivityRow, error)

	// Entries lists entries of the log.
	Entries(ctx context.Context, q EntryQuery) ([]EntryRow, error)

	// Now is the time by the database's clock.
	Now(ctx context.Context) (time.Time, error)

	// Horizon says which commits are over. What was committed by then is found by
	// reads after the call.
	Horizon(ctx context.Context) (Horizon, error)

	// Commit makes c durable, whole or not at all, and returns only then.
	// Concurrent commits share one flush to the disk, and a refused commit
	// does not affect the others.
	//
	// It returns [ErrConflict] when the organization is not at c.Version, an item
	// that must be new is there already, or one that the commit follows is not
	// there as it says, and [ErrRecorded] when the activity's (timestamp, fingerprint) pair, or its
	// id, is already there. After any other error, including one from ctx,
	// the caller cannot know whether the commit happened; the same request
	// sent again finds out, and the bytes of c must be left alone: they may
	// still be read.
	Commit(ctx context.Context, c *Commit) error

	// ReplaceBodies gives rows of an organization that are there other bodies,
	// all or none, and leaves its version as it is. Nothing guards it against
	// commits: it is for the adoption of a database that no server uses, see
	// [Store.Adopt].
	ReplaceBodies(ctx context.Context, org string, bodies []StoredBody) error

	// Ready reports whether the database answers and is migrated.
	Ready(ctx context.Context) error

	// Close waits for commits under way and releases the database.
	Close() error
}

// Refusals of [Driver.Commit].
var (
	ErrConflict = errors.New("store: the organization was changed concurrently")
	ErrRecorded = errors.New("store: the request is already recorded")
)

// Why a database takes no writes, as far as a driver can tell: what
// [Driver.Commit] returns then is one of these too.
var (
	ErrDiskFull = errors.New("the disk of the database is full")
	ErrReadOnly = errors.New("the database is read-only")
	ErrIO       = errors.New("the database cannot read or write its disk")
)

// Fingerprint is the SHA-256 of a request's bytes.
type Fingerprint [32]byte

// Item is one stored record.
type Item struct {
	ID   string
	Body []byte
}

// StoredBody is the body of an item or, when it has no Kind, of an activity.
type StoredBody struct {
	Kind, ID string
	Body     []byte
}

// Range selects items by id.
type Range struct {
	From  string // first id, inclusive; empty: from the start
	To    string // end, exclusive; empty: to the end
	Limit int    // 0: all
}

// Reference says to which items the ids of others lead: those of a kind whose id
// follows a prefix.
type Reference struct {
	Prefix string
	Kind   string
	// WithKind is of further items, one for each of those: their ids are theirs
	// behind WithPrefix. Empty: there are none.
	WithKind, WithPrefix string
}

// IndexRow is an item and the bodies of the ones that its id leads to, nil for one
// that is not there.
type IndexRow struct {
	Item
	Record []byte
	With   []byte
}

// ActivityRow is one entry of the append-only record of an organization.
type ActivityRow struct {
	ID          string
	TimestampMs int64 // as the request claimed it
	Fingerprint Fingerprint
	Type        string
	Status      string
	Body        []byte
}

// ActivityQuery selects activities.
type ActivityQuery struct {
	Types    []string // empty: all
	Statuses []string // empty: all
	// Both cursors are exclusive; empty: no bound. Before and After are
	// positions in the list, newest first: After an id come the older ones.
	Before, After string
	Limit         int // 0: all
	// MaxBytes ends the list with the activity whose body brings all bodies
	// together to so many bytes: what is left out is not read. 0: no bound.
	MaxBytes int
}

// Backwards reports whether the limit counts from Before on, from older to newer
// activities. The list is the newest first all the same.
func (q ActivityQuery) Backwards() bool { return q.Before != "" && q.After == "" }

// Distinct returns the query with each type and status once.
func (q ActivityQuery) Distinct() ActivityQuery {
	q.Types = slices.Compact(slices.Sorted(slices.Values(q.Types)))
	q.Statuses = slices.Compact(slices.Sorted(slices.Values(q.Statuses)))
	return q
}

// Commit is one atomic change of one organization, and of those that it creates.
type Commit struct {
	Org string
	// Version is what the writer saw. 0 creates the organization, which then
	// must not exist. Changes of its own items raise the version by one; a
	// commit that only appends an activity, creates others or writes items
	// elsewhere leaves it as it is, so that such commits never conflict with
	// each other.
	Version  int64
	Activity *ActivityRow // appended; may be nil
	// Replaces says that the activity is recorded already: its status and
	// body take the place of what is there. It raises the version, so that no
	// two commits can replace what both of them read.
	Replaces bool
	// Creates are the organizations that this commit creates, at version 1.
	// Their ids are new: that one exists is an error.
	Creates []string
	Changes []Change // at most one for each (Org, Kind, ID)
	// Follows are items of the organization, which must be there with these bodies.
	// What an earlier commit of the same group wrote counts.
	Follows []StoredBody
	// Followed says that others may follow the commit, which are queued after it.
	Followed bool
	Entries  []Entry // of the log; at most one if the commit only appends
	// During, if not nil, is called once the commit is queued, by the goroutine
	// that would only wait for it.
	During func()
}

// Raises reports whether the commit raises the organization's version.
func (c *Commit) Raises() bool {
	return c.Version == 0 || c.Replaces || slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Org == "" && !ch.New })
}

// InLine reports whether the commit may follow another one, or others it: no two
// such commits may be on their way at once but in the same group.
func (c *Commit) InLine() bool {
	return c.Followed || len(c.Follows) > 0 || slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Org == "" && ch.New })
}

// Appends reports whether the commit does nothing but append an activity.
func (c *Commit) Appends() bool { return c.Activity != nil && c.leavesItems() }

// Checks reports whether the commit does nothing but check the version.
func (c *Commit) Checks() bool {
	return c.Activity == nil && c.leavesItems() && len(c.Entries) == 0
}

// Claims reports whether the commit writes an item that must be new.
func (c *Commit) Claims() bool {
	return slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.New })
}

// Size is how many bytes of bodies the commit holds.
func (c *Commit) Size() int {
	n := 0
	if c.Activity != nil {
		n += len(c.Activity.Body)
	}
	for i := range c.Changes {
		n += len(c.Changes[i].Body)
	}
	for i := range c.Entries {
		n += len(c.Entries[i].Body)
	}
	return n
}

func (c *Commit) leavesItems() bool {
	return !c.Raises() && len(c.Changes) == 0 && len(c.Creates) == 0 && len(c.Follows) == 0
}

// NonNil is for drivers, to which nil would be NULL: the empty body in place of
// nil.
func NonNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

// Change writes one item, or deletes it when Body is nil.
type Change struct {
	// Org is where the item belongs; empty: the commit's organization.
	// Another one is an organization that the commit creates, or holds items
	// that no version guards (see directory.go and outbox.go).
	Org      string
	Kind, ID string
	Body     []byte
	// New says that the item must not be there yet: of several writers only one is
	// the first. It is for items that no version guards, and raises none.
	New bool

	sum    string         // of the head to which the row belongs; empty: to none
	before *vault.RowMark // of the row that was there; nil: none was
	after  *vault.RowMark // of the row itself, once it was computed
}
