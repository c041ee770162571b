// Package audit checks what an installation has stored: that its rows are ours,
// and complete as far as heads and the log say, that indexes and records agree,
// that every recorded signature is one, and that the log has everything that
// happened, unchanged. It also writes the log out with what it speaks of.
//
// It reads a [store.Image] once, from its beginning to its end: first the log,
// then the rows, of which it hands each that is ours to every [Check]. Memory does not grow with the database:
// checks that compare two sets of rows compare sums, and go through the rows again
// only where these differ. It changes nothing and repairs nothing.
package audit

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Check looks at one aspect of what is stored. All its methods are called by one
// goroutine.
type Check interface {
	// Item gets every item that is ours, ordered by organization, kind and id.
	Item(ctx context.Context, org, kind, id string, body []byte) error
	// Activity gets every activity that is ours, after all items, in any order.
	Activity(ctx context.Context, a *domain.Activity) error
	// End is called after the last one.
	End(ctx context.Context) error
}

// Audit is one run over an image.
type Audit struct {
	Image store.Image
	// Keys check the marks of rows and open heads; nil: neither is checked.
	Keys *vault.RowKeys
	// LogKeys verify the checkpoints of the log; none: with the keys that the
	// installation's own record names, which without Keys prove little.
	LogKeys translog.Keys
	// Earlier are checkpoints that the log must continue. An error in opening one
	// ends the audit.
	Earlier []Earlier
	// Catalog knows what the log says of each activity.
	Catalog *activity.Catalog
	// Found gets every finding; an error of it ends the audit.
	Found func(store.Finding) error
	// Progress, if not nil, is told now and then how many rows of all were read.
	Progress func(done, all int64)

	inspector *store.Inspector
	checks    []Check
	log       *logCheck
	done, all int64
	counts    Counts
}

// Counts say how much was checked.
type Counts struct {
	Organizations int64 `json:"organizations"`
	Items         int64 `json:"items"`
	Activities    int64 `json:"activities"`
	Signatures    int64 `json:"signatures"`
	// Unsigned are votes of which the signed bytes were not kept, because the
	// request was refused and too large to be kept.
	Unsigned int64 `json:"signaturesWithoutMessage"`
	Entries  int64 `json:"logEntries"`
	// Waiting are entries that no server has put into the tree yet.
	Waiting int64 `json:"logEntriesNotInTree"`
	// Unlogged are activities that are older than the log.
	Unlogged int64 `json:"activitiesBeforeLog"`
	Findings int64 `json:"findings"`
}

// makers make the checks of a run; what is checked besides rows is added here.
var makers = []func(*Audit) Check{newIndexes, newDirectory, newWaiting, newTallies, newSignatures}

// Run checks everything. An error says that it could not be done.
func (a *Audit) Run(ctx context.Context) (_ Counts, err error) {
	a.inspector = store.NewInspector(a.Keys)
	if a.all, err = a.Image.Rows(ctx); err != nil {
		return a.counts, err
	}
	for _, newCheck := range makers {
		a.checks = append(a.checks, newCheck(a))
	}
	a.log = newLogCheck(a)
	a.checks = append(a.checks, a.log)
	for _, step := range []func(context.Context) error{a.log.run, a.items, a.organizations, a.activities, a.end} {
		if err := step(ctx); err != nil {
			return a.counts, err
		}
	}
	return a.counts, nil
}

// report notes a finding.
func (a *Audit) report(found ...store.Finding) error {
	for _, f := range found {
		a.counts.Findings++
		if err := a.Found(f); err != nil {
			return err
		}
	}
	return nil
}

// step tells of progress.
func (a *Audit) step() {
	const often = 1000
	if a.done++; a.Progress != nil && a.done%often == 0 {
		a.Progress(a.done, max(a.done, a.all))
	}
}

// items goes through the items of all organizations.
func (a *Audit) items(ctx context.Context) error {
	var rows *store.OrganizationRows
	var at string
	finish := func() error {
		if rows == nil {
			return nil
		}
		a.counts.Organizations++
		version, err := a.Image.Version(ctx, at)
		if err != nil {
			return err
		}
		found, err := rows.End(version)
		if err != nil {
			return err
		}
		return a.report(found...)
	}
	err := a.Image.Items(ctx, "", "", func(org, kind string, item store.Item) error {
		if rows == nil || org != at {
			if err := finish(); err != nil {
				return err
			}
			rows, at = a.inspector.Organization(org), org
		}
		a.counts.Items++
		a.step()
		body, found, err := rows.Add(kind, item)
		if err != nil {
			return err
		}
		if found != nil {
			return a.report(*found)
		}
		for _, check := range a.checks {
			if err := check.Item(ctx, org, kind, item.ID, body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return finish()
}

// organizations looks for those that have a version and nothing else.
func (a *Audit) organizations(ctx context.Context) error {
	return a.Image.Versions(ctx, func(org string, _ int64) error {
		if a.inspector.Organization(org).Headless() {
			return nil
		}
		some := false
		err := a.Image.Items(ctx, org, "", func(string, string, store.Item) error {
			some = true
			return errEnough
		})
		if some {
			return nil
		}
		if err != nil {
			return err
		}
		return a.report(store.Finding{Org: org, What: "it has a version, but no rows"})
	})
}

func (a *Audit) activities(ctx context.Context) error {
	known := ""
	return a.Image.Activities(ctx, func(org string, row *store.ActivityRow) error {
		a.counts.Activities++
		a.step()
		activity, found, err := a.inspector.Activity(org, *row)
		if err != nil {
			return err
		}
		if found != nil {
			return a.report(*found)
		}
		if org != known {
			version, err := a.Image.Version(ctx, org)
			if err != nil {
				return err
			}
			if version <= 0 {
				return a.report(store.Finding{Org: org, Kind: "activity", ID: row.ID, What: "its organization is missing"})
			}
			known = org
		}
		for _, check := range a.checks {
			if err := check.Activity(ctx, activity); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *Audit) end(ctx context.Context) error {
	for _, check := range a.checks {
		if err := check.End(ctx); err != nil {
			return err
		}
	}
	if a.Progress != nil {
		a.Progress(a.done, a.done)
	}
	return nil
}
