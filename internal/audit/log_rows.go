package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// This file holds what the log says of rows: of heads, of activities, and of what
// is kept of the tree.

// Item implements [Check].
func (c *logCheck) Item(_ context.Context, org, kind, id string, body []byte) error {
	switch {
	case org == store.LogOrganization:
		return c.logItem(kind, id, body)
	case kind == "head":
		return c.head(org, id, body)
	case kind == "organization":
		c.lists.organization(org, body)
	}
	return nil
}

// head compares the state of an organization with its newest entry.
func (c *logCheck) head(org, id string, sealed []byte) error {
	o := c.orgs[org]
	if o == nil {
		return nil // it was not changed since the log began
	}
	o.headed = true
	digest, ok, err := c.audit.inspector.State(org, sealed)
	if err != nil || !ok || digest == o.state {
		return err
	}
	version, why := store.StateVersion(digest), "an earlier state of the organization was put back"
	if version > o.version {
		why = "the entry of its newest change is missing"
	}
	return c.audit.report(store.Finding{
		Org: org, Kind: "head", ID: id,
		What: fmt.Sprintf("it is of version %d, and not the state of which the newest entry of the log speaks, of version %d: %s", version, o.version, why),
	})
}

// logItem checks an item of the tree. That one is missing was seen where it was
// needed.
func (c *logCheck) logItem(kind, id string, body []byte) error {
	switch kind {
	case store.LogSequence:
		return c.sequence(id, body)
	case store.LogOwn, store.LogChildren:
		if wrong := c.lists.row(kind, id, body); wrong != "" {
			return c.found(kind, id, wrong)
		}
		return nil
	}
	size := c.standing.Size
	epoch, rest := ledger.EpochOf(id)
	if epoch > 0 && epoch < c.standing.Epoch && kind != store.LogState {
		return nil // what an earlier one did not publish may still be there
	}
	ok := true
	switch kind {
	case store.LogBlock:
		var n int64
		n, ok = ledger.ParseBlockID(rest)
		ok = ok && n*translog.TileWidth < size
	case store.LogTile:
		var level int
		var n int64
		level, n, ok = ledger.ParseTileID(rest)
		ok = ok && n*translog.TileWidth < size>>(translog.TileHeight*level)
	}
	if ok && epoch == c.standing.Epoch || kind == store.LogState {
		return nil
	}
	return c.found(kind, id, fmt.Sprintf("a tree of %d entries does not have it: the state of the log was put back from an earlier time, or the row was added", size))
}

// sequence compares the number of the newest entry of an organization.
func (c *logCheck) sequence(org string, body []byte) error {
	logged, err := store.ReadLogged(org, body)
	number, newest := logged.Sequence, int64(0)
	if o := c.orgs[org]; o != nil {
		o.numbered, newest = true, o.sequence
	}
	if err == nil && number == newest || c.places.damaged {
		return nil
	}
	return c.found(store.LogSequence, org, fmt.Sprintf("it says that the newest entry of the organization has number %d, and in the tree it has number %d", number, newest))
}

// newest are the newest entries of some activities, in the same order. Their rows
// are there, so what the log has of them is accounted for.
func (c *logCheck) newest(ctx context.Context, activities []*domain.Activity) ([]newestEntry, error) {
	ids := make([]string, len(activities))
	at := make(map[[2]string]int, len(activities))
	for i, a := range activities {
		ids[i], at[[2]string{a.OrganizationID, a.ID}] = a.ID, i
	}
	rows, err := c.audit.Image.EntriesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := make([]newestEntry, len(activities))
	for i := range rows {
		k, asked := at[[2]string{rows[i].Org, rows[i].Activity}]
		if !asked {
			continue // of an activity with the same id in another organization
		}
		opened, found, err := c.audit.inspector.Entry(&rows[i])
		if err != nil {
			return nil, err
		}
		all[k] = newestEntry{opened, found != nil}
		if opened != nil {
			c.entries.found = c.sets.plus(c.entries.found, entryElement(opened))
		}
	}
	return all, nil
}

// newestEntry is the newest entry of an activity; nil: there is none. Damaged says
// that it is not ours, which was reported.
type newestEntry struct {
	entry   *store.LogEntry
	damaged bool
}

// activity says how an activity differs from its newest entry, "" if it does not.
// It may be called by several goroutines.
func (c *logCheck) activity(a *domain.Activity, newest newestEntry) (what string, older bool) {
	switch {
	case newest.damaged:
		return "", false
	case newest.entry == nil:
		return c.unlogged(a)
	}
	r, err := translog.ParseRecord(string(newest.entry.Record(1)))
	if err != nil {
		return "", false // reported with the entry
	}
	digests, err := c.audit.Catalog.LogDigests(a)
	if err != nil {
		return unreadable, false
	}
	var differ []string
	for _, member := range []struct{ name, stored, logged string }{
		{"status", string(a.Status), r.Status},
		{"time", fmt.Sprint(a.UpdatedAt.UnixMilli()), fmt.Sprint(r.TimeMs)},
		{"request", fmt.Sprintf("%x", a.Fingerprint), r.RequestDigest},
		{"votes", digests.Votes, r.VotesDigest},
		{"decision", digests.Decision, r.DecisionDigest},
		{"result", digests.Result, r.ResultDigest},
	} {
		if member.stored != member.logged {
			differ = append(differ, member.name)
		}
	}
	if len(differ) == 0 {
		return "", false
	}
	return "it is not what its newest entry of the log says (" + strings.Join(differ, ", ") + "): it was put back from an earlier time", false
}

// unlogged judges an activity of which the log has nothing: it must be older than
// the log.
func (c *logCheck) unlogged(a *domain.Activity) (what string, older bool) {
	if o := c.orgs[a.OrganizationID]; o != nil && a.CreatedAt.UnixMilli() > o.began {
		return "the log has no entry of it: it was recorded in another copy of the database, and put here", false
	}
	return "", true
}

// End implements [Check].
func (c *logCheck) End(ctx context.Context) error {
	for _, org := range slices.Sorted(maps.Keys(c.orgs)) {
		o := c.orgs[org]
		if !o.headed && org != c.installation {
			if err := c.audit.report(store.Finding{Org: org, Kind: "head", ID: "head", What: "the log speaks of this organization, and it has no head that is ours"}); err != nil {
				return err
			}
		}
		if !o.numbered && o.sequence > 0 {
			if err := c.found(store.LogSequence, org, "it is missing"); err != nil {
				return err
			}
		}
	}
	if !c.places.damaged {
		if err := c.lists.end(c.found); err != nil {
			return err
		}
	}
	if c.entries.wanted == c.entries.found {
		return nil
	}
	return c.searchActivities(ctx)
}

// searchActivities names the activities that are missing.
func (c *logCheck) searchActivities(ctx context.Context) error {
	reported := map[[2]string]bool{}
	return c.audit.Image.Entries(ctx, func(row store.EntryRow) error {
		key := [2]string{row.Org, row.Activity}
		if !c.ofActivity(&row) || reported[key] {
			return nil
		}
		if opened, _, err := c.audit.inspector.Entry(&row); err != nil || opened == nil {
			return err
		}
		a, err := c.audit.Image.Activity(ctx, row.Org, row.Activity)
		if err != nil || a != nil {
			return err
		}
		reported[key] = true
		return c.audit.report(store.Finding{Org: row.Org, Kind: activityKind, ID: row.Activity, What: "it is missing: the log has an entry of it"})
	})
}

// Activity implements [Check]: the check of signatures hands activities over in
// batches.
func (*logCheck) Activity(context.Context, *domain.Activity) error { return nil }
