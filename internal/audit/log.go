package audit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// logCheck checks the log: that its tree has exactly the entries that commits
// wrote, each with the right number in its organization, that it continues every
// checkpoint that is known, and that activities and organizations are as their
// newest entries say.
//
// Entries are read once, by position. Their order in the tree differs from that
// only where commits overlapped, so that few wait in memory for their turn.
type logCheck struct {
	audit        *Audit
	stored       ledger.Stored
	standing     ledger.Standing
	installation string // its id; entries about it are no organization's
	trees        []epochTree
	earlier      []earlierCheckpoint
	next         int // the tree after the one that is being read
	places       placeReader
	waiting      map[int64]entry // read, and not found in the tree yet
	orgs         map[string]*organizationLog
	tree         treeCheck
	sets         multisets
	lists        lists
	entries      pair // of activities: what the log has, and what belongs to a row
}

// entry is a row of the log. Opened is nil if it is not ours, which was reported.
type entry struct {
	row    store.EntryRow
	opened *store.LogEntry
}

// organizationLog is what the log says of an organization.
type organizationLog struct {
	sequence int64  // the number of its newest entry in the tree
	version  int64  // of its newest state
	state    string // the digest of that
	begun    bool   // its first entry was seen
	began    int64  // time of that, 0 if it is its creation
	// What is stored of it was seen: its head, and the item with its number.
	headed, numbered bool
}

func newLogCheck(a *Audit) *logCheck {
	sets := newMultisets()
	return &logCheck{audit: a, waiting: map[int64]entry{}, orgs: map[string]*organizationLog{}, sets: sets, lists: newLists(sets)}
}

// run goes through all entries.
func (c *logCheck) run(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := c.audit.Image.Entries(ctx, func(row store.EntryRow) error {
		c.audit.counts.Entries++
		c.audit.step()
		e, err := c.open(row)
		if err != nil {
			return err
		}
		c.waiting[row.Position] = e
		return c.advance(row.Position)
	})
	for _, step := range []func() error{func() error { return c.advance(math.MaxInt64) }, c.rest, c.checkpoints} {
		if err == nil {
			err = step()
		}
	}
	return err
}

// begin reads how far the log is.
func (c *logCheck) begin(ctx context.Context) (err error) {
	c.stored = storedLog(ctx, c.audit.Image, c.audit.inspector)
	if c.standing, err = c.stored.Standing(); err != nil {
		if err := c.found(store.LogState, "newest", unreadable); err != nil {
			return err
		}
	}
	known, err := c.audit.inspector.Installation(ctx, c.audit.Image)
	if err != nil {
		return err
	}
	if known == nil {
		known = new(domain.Installation)
	}
	c.installation = known.ID
	if err := c.epochs(known.Epochs); err != nil {
		return err
	}
	return c.openEarlier()
}

// storedLog reads what is kept of the log in an image.
func storedLog(ctx context.Context, image store.Image, inspector *store.Inspector) ledger.Stored {
	return ledger.Stored{Get: func(kind, id string) ([]byte, error) { return inspector.LogItem(ctx, image, kind, id) }}
}

// found reports something of what is kept of the tree.
func (c *logCheck) found(kind, id, what string) error {
	return c.audit.report(store.Finding{Org: store.LogOrganization, Kind: kind, ID: id, What: what})
}

func (c *logCheck) open(row store.EntryRow) (entry, error) {
	opened, found, err := c.audit.inspector.Entry(&row)
	if err != nil {
		return entry{}, err
	}
	row.Body = nil
	if found != nil {
		return entry{row: row}, c.audit.report(*found)
	}
	if c.ofActivity(&row) {
		c.entries.wanted = c.sets.plus(c.entries.wanted, entryElement(opened))
	}
	return entry{row, opened}, nil
}

// ofActivity reports whether an entry is about an activity. One about the
// installation may have a name there.
func (c *logCheck) ofActivity(row *store.EntryRow) bool {
	return row.Activity != "" && row.Org != c.installation
}

func entryElement(e *store.LogEntry) element {
	return element{e.Org, activityKind, e.Activity, strconv.FormatInt(e.Position, 10)}
}

// advance puts entries into the trees as far as they were read: up to a position.
func (c *logCheck) advance(read int64) error {
	for {
		place, index, ok, err := c.places.peek()
		if err != nil {
			return err
		}
		if !ok {
			if more, err := c.nextTree(); err != nil || !more {
				return err
			}
			continue
		}
		e, there := c.waiting[place.Position]
		if !there && place.Position > read {
			return nil // it comes later
		}
		c.places.next()
		delete(c.waiting, place.Position)
		leaf, err := c.place(index, place, e, there)
		if err != nil {
			return err
		}
		if err := c.tree.add(leaf); err != nil {
			return err
		}
	}
}

// nextTree ends a tree and begins with the next one, if there is one.
func (c *logCheck) nextTree() (more bool, err error) {
	if c.tree.tree != nil {
		if err := c.tree.end(); err != nil {
			return false, err
		}
		c.tree.tree = nil
	}
	if c.next == len(c.trees) {
		return false, nil
	}
	t := c.trees[c.next]
	c.next++
	c.places = placeReader{epochTree: t, report: c.found, damaged: c.places.damaged}
	c.tree = treeCheck{epochTree: t, tree: new(translog.Tree), audit: c.audit, report: c.found}
	return true, nil
}

