package store

// Entry is what a commit adds to the log. It is written with the commit, in the
// order of commits, and never changes.
type Entry struct {
	Org      string
	Activity string // its id; empty: it is about something else
	Body     []byte
}

// EntryRow is an entry as it is stored.
type EntryRow struct {
	// Position grows with the order in which commits were begun. Without gaps it
	// is that of commits; where commits overlap, a row may appear after others
	// with greater positions.
	Position int64
	Entry
}

// EntryQuery selects entries: those of one activity, those at some positions, or
// those after a position and at some others, ordered by position.
type EntryQuery struct {
	Org, Activity string
	At            []int64 // not empty: at these positions and at no other
	After         int64
	Also          []int64
	Limit         int // 0: all
}

// Horizon says which commits are over. A position that was missing when the
// newest transaction was Newest is never filled once Settled has reached that.
// For a database whose commits never overlap both are zero.
type Horizon struct {
	Newest, Settled int64
}
