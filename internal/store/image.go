package store

import (
	"context"
	"errors"
)

// Image is what a database holds at one moment, whatever wrote it: an audit reads
// it, beside a server that goes on to write. It is for one goroutine, and never
// writes. Functions that it is given may call its other methods.
//
// The body of a row is nil when a column has a type that no driver writes.
type Image interface {
	// Rows is about how many rows there are, for those who wait.
	Rows(ctx context.Context) (int64, error)
	// Version is that of an organization, 0 when there is none.
	Version(ctx context.Context, org string) (int64, error)
	// Versions gives every organization to fn, ordered by id.
	Versions(ctx context.Context, fn func(org string, version int64) error) error
	// Get returns the body of one item, nil when there is none.
	Get(ctx context.Context, org, kind, id string) ([]byte, error)
	// Items gives every item to fn, ordered by organization, kind and id; of one
	// organization if org is not empty, then of one kind if kind is not.
	Items(ctx context.Context, org, kind string, fn func(org, kind string, item Item) error) error
	// Activity returns one activity, nil when there is none.
	Activity(ctx context.Context, org, id string) (*ActivityRow, error)
	// Activities gives every activity to fn, in any order.
	Activities(ctx context.Context, fn func(org string, a *ActivityRow) error) error
	// OrderedActivities is Activities ordered by organization and id.
	OrderedActivities(ctx context.Context, fn func(org string, a *ActivityRow) error) error
	// Entries gives every entry of the log to fn, ordered by position.
	Entries(ctx context.Context, fn func(EntryRow) error) error
	// NewestEntry is the greatest position in the log, 0 when it is empty.
	NewestEntry(ctx context.Context) (int64, error)
	// EntriesAt returns the entries at some positions, in any order.
	EntriesAt(ctx context.Context, positions []int64) ([]EntryRow, error)
	// EntriesOf returns the entries of some activities, of whatever organization;
	// those of one activity are ordered by position.
	EntriesOf(ctx context.Context, activities []string) ([]EntryRow, error)
	Close() error
}

// ImageCiphertexts are the ciphertexts of the installation in an image, among
// which are the keys by which its rows are checked. Nothing can be sealed there.
type ImageCiphertexts struct {
	Context context.Context
	Image   Image
}

// Sealed returns the ciphertext under a name, nil when there is none.
func (c ImageCiphertexts) Sealed(name string) ([]byte, error) {
	stored, err := c.Image.Get(c.Context, instanceOrg, ciphertextKind, name)
	if err != nil || stored == nil {
		return nil, err
	}
	if _, body, ok := cut(stored); ok {
		return body, nil
	}
	return stored, nil // the vault will say what it is
}

// Derived returns what build makes, each time anew.
func (ImageCiphertexts) Derived(_ string, build func() ([]byte, error)) ([]byte, error) {
	return build()
}

var errImage = errors.New("store: an image is only read")

// Seal refuses.
func (ImageCiphertexts) Seal(string, []byte) error { return errImage }

// Delete refuses.
func (ImageCiphertexts) Delete(string) error { return errImage }

// Gone is the error for a ciphertext that is missing.
func (ImageCiphertexts) Gone(name string) error {
	return errors.New("store: there is no ciphertext " + name)
}
