package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/jsonwrite"
	"latchkey/internal/keys/vault"
)

// Tx sees one organization. It cannot name another that exists; it can create
// new ones.
type Tx struct {
	ctx      context.Context
	store    *Store
	org      string
	version  int64
	snapshot *snapshot
	place    *place        // in the pipeline; nil: of a transaction that only reads
	base     *pendingState // on which it runs; nil: on what is committed
	ahead    bool          // it runs before its turn: see [place.ahead]
	atHand   bool          // its version is not confirmed yet: see [Tx.AtHand]
	tables   map[string]anyWrites
	sealed   map[string][]byte // by name; nil when removed
	activity *ActivityRow
	recorded []byte // its body, behind room for the mark
	replaces bool
	// creates says that the organization is not there yet, so that there is nothing to
	// read. If it is there after all, the commit is refused.
	creates bool
	created []*Tx
	books   []*TallyBook
	rests   []*tallyTicket // entries on their way, on which was decided and which none of its own follows
	outside []Change       // items of the outbox and the instance, which no version guards
	own     *rows          // what reads the organization's rows; see [Tx.rows]
	// priors are the marks of the rows that were read one by one, by kind and id;
	// nil for one that is not there.
	priors   map[[2]string]*vault.RowMark
	newIDs   map[string]bool // see [Tx.NewID]
	nextHead *head           // what the commit writes, if it raises the version
	// logged and digests are what the log says of the activity.
	logged  *domain.Activity
	digests LogDigests
	notes   []Note // about the installation; see [Tx.Note]
	// duringCommit is what [Tx.DuringCommit] was given.
	duringCommit func() error
	committed    bool                  // what it wrote is in the database
	made         map[string]derivation // by [Derived], not kept for others yet
	reads
}

// anyWrites is what a transaction wrote of one kind.
type anyWrites interface {
	changes(*Tx) ([]Change, error)
	// directory returns the changes of the parent's directory.
	directory(parent, child string) []Change
	// dirty reports whether anything was written at all.
	dirty() bool
	// expires reports whether a record was written that expires.
	expires() bool
}

// Org is the organization that the transaction is bound to.
func (tx *Tx) Org() string { return tx.org }

// AtHand reports whether the transaction may be on a version that is not the present
// one, so that all that it does may count for nothing: see [Store.Write].
func (tx *Tx) AtHand() bool { return tx.atHand }

// Discard forgets everything that was written so far.
func (tx *Tx) Discard() {
	tx.tables = map[string]anyWrites{}
	tx.sealed = nil
	tx.activity, tx.replaces, tx.logged = nil, false, nil
	tx.created, tx.outside, tx.notes, tx.duringCommit = nil, nil, nil, nil
	tx.endTallies(false)
}

// NewID makes an id for something that the transaction creates. It is random, so that
// nothing is there under it: the database is not asked.
func (tx *Tx) NewID() string {
	id := ids.New()
	if tx.newIDs == nil {
		tx.newIDs = map[string]bool{}
	}
	tx.newIDs[id] = true
	return id
}

// isNew reports whether an item is named after an id that this transaction made: by
// it alone, or by what it is and then the id, as ciphertexts are.
func (tx *Tx) isNew(item string) bool {
	return tx.newIDs[item[strings.LastIndexByte(item, '/')+1:]]
}

// DuringCommit leaves fn to be called while the commit is made durable. fn needs
// nothing of the transaction. Its error becomes that of the transaction, which
// may be committed all the same.
func (tx *Tx) DuringCommit(fn func() error) { tx.duringCommit = fn }

// CreateOrganization creates an organization when the transaction commits, and
// returns the transaction in which it is filled.
func (tx *Tx) CreateOrganization(org string) *Tx {
	child := tx.store.newTx(tx.ctx, org, 0)
	child.creates = true
	tx.created = append(tx.created, child)
	return child
}

// Replace overwrites a recorded activity. It was read in this transaction.
func (tx *Tx) Replace(a *domain.Activity, d LogDigests) error {
	tx.replaces = true
	return tx.record(a, d)
}

// Record appends an activity when the transaction commits. The caller chose its
// id and fingerprint before the first attempt.
func (tx *Tx) Record(a *domain.Activity, d LogDigests) error {
	tx.replaces = false
	return tx.record(a, d)
}

func (tx *Tx) record(a *domain.Activity, d LogDigests) error {
	tx.logged, tx.digests = a, d
	recorded, err := jsonwrite.MarshalAfter(prefix, a)
	if err != nil {
		return err
	}
	tx.recorded = recorded
	tx.activity = &ActivityRow{
		ID: a.ID, TimestampMs: a.TimestampMs, Fingerprint: a.Fingerprint,
		Type: a.Type, Status: string(a.Status), Body: recorded[prefix:],
	}
	return nil
}

