// Package convert copies a database into one of another kind, row by row, as they
// are: ids, versions, marks, the log with its positions, what waits to be sent. So
// everything that was signed over them still holds, and nothing needs the master key.
//
// The source must not change meanwhile: who opens it sees to that. The target must be
// empty, or hold a part of the same copy. A copy that was interrupted goes on where it
// was; it is finished only when the target, read back, has the same digests as the
// source. Until then no server opens the target.
package convert

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
)

// Conversion is a copy to be made.
type Conversion struct {
	From store.Image
	To   store.Loader
	// Restart discards what an interrupted copy has left in the target.
	Restart bool
	// Progress, if not nil, is told now and then how many rows were read and copied,
	// of how many.
	Progress func(done, all int64)
}

// Result is what was copied.
type Result struct {
	Installation string `json:"installation"`
	// Resumed says that a copy which was interrupted was finished; Before, that the
	// target held all of it already.
	Resumed bool `json:"resumed"`
	Before  bool `json:"alreadyThere"`
	Contents
}

// Why a conversion is refused.
var (
	ErrNothing = errors.New("there is no installation in the source: it is empty, or of a version that did not mark its rows yet (latchkey migrate --adopt)")
	ErrOther   = errors.New("the target holds a part of another conversion, or the source was changed since this one began; " +
		"--restart discards what is there and begins again")
)

// partRows and partBytes bound what is copied in one transaction.
const (
	partRows  = 500
	partBytes = 1 << 20
)

// Run makes the copy.
func (c *Conversion) Run(ctx context.Context) (result Result, err error) {
	installation, err := store.NewInspector(nil).Installation(ctx, c.From)
	if err != nil {
		return result, err
	}
	if installation == nil {
		return result, ErrNothing
	}
	result.Installation = installation.ID
	count := &counter{tell: c.Progress}
	rows, err := c.From.Rows(ctx)
	if err != nil {
		return result, err
	}
	count.all = 3 * rows // the source twice, the target once
	if result.Contents, err = Read(ctx, c.From, count.row); err != nil {
		return result, fmt.Errorf("reading the source: %w", err)
	}
	what, err := json.Marshal(result)
	if err != nil {
		return result, err
	}
	done, before, err := c.begin(ctx, string(what), result.Contents, count)
	if err != nil || before {
		result.Before = before
		return result, err
	}
	result.Resumed = done != store.LoadCounts{}
	copying := &copying{to: c.To, skip: done}
	if err := each(ctx, c.From, func(r *row) error { count.row(); return copying.add(ctx, r) }); err != nil {
		return result, fmt.Errorf("copying: %w", err)
	}
	if err := copying.flush(ctx); err != nil {
		return result, fmt.Errorf("copying: %w", err)
	}
	if err := c.verify(ctx, result.Contents, count); err != nil {
		return result, err
	}
	return result, c.To.End(ctx)
}

// begin begins the copy, or finds how far it is; before says that the target is the
// copy already.
func (c *Conversion) begin(ctx context.Context, what string, want Contents, count *counter) (done store.LoadCounts, before bool, err error) {
	begun, done, err := c.To.Begun(ctx)
	if err != nil {
		return done, false, err
	}
	if begun != "" && c.Restart {
		if err := c.To.Discard(ctx); err != nil {
			return done, false, err
		}
		begun, done = "", store.LoadCounts{}
	}
	switch {
	case begun == what:
		return done, false, nil
	case begun != "":
		return done, false, ErrOther
	}
	err = c.To.Begin(ctx, what)
	if !errors.Is(err, store.ErrNotEmpty) {
		return done, false, err
	}
	// Perhaps only its end was not told any more.
	there, read := c.read(ctx, count)
	if read == nil && there == want {
		return done, true, nil
	}
	return done, false, err
}

// verify reads the target back.
func (c *Conversion) verify(ctx context.Context, want Contents, count *counter) error {
	there, err := c.read(ctx, count)
	if err != nil {
		return fmt.Errorf("reading the target back: %w", err)
	}
	if there != want {
		return fmt.Errorf("the target is not what was copied, and is not finished: it has %+v, and should have %+v; --restart begins again", there, want)
	}
	return nil
}

func (c *Conversion) read(ctx context.Context, count *counter) (_ Contents, err error) {
	image, err := c.To.Image(ctx)
	if err != nil {
		return Contents{}, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	return Read(ctx, image, count.row)
}

// copying gathers rows into transactions.
type copying struct {
	to    store.Loader
	skip  store.LoadCounts // that were copied before
	rows  store.LoadRows
	count int
	bytes int
}

// left is how many rows of a table are still to be left out.
func (c *copying) left(of table) *int64 {
	switch of {
	case organizations:
		return &c.skip.Organizations
	case items:
		return &c.skip.Items
	case activities:
		return &c.skip.Activities
	default:
		return &c.skip.Entries
	}
}

func (c *copying) add(ctx context.Context, r *row) error {
	if left := c.left(r.table); *left > 0 {
		*left--
		return nil
	}
	switch r.table {
	case organizations:
		c.rows.Organizations = append(c.rows.Organizations, store.OrganizationRow{Org: r.org, Version: r.version})
	case items:
		c.rows.Items = append(c.rows.Items, store.ItemRow{Org: r.org, Kind: r.kind, Item: r.item})
	case activities:
		c.rows.Activities = append(c.rows.Activities, store.OwnedActivityRow{Org: r.org, ActivityRow: *r.activity})
	case entries:
		c.rows.Entries = append(c.rows.Entries, r.entry)
	}
	c.count++
	c.bytes += r.size()
	if c.count < partRows && c.bytes < partBytes {
		return nil
	}
	return c.flush(ctx)
}

func (c *copying) flush(ctx context.Context) error {
	if c.count == 0 {
		return nil
	}
	if err := c.to.Load(ctx, &c.rows); err != nil {
		return err
	}
	c.rows, c.count, c.bytes = store.LoadRows{}, 0, 0
	return nil
}

// counter tells how far it is.
type counter struct {
	done, all int64
	tell      func(done, all int64)
}

func (c *counter) row() {
	if c.done++; c.tell != nil && c.done%1000 == 0 {
		c.tell(c.done, max(c.all, c.done))
	}
}