// place checks the entry at an index of the tree, and returns its leaf.
func (c *logCheck) place(index int64, at ledger.Placed, e entry, there bool) (leaf, error) {
	l := leaf{org: e.row.Org, position: at.Position}
	switch {
	case !at.Known():
		return l, nil // its block was reported
	case !there:
		return l, c.found("log entry", strconv.FormatInt(at.Position, 10), fmt.Sprintf("it is missing: it was entry %d of the tree", index))
	}
	o := c.organization(e.row.Org)
	// A new epoch begins with its own entry, which has a later number than those that
	// the one before did not publish.
	if want := o.sequence + 1; at.Sequence != want && !c.places.damaged && e.row.Org != c.installation {
		what := fmt.Sprintf("it has number %d in its organization, after number %d: what was between is missing, or the order was changed", at.Sequence, want-1)
		if err := c.audit.report(store.EntryFinding(&e.row, what)); err != nil {
			return l, err
		}
	}
	o.sequence = max(o.sequence, at.Sequence)
	if e.opened == nil {
		return l, nil
	}
	c.lists.entry(e.opened, domain.LogPlace{Epoch: c.places.stored.Epoch, Index: index})
	record := e.opened.Record(at.Sequence)
	l.hash, l.known = translog.LeafHash(translog.EntryHash(e.opened.Salt, record)), true
	return l, c.record(e, string(record))
}

func (c *logCheck) organization(org string) *organizationLog {
	if c.orgs[org] == nil {
		c.orgs[org] = new(organizationLog)
	}
	return c.orgs[org]
}

// record reads what an entry says of its organization.
func (c *logCheck) record(e entry, text string) error {
	r, err := translog.ParseRecord(text)
	if err != nil || r.OrganizationID != e.row.Org || r.ActivityID != e.row.Activity && c.ofActivity(&e.row) {
		return c.audit.report(store.EntryFinding(&e.row, "its record cannot be read, or is of another organization or activity"))
	}
	o := c.organization(e.row.Org)
	if !o.begun && r.Kind != store.LogCreated {
		o.began = r.TimeMs // the organization is older than the log
	}
	o.begun = true
	switch version := store.StateVersion(r.StateDigest); {
	case version > o.version:
		o.version, o.state = version, r.StateDigest
	case version == o.version && o.state != r.StateDigest:
		return c.audit.report(store.EntryFinding(&e.row, fmt.Sprintf("it speaks of another state of version %d of its organization than an earlier entry", version)))
	}
	return nil
}

// rest looks at the entries that are not in the tree: no server came to the newest
// ones yet.
func (c *logCheck) rest() error {
	place := c.standing.Place
	for _, position := range slices.Sorted(maps.Keys(c.waiting)) {
		e := c.waiting[position]
		late := slices.ContainsFunc(place.Missing, func(m store.Missing) bool { return m.Position == position })
		switch {
		case position > place.Position || late:
			c.audit.counts.Waiting++
			if e.opened == nil {
				continue
			}
			if err := c.record(e, string(e.opened.Record(0))); err != nil {
				return err
			}
		case !c.places.damaged:
			if err := c.audit.report(store.EntryFinding(&e.row, "it is not in the tree: it was added by another program, or the state of the log was changed")); err != nil {
				return err
			}
		}
	}
	c.waiting = nil
	return nil
}

// placeReader reads the places of entries in the tree, block by block.
type placeReader struct {
	epochTree
	report  func(kind, id, what string) error
	index   int64 // of the next place
	block   []ledger.Placed
	damaged bool // some block is
}

// peek returns the next place and its index; not ok: there are no more.
func (r *placeReader) peek() (_ ledger.Placed, index int64, ok bool, err error) {
	if r.index >= r.head.Size {
		return ledger.Placed{}, 0, false, nil
	}
	at := int(r.index % translog.TileWidth)
	if at == 0 && r.block == nil {
		if err := r.read(); err != nil {
			return ledger.Placed{}, 0, false, err
		}
	}
	return r.block[at], r.index, true, nil
}

func (r *placeReader) next() {
	if r.index++; r.index%translog.TileWidth == 0 {
		r.block = nil
	}
}

// read reads the block of the next place. One that is damaged has places that are
// not known.
func (r *placeReader) read() (err error) {
	n := r.index / translog.TileWidth
	if r.block, err = r.stored.Block(n); err != nil {
		return err
	}
	want := int(min(translog.TileWidth, r.head.Size-r.index))
	if got := len(r.block); got < want || got > want && r.present {
		r.damaged = true
		r.block = append(r.block[:min(got, want)], make([]ledger.Placed, want-min(got, want))...)
		return r.report(store.LogBlock, r.stored.BlockID(n), fmt.Sprintf("it has %d places of entries, and should have %d: it is missing, or was put back from an earlier time", got, want))
	}
	return nil
}