// Activity returns one activity by its id, or nil.
func (tx *Tx) Activity(id string) (*domain.Activity, error) {
	if tx.base != nil {
		return nil, errStale
	}
	return tx.activityOf(tx.store.driver.Activity(tx.ctx, tx.org, id))
}

// Recorded returns the activity that was made of the request with this time
// and fingerprint, or nil.
func (tx *Tx) Recorded(timestampMs int64, fingerprint Fingerprint) (*domain.Activity, error) {
	if tx.base.isRecording(recordedRequest{timestampMs, fingerprint}) {
		return nil, errStale
	}
	found, err := tx.store.driver.Recorded(tx.ctx, tx.org, timestampMs, fingerprint)
	if found != nil && tx.ahead {
		return nil, errStale // a vote may replace it before the turn comes; that there is none the commit finds out
	}
	return tx.activityOf(found, err)
}

// Activities lists activities, newest first. Those that are not ours are left out;
// a page that would be empty for that continues with the next, because callers
// take an empty one for the end.
func (tx *Tx) Activities(q ActivityQuery) ([]*domain.Activity, error) {
	if tx.base != nil {
		return nil, errStale
	}
	for {
		found, err := tx.store.driver.Activities(tx.ctx, tx.org, q)
		if err != nil {
			return nil, err
		}
		list, err := tx.activitiesOf(found)
		if err != nil || len(list) > 0 || len(found) == 0 {
			return list, err
		}
		next := &q.After
		last := found[len(found)-1].ID
		if q.Backwards() {
			next, last = &q.Before, found[0].ID
		}
		if last == "" || last == *next {
			return nil, tx.store.refusal(activityKind) // no id to continue after
		}
		*next = last
	}
}

func (tx *Tx) activitiesOf(found []ActivityRow) ([]*domain.Activity, error) {
	list := make([]*domain.Activity, 0, len(found))
	for i := range found {
		a, err := tx.activityOf(&found[i], nil)
		if isFinding(err) {
			continue // it was reported; the others are as they were
		}
		if err != nil {
			return nil, err
		}
		found[i].Body = nil // not in memory twice
		list = append(list, a)
	}
	return list, nil
}

