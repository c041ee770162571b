package store

import (
	"context"
	"errors"
)

// Loader fills an empty database with the rows of another one, as they are: package
// convert says which. What was begun is remembered in the database, in the same
// transactions as the rows, so that it goes on after a crash; until [Loader.End] no
// server opens the database: [ErrUnfinished].
type Loader interface {
	// Begun is what [Loader.Begin] was given, and how many rows of each table were
	// loaded since; "": nothing was begun.
	Begun(ctx context.Context) (what string, done LoadCounts, err error)
	// Begin begins to load. It refuses a database that is not empty: [ErrNotEmpty].
	Begin(ctx context.Context, what string) error
	// Discard deletes what was loaded, and that it was begun.
	Discard(ctx context.Context) error
	// Load adds rows, all or none, to those that were loaded.
	Load(ctx context.Context, rows *LoadRows) error
	// Image is what the database holds now.
	Image(ctx context.Context) (Image, error)
	// End makes the database one like any other.
	End(ctx context.Context) error
	Close() error
}

// LoadRows are rows of all tables.
type LoadRows struct {
	Organizations []OrganizationRow
	Items         []ItemRow
	Activities    []OwnedActivityRow
	Entries       []EntryRow
}

// OrganizationRow is an organization with its version.
type OrganizationRow struct {
	Org     string
	Version int64
}

// ItemRow is an item with where it belongs.
type ItemRow struct {
	Org, Kind string
	Item
}

// OwnedActivityRow is an activity with its organization.
type OwnedActivityRow struct {
	Org string
	ActivityRow
}

// LoadCounts are numbers of rows.
type LoadCounts struct {
	Organizations, Items, Activities, Entries int64
}

// Counts is how many rows there are.
func (r *LoadRows) Counts() LoadCounts {
	return LoadCounts{
		Organizations: int64(len(r.Organizations)), Items: int64(len(r.Items)),
		Activities: int64(len(r.Activities)), Entries: int64(len(r.Entries)),
	}
}

// Refusals of a [Loader], and of drivers beside one.
var (
	ErrNotEmpty   = errors.New("the database is not empty")
	ErrUnfinished = errors.New("the database is the target of a conversion that is not finished: run latchkey convert again, to its end")
)

// LoadTable is the table, in the database of a driver, that is there as long as
// something is being loaded.
const LoadTable = "latchkey_conversion"
