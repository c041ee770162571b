package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"latchkey/internal/keys/vault"
	"latchkey/internal/translog"
)

// Every commit that records an activity, replaces one or raises the version of an
// organization has an entry in the log. It is written in that commit; the number
// in the organization and the place in the tree follow later, in the order in
// which commits became visible: package ledger gives them.

// Kinds of entries about an organization that are not about an activity.
const (
	LogCreated = "ORGANIZATION_CREATED"
	LogChanged = "ORGANIZATION_CHANGED" // by the server itself: something expired, or a counter went on
)

// LogDigests are what the record of an activity says besides what is in its row:
// SHA-256 in lower-case hex, empty where there is nothing.
type LogDigests struct {
	Votes, Decision, Result string
}

// saltSize is how many random bytes an entry has before its record.
const saltSize = 32

// entries are those of a commit, in order: of the organization, then of those
// that it creates.
func (tx *Tx) entries(c *Commit) (all []Entry, err error) {
	if ours := tx.org == instanceOrg || headless(tx.org); !ours && (c.Activity != nil || c.Raises()) {
		if all, err = tx.appendEntry(all); err != nil {
			return nil, err
		}
	}
	for _, child := range tx.created {
		if all, err = child.appendEntry(all); err != nil {
			return nil, err
		}
	}
	return tx.appendNotes(all)
}

func (tx *Tx) appendEntry(all []Entry) ([]Entry, error) {
	after := tx.nextHead
	if after == nil {
		var err error
		if after, err = tx.head(); err != nil {
			return nil, err
		}
	}
	r := translog.Record{OrganizationID: tx.org, StateDigest: after.digest}
	switch a := tx.logged; {
	case a != nil:
		r.ActivityID, r.Status, r.TimeMs = a.ID, string(a.Status), a.UpdatedAt.UnixMilli()
		r.RequestDigest = hex.EncodeToString(a.Fingerprint[:])
		r.VotesDigest, r.DecisionDigest, r.ResultDigest = tx.digests.Votes, tx.digests.Decision, tx.digests.Result
	case tx.version == 0:
		r.Kind, r.TimeMs = LogCreated, time.Now().UnixMilli()
	default:
		r.Kind, r.TimeMs = LogChanged, time.Now().UnixMilli()
	}
	rows, err := tx.rows()
	if err != nil {
		return nil, err
	}
	return append(all, newEntry(rows.key, &r, r.ActivityID)), nil
}

// newEntry makes an entry that can be found by a name: the id of its activity, or
// what [Note.Name] says.
func newEntry(key *vault.RowKey, r *translog.Record, name string) Entry {
	e := Entry{Org: r.OrganizationID, Activity: name}
	e.Body = make([]byte, prefix+saltSize, 1024)
	rand.Read(e.Body[prefix:]) // never fails: it ends the program instead
	e.Body = r.AppendText(e.Body)
	putMark(e.Body, entryMark(key, &e, e.Body[prefix:]))
	return e
}

const entryLabel = "latchkey entry 1"

func entryMark(key *vault.RowKey, e *Entry, body []byte) vault.RowMark {
	return key.Mark(body, entryLabel, e.Activity)
}

// LogEntry is an entry as its commit wrote it.
type LogEntry struct {
	Position      int64
	Org, Activity string
	Salt          [saltSize]byte
	unnumbered    []byte
}

// Record is the text of the entry's record with its number in the organization.
func (e *LogEntry) Record(sequence int64) []byte {
	return e.AppendRecord(make([]byte, 0, len(e.unnumbered)+20), sequence)
}

// AppendRecord appends what [LogEntry.Record] returns.
func (e *LogEntry) AppendRecord(dst []byte, sequence int64) []byte {
	before, after, _ := bytes.Cut(e.unnumbered, []byte(`,"sequence":0,`))
	dst = append(append(dst, before...), `,"sequence":`...)
	dst = append(strconv.AppendInt(dst, sequence, 10), ',')
	return append(dst, after...)
}

var aboutActivity = []byte(`,"sequence":0,"activityId":"`)

// AboutActivity reports whether the entry is about an activity, and not about
// something else that can be found by a name.
func (e *LogEntry) AboutActivity() bool { return bytes.Contains(e.unnumbered, aboutActivity) }

// Version is that of the organization's head of which the entry speaks; 0: of none.
func (e *LogEntry) Version() int64 {
	_, digest, _ := bytes.Cut(e.unnumbered, []byte(`,"stateDigest":"`))
	return StateVersion(string(digest))
}

// LogReader reads the entries of the log, each once, in the order in which they
// became visible.
type LogReader struct {
	store   *Store
	entries *EntryReader
}

// ReadLog begins at a place.
func (s *Store) ReadLog(at Place) *LogReader {
	return &LogReader{s, NewEntryReader(s.driver, at.Position, at.Missing)}
}

// Place is how far the reader has read.
func (r *LogReader) Place() Place { return r.entries.Place() }