func (tx *Tx) activityOf(stored *ActivityRow, err error) (*domain.Activity, error) {
	if err != nil || stored == nil {
		return nil, err
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	if err := r.activity(stored); err != nil {
		return nil, err
	}
	return decodeActivity(tx.org, stored)
}

func decodeActivity(org string, stored *ActivityRow) (*domain.Activity, error) {
	a := &domain.Activity{
		ID: stored.ID, OrganizationID: org, Type: stored.Type, Status: domain.ActivityStatus(stored.Status),
		TimestampMs: stored.TimestampMs, Fingerprint: stored.Fingerprint,
	}
	if err := json.Unmarshal(stored.Body, a); err != nil {
		return nil, damaged(org, activityKind, stored.ID, err)
	}
	return a, nil
}

// commit renders what was written, nil when nothing was.
func (tx *Tx) commit() (*Commit, error) {
	c := &Commit{Org: tx.org, Version: tx.version, Activity: tx.activity, Replaces: tx.replaces}
	changes, err := tx.changes()
	if err != nil {
		return nil, err
	}
	if c.Activity == nil && len(changes) == 0 && len(tx.outside) == 0 && len(tx.created) == 0 && len(tx.notes) == 0 {
		return nil, nil
	}
	c.Changes = changes
	if c.Raises() {
		if c.Changes, err = tx.withHead(changes); err != nil {
			return nil, err
		}
	}
	c.Changes = append(c.Changes, tx.outside...)
	tx.tallyChanges(c)
	for _, child := range tx.created {
		changes, err := child.changes()
		if err == nil {
			changes, err = child.withHead(changes)
		}
		if err != nil {
			return nil, err
		}
		for i := range changes {
			changes[i].Org = cmp.Or(changes[i].Org, child.org)
		}
		c.Creates = append(c.Creates, child.org)
		c.Changes = append(c.Changes, changes...)
	}
	c.Entries, err = tx.entries(c)
	return c, err
}

// withHead adds the head that follows from the changes of the organization
// itself.
func (tx *Tx) withHead(changes []Change) ([]Change, error) {
	if headless(tx.org) {
		return changes, nil
	}
	before, err := tx.head()
	if err != nil {
		return nil, err
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	tx.nextHead = before.next(r.key, changes)
	written, err := tx.nextHead.seal(r.key)
	return append(changes, written), err
}

// rows reads the rows of the organization.
func (tx *Tx) rows() (_ *rows, err error) {
	if tx.own == nil {
		if tx.own, err = tx.store.rowsOf(tx.org); err == nil {
			tx.own.base = tx.base
		}
	}
	return tx.own, err
}

// nextSnapshot is what is known of the version that a commit makes; nil: it makes none
// of this organization, or one that nothing is known of.
func (tx *Tx) nextSnapshot(c *Commit) *snapshot {
	if tx.version == 0 || !c.Raises() {
		return nil
	}
	// If it is committed, no other commit came between: the next version is this one
	// and what was written.
	next := tx.snapshot.next(c)
	next.head.Store(tx.nextHead)
	return next
}

// checkVersion says whether the organization is still as the transaction sees it. Of
// a state that is not committed that cannot be said: the transaction runs again.
func (tx *Tx) checkVersion() error {
	if tx.creates {
		return nil
	}
	if tx.base != nil {
		return errStale
	}
	return tx.store.checkVersion(tx.ctx, tx.org, tx.version)
}

// get reads one item of the organization, nil when there is none, and remembers
// its mark for the head.
func (tx *Tx) get(kind, id string) ([]byte, error) {
	tx.noteUncachedRead(rowOf(kind, id))
	if tx.creates {
		return nil, nil
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	var row *storedRow
	if !tx.isNew(id) {
		if row, err = r.get(tx.ctx, kind, id); err != nil {
			return nil, err
		}
	}
	if tx.priors == nil {
		tx.priors = map[[2]string]*vault.RowMark{}
	}
	if row == nil {
		tx.priors[[2]string{kind, id}] = nil
		return nil, nil
	}
	tx.priors[[2]string{kind, id}] = &row.mark
	return row.Body, nil
}

// scan reads items of the organization. The body of one that is not ours is nil.
func (tx *Tx) scan(kind string, in Range) ([]storedRow, error) {
	tx.noteUncachedRead(anyOf(kind))
	return tx.scanUnnoted(kind, in)
}

// scanUnnoted is scan for [readAll], which checks the version itself.
func (tx *Tx) scanUnnoted(kind string, in Range) ([]storedRow, error) {
	if tx.creates {
		return nil, nil
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	return r.scan(tx.ctx, kind, in)
}

// scanIndex is scan of the entries of a key in an index; what they lead to is read
// with them, for [Tx.get].
func (tx *Tx) scanIndex(kind, key string, in Range, of Reference) ([]storedRow, error) {
	tx.noteUncachedRead(rowOf(kind, key))
	if tx.creates {
		return nil, nil
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	one := of.WithKind != "" && in.Limit == 1 && in.From == of.Prefix && tx.base == nil
	if one {
		// One that is not ours may have been put right since it was read.
		if row, ok := tx.fromBulk(kind, key, of); ok && r.areOurs(kind, row, of) {
			return r.indexRows(kind, []IndexRow{row}, of), nil
		}
	}
	found, err := r.scanIndex(tx.ctx, kind, in, of)
	if one && len(found) > 0 {
		tx.lookedUp(kind, of)
	}
	return found, err
}

// prior is the mark of a row that the transaction replaces, nil when there is
// none. Mostly it was read before.
func (tx *Tx) prior(kind, id string) (*vault.RowMark, error) {
	if mark, ok := tx.priors[[2]string{kind, id}]; ok {
		return mark, nil
	}
	if tx.version == 0 {
		return nil, nil
	}
	if _, err := tx.get(kind, id); err != nil {
		return nil, err
	}
	return tx.priors[[2]string{kind, id}], nil
}

// changes renders what was written of the organization itself.
func (tx *Tx) changes() (all []Change, err error) {
	parent, err := tx.parent()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tx.tables)) {
		if !tx.tables[name].dirty() {
			continue // it was only read
		}
		changes, err := tx.tables[name].changes(tx)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
		if parent != "" {
			all = append(all, tx.tables[name].directory(parent, tx.org)...)
		}
	}
	for _, table := range tx.tables {
		if table.expires() {
			all = append(all, Change{Org: instanceOrg, Kind: expiringKind, ID: tx.org, Body: []byte{}})
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tx.sealed)) {
		before, err := tx.prior(ciphertextKind, name)
		if err != nil {
			return nil, err
		}
		all = append(all, Change{Kind: ciphertextKind, ID: name, Body: tx.sealed[name], sum: restSum, before: before})
	}
	return append(all, tx.rewraps()...), nil
}
