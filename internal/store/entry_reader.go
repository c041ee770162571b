package store

import (
	"context"
	"slices"
)

// EntryReader reads the entries of the log in the order in which they became
// visible, each once. Its place in the log is what [EntryReader.Place] returns.
type EntryReader struct {
	driver Driver
	place  Place
}

// Place is how far entries were read: all up to Position but the missing ones.
type Place struct {
	Position int64     `json:"position"`
	Missing  []Missing `json:"missing,omitzero"`
}

// Missing is a position that had no entry when it was passed: its transaction was
// not over, or came to nothing.
type Missing struct {
	Position int64 `json:"position"`
	Newest   int64 `json:"newest"` // see [Horizon]
}

// NewEntryReader begins after a position, but for some that were missing.
func NewEntryReader(d Driver, position int64, missing []Missing) *EntryReader {
	return &EntryReader{driver: d, place: Place{position, slices.Clone(missing)}}
}

// Place is how far the reader has read.
func (r *EntryReader) Place() Place { return Place{r.place.Position, slices.Clone(r.place.Missing)} }

// maxGap bounds how many positions can be missing at once: a transaction takes as
// many as it has commits, and few run at a time.
const maxGap = 100_000

// Next returns further entries, none when there are no more for now.
func (r *EntryReader) Next(ctx context.Context, limit int) ([]EntryRow, error) {
	// Before the read: what was over by then is found by it.
	var over Horizon
	var err error
	if len(r.place.Missing) > 0 {
		if over, err = r.driver.Horizon(ctx); err != nil {
			return nil, err
		}
	}
	also := make([]int64, len(r.place.Missing))
	for i, m := range r.place.Missing {
		also[i] = m.Position
	}
	list, err := r.driver.Entries(ctx, EntryQuery{After: r.place.Position, Also: also, Limit: limit})
	if err != nil {
		return nil, err
	}
	r.place.Missing = slices.DeleteFunc(r.place.Missing, func(m Missing) bool {
		found := slices.ContainsFunc(list, func(e EntryRow) bool { return e.Position == m.Position })
		// Of a database whose commits never overlap, none will come: it was noted in
		// another one, from which this one was converted.
		return found || m.Newest <= over.Settled || over == Horizon{}
	})
	return list, r.pass(ctx, list)
}

// pass moves on to the end of what was read, and notes what is missing before it.
func (r *EntryReader) pass(ctx context.Context, list []EntryRow) error {
	var gaps []int64
	at := r.place.Position
	for _, e := range list {
		if e.Position <= at {
			continue // it was missing
		}
		for p := at + 1; p < e.Position && len(gaps) < maxGap; p++ {
			gaps = append(gaps, p)
		}
		at = e.Position
	}
	if len(gaps) > 0 {
		// After the read: a transaction that took a missing position has begun.
		now, err := r.driver.Horizon(ctx)
		if err != nil {
			return err
		}
		for _, p := range gaps {
			r.place.Missing = append(r.place.Missing, Missing{p, now.Newest})
		}
	}
	r.place.Position = at
	return nil
}
