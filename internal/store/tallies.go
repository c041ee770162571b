package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
)

// What velocity controls have counted is a book for each control and group: entries
// that are numbered without a gap, written in the commit of the activity that they
// count. No version guards them, so that signatures do not change their
// organization. Instead an entry must be new and its predecessor must be there as
// the writer saw it (Change.New, Commit.Follows): of two commits that follow the
// same entry the driver refuses one, on whichever node, and its transaction runs
// again. tally_queue.go lets the transactions of one process pass in line.

// tallyKind is the kind of the entries. An id is made of control, group and number,
// such that the newest comes first.
const tallyKind = "tally"

// TallyGroup is one group of one control.
type TallyGroup struct{ ControlID, GroupID string }

func (g TallyGroup) prefix() string { return g.ControlID + separator + g.GroupID + separator }

func (g TallyGroup) id(number int64) string {
	return fmt.Sprintf("%s%019d", g.prefix(), math.MaxInt64-number)
}

// TallyBook is what was counted in one group.
type TallyBook struct {
	TallyGroup
	tx     *Tx
	newest *domain.Tally
	stored []byte // the newest entry as it is in the database
	line   *tallyLine
	locked bool         // the transaction has its turn in the line
	entry  *tallyTicket // what it counts
	rests  *tallyTicket // the newest entry, if it was on its way; nil: it was in the database
}

// ReadTally reads a book, for what is only asked.
func (tx *Tx) ReadTally(g TallyGroup) (*TallyBook, error) {
	if tx.ahead {
		return nil, errStale // what no version guards is read in turn
	}
	b := &TallyBook{TallyGroup: g, tx: tx}
	return b, b.readNewest()
}

// Newest is the newest entry, nil when there is none.
func (b *TallyBook) Newest() *domain.Tally { return b.newest }

// Entry returns an entry that must be there: its number is not above that of the
// newest.
func (b *TallyBook) Entry(number int64) (*domain.Tally, error) {
	if b.line != nil {
		if known := b.line.known(number); known != nil {
			return known, nil
		}
	}
	r, err := b.tx.rows()
	if err != nil {
		return nil, err
	}
	row, err := r.get(b.tx.ctx, tallyKind, b.id(number))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, b.tx.store.found(Finding{b.tx.org, tallyKind, b.id(number), isGone})
	}
	entry, err := b.decode(row)
	if err == nil && b.line != nil {
		b.line.remember(entry)
	}
	return entry, err
}

func (b *TallyBook) readNewest() error {
	r, err := b.tx.rows()
	if err != nil {
		return err
	}
	rows, err := r.scan(b.tx.ctx, tallyKind, Range{From: b.prefix(), To: b.prefix() + "~", Limit: 1})
	if err != nil {
		return err
	}
	b.newest, b.stored = nil, nil
	if len(rows) > 0 {
		if rows[0].Body == nil {
			return b.tx.store.refusal(tallyKind) // it was reported
		}
		if b.newest, err = b.decode(&rows[0]); err != nil {
			return err
		}
		b.stored = marked(rows[0].mark, rows[0].Body)
	}
	return b.tx.store.tallies.checkSeen(b)
}

func (b *TallyBook) decode(row *storedRow) (*domain.Tally, error) {
	return decodeTally(b.tx.org, row.ID, row.Body)
}

// TallyKind is the kind of the entries, for an audit.
const TallyKind = tallyKind

// TallyID is the id of an entry.
func TallyID(controlID, groupID string, number int64) string {
	return TallyGroup{controlID, groupID}.id(number)
}

// DecodeTally reads an entry from its row.
func DecodeTally(id string, body []byte) (*domain.Tally, error) { return decodeTally("", id, body) }

func decodeTally(org, id string, body []byte) (*domain.Tally, error) {
	t := new(domain.Tally)
	if err := json.Unmarshal(body, t); err != nil {
		return nil, damaged(org, tallyKind, id, err)
	}
	parts := strings.Split(id, separator)
	var reversed int64
	if len(parts) == 3 {
		t.ControlID, t.GroupID = parts[0], parts[1]
		if _, err := fmt.Sscanf(parts[2], "%019d", &reversed); err == nil {
			t.Number = math.MaxInt64 - reversed
			return t, nil
		}
	}
	return nil, damaged(org, tallyKind, id, fmt.Errorf("its id is none"))
}

