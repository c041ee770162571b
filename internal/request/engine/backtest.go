package engine

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// Backtest decides recorded activities again, by the policies that the
// organization has and by others in their place, and tells on which the two
// differ. It executes and records nothing. Every user who may read the
// organization may ask.
func (e *Engine) Backtest(ctx context.Context, r Request) (*Reply, error) {
	asked, err := backtestRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	org, err := organizationID(asked.OrganizationID)
	if err != nil {
		return nil, err
	}
	from, err := asked.from()
	if err != nil {
		return nil, err
	}
	var reply *BacktestReply
	err = e.readAs(ctx, r, org, activity.Access{}, func(t *attempt) (err error) {
		t.home = t.tx // its own policies decide, also when a user of the parent asks
		reply, err = t.decidePage(asked, from)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := schema.Encode(reply)
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// from is where a page begins.
func (q *BacktestRequest) from() (*backtestState, error) {
	var since uint64
	if q.SinceMs != "" {
		var err error
		if since, err = strconv.ParseUint(q.SinceMs, 10, 48); err != nil {
			return nil, fault.Fields("", []fault.Field{{
				Path: "sinceMs", Description: "must be a time in milliseconds since the Unix epoch, as a string of digits",
			}})
		}
	}
	state, err := readCursor(q.PaginationOptions.After)
	if err == nil {
		state.position = max(state.position, ids.First(int64(since)))
	}
	return state, err
}

// backtestPage is a page that is being made.
type backtestPage struct {
	*BacktestReply
	*backtestState
	limit         int // of differences
	before, after *backtestSide
	budget        *policy.Budget
}

// decidePage decides one page of activities. Everything on it shares a budget:
// where that ends, the page ends, and what was begun is left to the next one.
func (t *attempt) decidePage(asked *BacktestRequest, from *backtestState) (*BacktestReply, error) {
	page, err := t.newPage(asked, from)
	if err != nil {
		return nil, err
	}
	for !page.full() {
		found, err := t.tx.Activities(store.ActivityQuery{Before: page.position, Limit: backtestChunk, MaxBytes: maxChunkBytes})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			if err := t.decideLate(page, time.Time{}, true); err != nil {
				return nil, err
			}
			break
		}
		slices.Reverse(found) // the oldest first
		if err := t.decideChunk(page, found); err != nil {
			return nil, err
		}
	}
	more, err := t.tx.Activities(store.ActivityQuery{Before: page.position, Limit: 1})
	if err != nil {
		return nil, err
	}
	page.PageInfo.HasNextPage = len(more) > 0 || len(page.late) > 0
	page.PageInfo.EndCursor, err = page.cursor()
	return page.BacktestReply, err
}

func (t *attempt) newPage(asked *BacktestRequest, from *backtestState) (*backtestPage, error) {
	own, err := decide.RulesOf(t.tx)
	if err != nil {
		return nil, err
	}
	supposed, err := t.supposedRules(asked.Policies)
	if err != nil {
		return nil, err
	}
	ownControls, err := decide.ControlsOf(t.tx)
	if err != nil {
		return nil, err
	}
	controls, err := t.supposedControls(asked.VelocityControls)
	if err != nil {
		return nil, err
	}
	page := &backtestPage{
		BacktestReply: &BacktestReply{Different: []Difference{}}, backtestState: from, limit: asked.PaginationOptions.limit(),
		before: newSide(own, ownControls, from.before), after: newSide(supposed, controls, from.after), budget: policy.NewBudget(t.ctx),
	}
	page.PageInfo.HasPreviousPage = asked.PaginationOptions.After != ""
	return page, nil
}

func (p *backtestPage) full() bool {
	return len(p.Different) == p.limit || p.Examined+p.Skipped >= maxExamined || p.budget.Exhausted()
}

// counts reports whether the order of decisions matters, because some are counted.
func (p *backtestPage) counts() bool { return len(p.before.controls)+len(p.after.controls) > 0 }

// decideChunk decides on activities until the page is full.
func (t *attempt) decideChunk(p *backtestPage, found []*domain.Activity) error {
	for _, a := range found {
		if err := t.decideLate(p, a.CreatedAt, false); err != nil {
			return err
		}
		if p.full() {
			return nil
		}
		if last := lastApproval(a); p.counts() && last.After(a.CreatedAt) {
			p.position = a.ID
			p.postpone(a.ID, last)
			continue
		}
		done, err := t.decideOn(p, a)
		if err != nil || !done {
			return err
		}
		p.position = a.ID
	}
	return nil
}

// decideLate decides on activities that were read before and had their last
// approval by a time, or on all of them.
func (t *attempt) decideLate(p *backtestPage, now time.Time, all bool) error {
	for !p.full() {
		id, due := p.due(now, all)
		if !due {
			return nil
		}
		a, err := t.tx.Activity(id)
		if err != nil {
			return err
		}
		if a != nil { // else the cursor is none of ours
			if done, err := t.decideOn(p, a); err != nil || !done {
				return err
			}
		}
		p.late = p.late[1:]
	}
	return nil
}

func lastApproval(a *domain.Activity) (last time.Time) {
	for i := range a.Votes {
		if a.Votes[i].Selection == domain.VoteApproved {
			last = a.Votes[i].CreatedAt
		}
	}
	return last
}

// decideOn decides on an activity, and adds it to the page. done is false when
// the page ends before it.
func (t *attempt) decideOn(p *backtestPage, a *domain.Activity) (done bool, err error) {
	d, err := t.decideBoth(p, a)
	if err == nil {
		err = p.budget.Err()
	}
	if err != nil {
		return false, err
	}
	if p.budget.Exhausted() && p.PageInfo.StartCursor != "" {
		return false, nil // the next page has a whole budget for it
	}
	p.PageInfo.StartCursor = cmp.Or(p.PageInfo.StartCursor, a.ID)
	// What a whole budget is not enough for is never decided.
	if d == nil || p.budget.Exhausted() {
		p.Skipped++
		return true, nil
	}
	p.Examined++
	if d.difference != nil {
		p.Different = append(p.Different, *d.difference)
	}
	if d.counts {
		return true, errors.Join(p.before.countIf(d.allowed[0], d.meters[0]), p.after.countIf(d.allowed[1], d.meters[1]))
	}
	return true, nil
}

// decided is what both sides say on an activity.
type decided struct {
	difference *Difference // nil: they agree
	// Whether the activity counts where it is allowed, where it is, and with how
	// much: before and after.
	counts  bool
	allowed [2]bool
	meters  [2]*decide.ControlMeter
}

// decideBoth decides on a recorded activity by the policies of today and by
// others; nil: the activity cannot be decided on any more.
func (t *attempt) decideBoth(p *backtestPage, a *domain.Activity) (*decided, error) {
	if a.Omitted > 0 || t.Catalog.Op(a.Type) == nil {
		return nil, nil
	}
	if a.DecidedBy != "" && a.DecidedBy != t.tx.Org() {
		return t.decidedElsewhere(p, a)
	}
	before, after, d, err := t.bothInputs(p, a)
	if err != nil || before == nil {
		return nil, notDecidable(err)
	}
	was, err := before.Decide()
	if err != nil {
		return nil, notDecidable(err)
	}
	would, err := after.Decide()
	if err != nil {
		return nil, notDecidable(err)
	}
	d.allowed = [2]bool{was.Outcome == decide.Allow, would.Outcome == decide.Allow}
	for i, m := range d.meters {
		if d.counts && d.allowed[i] {
			if _, err := m.Measure(); err != nil {
				return nil, notDecidable(err)
			}
		}
	}
	if was.Outcome == would.Outcome || p.budget.Exhausted() {
		return d, nil
	}
	d.difference, err = explainDifference(a, before, after, d.meters)
	if p.budget.Exhausted() {
		return d, nil // it was explained in part only, and is not shown
	}
	return d, err
}

// decidedElsewhere is an activity on which another organization decides: it counts
// as it was recorded.
func (t *attempt) decidedElsewhere(p *backtestPage, a *domain.Activity) (*decided, error) {
	d := new(decided)
	if a.Status != domain.StatusCompleted || !p.counts() {
		return d, nil
	}
	intent, err := t.reopen(a)
	if err != nil {
		return nil, notDecidable(err)
	}
	facts := sync.OnceValues(func() (*fact.Request, error) { return intent.Describe(t.tx) })
	d.counts, d.allowed = true, [2]bool{true, true}
	for i, side := range []*backtestSide{p.before, p.after} {
		d.meters[i] = side.meter(t, a, facts, lastApproval(a))
		if _, err := d.meters[i].Measure(); err != nil {
			return nil, notDecidable(err)
		}
	}
	return d, nil
}

// notDecidable drops the refusal that a request gets when what it is about is
// gone.
func notDecidable(err error) error {
	if _, ok := refused(err); ok {
		return nil
	}
	return err
}

// bothInputs are what the two decisions rest on: the activity as it was voted on,
// when it was last approved, with the users of today, whose multi-factor policies
// count as met. nil: its submitter is gone.
func (t *attempt) bothInputs(p *backtestPage, a *domain.Activity) (before, after *decide.Input, d *decided, err error) {
	intent, err := t.reopen(a)
	if err != nil {
		return nil, nil, nil, err
	}
	voted, now, err := t.asVoted(a)
	if err != nil || voted == nil {
		return nil, nil, nil, err
	}
	if before, err = t.decisionInput(p.budget, voted, intent, now); err != nil {
		return nil, nil, nil, err
	}
	before.MFAMet = true
	same := *before
	after = &same
	after.Rules = p.after.rules
	// What the executor refused has counted nothing, and would not.
	d = &decided{counts: p.counts() && (a.Status != domain.StatusFailed || a.Refused)}
	d.meters[0], d.meters[1] = p.before.meter(t, a, before.Facts, now), p.after.meter(t, a, before.Facts, now)
	before.Controls, after.Controls = d.meters[0].Measure, d.meters[1].Measure
	return before, after, d, nil
}

// asVoted is an activity with votes that count if they counted then, and the time
// of the last approval. A session's key is deleted some time after its end, so a
// vote does not need the key that signed it; its user must exist.
func (t *attempt) asVoted(a *domain.Activity) (*domain.Activity, time.Time, error) {
	voted := *a
	voted.Votes = slices.Clone(a.Votes)
	// What one vote was not enough for waited when the last one came.
	if voted.Status = domain.StatusCreated; len(a.Votes) > 1 {
		voted.Status = domain.StatusConsensusNeeded
	}
	var last time.Time
	for i := range voted.Votes {
		v := &voted.Votes[i]
		if v.Selection == domain.VoteApproved {
			last = v.CreatedAt
		}
		user, err := t.home.Users().Lookup(v.UserID)
		if err != nil {
			return nil, last, err
		}
		if user == nil && v.UserID == a.Submitter().UserID {
			return nil, last, nil
		}
		if user != nil && !decide.HasCredential(user, v.CredentialID) {
			v.CredentialID = ""
		}
	}
	return &voted, last, nil
}

func explainDifference(a *domain.Activity, before, after *decide.Input, meters [2]*decide.ControlMeter) (*Difference, error) {
	was, err := before.Explain()
	if err != nil {
		return nil, err
	}
	would, err := after.Explain()
	if err != nil {
		return nil, err
	}
	both := BothExplanations{Before: *renderExplanation(before, was, true), After: *renderExplanation(after, would, false)}
	both.Before.Controls = activity.ControlEvaluations(meters[0].Recorded(before.ReadsControls()))
	both.After.Controls = activity.ControlEvaluations(meters[1].Recorded(after.ReadsControls()))
	return &Difference{
		ActivityID: a.ID, Type: a.Type, Status: a.Status,
		Before: both.Before.Outcome, After: both.After.Outcome, Explanation: both,
	}, nil
}