// Next returns further entries, none when there are no more for now. What is not
// ours is reported and left out.
func (r *LogReader) Next(ctx context.Context, limit int) ([]LogEntry, bool, error) {
	list, err := r.entries.Next(ctx, limit)
	if err != nil {
		return nil, false, err
	}
	opened, err := r.store.openEntries(list)
	return opened, len(list) > 0, err
}

// LogEntriesOf are the entries of one activity, the oldest first.
func (s *Store) LogEntriesOf(ctx context.Context, org, activity string) ([]LogEntry, error) {
	list, err := s.driver.Entries(ctx, EntryQuery{Org: org, Activity: activity})
	if err != nil {
		return nil, err
	}
	return s.openEntries(list)
}

// LogEntriesAt are the entries at some positions, by position. One that is gone or
// not ours is reported and left out.
func (s *Store) LogEntriesAt(ctx context.Context, positions []int64) (map[int64]*LogEntry, error) {
	found := make(map[int64]*LogEntry, len(positions))
	for part := range slices.Chunk(positions, 256) {
		list, err := s.driver.Entries(ctx, EntryQuery{At: part})
		if err != nil {
			return nil, err
		}
		opened, err := s.openEntries(list)
		if err != nil {
			return nil, err
		}
		for i := range opened {
			found[opened[i].Position] = &opened[i]
		}
		for _, position := range part {
			if !slices.ContainsFunc(list, func(e EntryRow) bool { return e.Position == position }) {
				_ = s.found(Finding{logOrg, "log entry", strconv.FormatInt(position, 10), isGone})
			}
		}
	}
	return found, nil
}

func (s *Store) openEntries(list []EntryRow) ([]LogEntry, error) {
	opened := make([]LogEntry, 0, len(list))
	keys := map[string]*rows{}
	for i := range list {
		e := &list[i]
		if keys[e.Org] == nil {
			r, err := s.rowsOf(e.Org)
			if err != nil {
				return nil, err
			}
			keys[e.Org] = r
		}
		entry, ok := keys[e.Org].entry(e)
		if !ok {
			_ = s.found(EntryFinding(e, notOurs))
			continue
		}
		opened = append(opened, entry)
	}
	return opened, nil
}

// entry takes an entry apart; ok says that it is ours.
func (r *rows) entry(e *EntryRow) (_ LogEntry, ok bool) {
	tag, body, ok := cut(e.Body)
	if !ok || len(body) <= saltSize {
		return LogEntry{}, false
	}
	if r.key != nil {
		if mark := entryMark(r.key, &e.Entry, body); [tagSize]byte(mark[:tagSize]) != tag {
			return LogEntry{}, false
		}
	}
	return LogEntry{
		Position: e.Position, Org: e.Org, Activity: e.Activity,
		Salt: [saltSize]byte(body[:saltSize]), unnumbered: body[saltSize:],
	}, true
}

// EntryFinding is what was found of an entry.
func EntryFinding(e *EntryRow, what string) Finding {
	return Finding{e.Org, "log entry", strconv.FormatInt(e.Position, 10), what}
}

// logOrg is the pseudo-organization that holds the tree and what belongs to it.
// It is no UUID, so no request can name it.
const logOrg = "log"

// LogOrganization is the name of that pseudo-organization in findings.
const LogOrganization = logOrg

// Kinds of what is kept of the tree.
const (
	LogState      = "state"      // one item: how far the log is
	LogSequence   = "sequence"   // by organization: the number of its newest entry
	LogBlock      = "block"      // by number: which entries are in a tile of level 0
	LogTile       = "tile"       // by level and number
	LogCheckpoint = "checkpoint" // one item: the newest that is published
	LogOwn        = "own"        // by organization and place: its entries about activities
	LogChildren   = "children"   // the same of the children of an organization
)

// LogItems is what is kept of the tree, by kind and id.
type LogItems struct{ tx *Tx }

// UpdateLog runs fn on what is kept of the tree, and commits what it wrote, if no
// other server did so in the meantime; else it runs again.
func (s *Store) UpdateLog(ctx context.Context, fn func(LogItems) error) error {
	return s.change(ctx, logOrg, func(tx *Tx) error { return fn(LogItems{tx}) })
}

// LogItem reads one item; nil: there is none.
func (s *Store) LogItem(ctx context.Context, kind, id string) ([]byte, error) {
	r, err := s.rowsOf(logOrg)
	if err != nil {
		return nil, err
	}
	row, err := r.get(ctx, kind, id)
	if err != nil || row == nil {
		return nil, err
	}
	return row.Body, nil
}

// LogRange reads items in a range. The body of one that is not ours is nil, and it
// is reported.
func (s *Store) LogRange(ctx context.Context, kind string, in Range) ([]Item, error) {
	r, err := s.rowsOf(logOrg)
	if err != nil {
		return nil, err
	}
	rows, err := r.scan(ctx, kind, in)
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = row.Item
	}
	return items, err
}

// Get reads one item; nil: there is none.
func (l LogItems) Get(kind, id string) ([]byte, error) { return l.tx.get(kind, id) }

// Put writes one item when the transaction commits.
func (l LogItems) Put(kind, id string, body []byte) {
	l.tx.outside = append(l.tx.outside, Change{Kind: kind, ID: id, Body: body})
}