// TallyGroups lists the newest entry of each group of a control, after a group.
// Those whose name begins with a tilde are left out.
func (tx *Tx) TallyGroups(controlID, after string, limit int) (newest []*domain.Tally, err error) {
	if tx.ahead {
		return nil, errStale
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	tx.noteUncachedRead(anyOf(tallyKind))
	from := controlID + separator
	if after != "" {
		from = TallyGroup{controlID, after}.prefix() + "~"
	}
	for len(newest) < limit {
		rows, err := r.scan(tx.ctx, tallyKind, Range{From: from, To: controlID + separator + "~", Limit: 1})
		if err != nil || len(rows) == 0 {
			return newest, err
		}
		if rows[0].Body == nil {
			return nil, tx.store.refusal(tallyKind)
		}
		entry, err := decodeTally(tx.org, rows[0].ID, rows[0].Body)
		if err != nil {
			return nil, err
		}
		newest = append(newest, entry)
		from = TallyGroup{controlID, entry.GroupID}.prefix() + "~"
	}
	return newest, nil
}

// DatabaseTime is the time of the database, which is the same for all servers.
func (tx *Tx) DatabaseTime() (time.Time, error) { return tx.store.clock.now(tx.ctx, tx.store.driver) }

// LockTallies gives the transaction its turn in these groups: until it counts, or
// ends, no other transaction of this process decides on them.
func (tx *Tx) LockTallies(groups []TallyGroup) ([]*TallyBook, error) {
	if tx.ahead {
		return nil, errStale // who waits for its turn must not keep others waiting
	}
	ordered := slices.Clone(groups)
	slices.SortFunc(ordered, func(a, b TallyGroup) int { return strings.Compare(a.prefix(), b.prefix()) })
	for _, g := range ordered { // in one order, so that no two wait for each other
		b := &TallyBook{TallyGroup: g, tx: tx, line: tx.store.tallies.join(tx.org, g)}
		tx.books = append(tx.books, b)
		if err := b.line.await(tx.ctx, b); err != nil {
			return nil, err
		}
	}
	books := make([]*TallyBook, len(groups))
	for i, g := range groups {
		books[i] = tx.books[slices.IndexFunc(tx.books, func(b *TallyBook) bool { return b.TallyGroup == g })]
	}
	return books, nil
}

// Count writes entries when the transaction commits, each into the book of the
// same place, nil into none, and lets the next transaction have its turn.
func (tx *Tx) Count(books []*TallyBook, entries []*domain.Tally) error {
	r, err := tx.rows()
	if err != nil {
		return err
	}
	for i, b := range books {
		if entries[i] == nil {
			b.pass()
			continue
		}
		body, err := json.Marshal(entries[i])
		if err != nil {
			return err
		}
		b.line.extend(b, entries[i], body, marked(b.mark(r.key, entries[i].Number, body), body))
	}
	return nil
}

func (b *TallyBook) mark(key *vault.RowKey, number int64, body []byte) vault.RowMark {
	return itemMark(key, tallyKind, b.id(number), body)
}

// tallyChanges are what the transaction counts, and what that follows.
func (tx *Tx) tallyChanges(c *Commit) {
	for _, b := range tx.books {
		if b.entry == nil {
			continue
		}
		c.Changes = append(c.Changes, Change{Kind: tallyKind, ID: b.id(b.entry.tally.Number), Body: b.entry.body, New: true})
		if b.newest != nil {
			c.Follows = append(c.Follows, StoredBody{Kind: tallyKind, ID: b.id(b.newest.Number), Body: b.stored})
		}
	}
}

// awaitTallies waits until what the entries follow is on its way to the database
// before them.
func (tx *Tx) awaitTallies(ctx context.Context) error {
	for _, b := range tx.books {
		if b.entry == nil || b.entry.before == nil {
			continue
		}
		select {
		case <-b.entry.before.queued:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b.entry.before.failed.Load() {
			return errStale
		}
		b.entry.before = nil
	}
	return nil
}

// awaitDecided waits until the entries on which the transaction has decided, and that
// it does not follow with one of its own, are in the database. If one failed, what
// was decided must be decided anew.
func (tx *Tx) awaitDecided(ctx context.Context) error {
	for _, b := range tx.books {
		tx.noteRests(b)
	}
	for _, t := range tx.rests {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if t.failed.Load() {
			return errStale
		}
	}
	return nil
}

func (tx *Tx) noteRests(b *TallyBook) {
	if b.entry == nil && b.rests != nil {
		tx.rests = append(tx.rests, b.rests)
		b.rests = nil
	}
}

// talliesQueued lets the commits of those go that follow.
func (tx *Tx) talliesQueued() {
	for _, b := range tx.books {
		if b.entry != nil {
			b.entry.sendOff()
		}
	}
}

// ReleaseTallies ends the turns of a transaction that does not count.
func (tx *Tx) ReleaseTallies() { tx.endTallies(false) }

// endTallies gives up the turns, and says what became of the entries.
func (tx *Tx) endTallies(committed bool) {
	for _, b := range tx.books {
		tx.noteRests(b)
		b.end(committed)
	}
	tx.books = nil
}
