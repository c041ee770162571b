package engine

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
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

// from is the id after which the activities come that are asked about.
func (q *BacktestRequest) from() (string, error) {
	var since uint64
	if q.SinceMs != "" {
		var err error
		if since, err = strconv.ParseUint(q.SinceMs, 10, 48); err != nil {
			return "", fault.Fields("", []fault.Field{{
				Path: "sinceMs", Description: "must be a time in milliseconds since the Unix epoch, as a string of digits",
			}})
		}
	}
	return max(q.PaginationOptions.After, ids.First(int64(since))), nil
}

// decidePage decides one page of activities. Everything on it shares a budget:
// where that ends, the page ends, and what was begun is left to the next one.
func (t *attempt) decidePage(asked *BacktestRequest, from string) (*BacktestReply, error) {
	rules, err := t.supposedRules(asked.Policies)
	if err != nil {
		return nil, err
	}
	reply := &BacktestReply{Different: []Difference{}}
	reply.PageInfo.HasPreviousPage = asked.PaginationOptions.After != ""
	page := &backtestPage{BacktestReply: reply, limit: asked.PaginationOptions.limit(), rules: rules, budget: policy.NewBudget(t.ctx)}
	for !page.full() {
		found, err := t.tx.Activities(store.ActivityQuery{Before: from, Limit: backtestChunk, MaxBytes: maxChunkBytes})
		if err != nil || len(found) == 0 {
			return reply, err
		}
		slices.Reverse(found) // the oldest first
		if err := t.decideChunk(page, found); err != nil {
			return nil, err
		}
		from = reply.PageInfo.EndCursor
	}
	more, err := t.tx.Activities(store.ActivityQuery{Before: reply.PageInfo.EndCursor, Limit: 1})
	reply.PageInfo.HasNextPage = len(more) > 0
	return reply, err
}

// backtestPage is a page that is being made.
type backtestPage struct {
	*BacktestReply
	limit  int // of differences
	rules  *decide.Rules
	budget *policy.Budget
}

func (p *backtestPage) full() bool {
	return len(p.Different) == p.limit || p.Examined+p.Skipped >= maxExamined || p.budget.Exhausted()
}

// decideChunk decides on activities until the page is full.
func (t *attempt) decideChunk(p *backtestPage, found []*domain.Activity) error {
	for _, a := range found {
		if p.full() {
			return nil
		}
		difference, decided, err := t.decideBoth(p.budget, a, p.rules)
		if err == nil {
			err = p.budget.Err()
		}
		if err != nil {
			return err
		}
		if p.budget.Exhausted() && p.PageInfo.EndCursor != "" {
			return nil // the next page has a whole budget for it
		}
		// What a whole budget is not enough for is never decided.
		p.add(a.ID, difference, decided && !p.budget.Exhausted())
	}
	return nil
}

func (r *BacktestReply) add(id string, d *Difference, decided bool) {
	r.PageInfo.StartCursor, r.PageInfo.EndCursor = cmp.Or(r.PageInfo.StartCursor, id), id
	if !decided {
		r.Skipped++
		return
	}
	r.Examined++
	if d != nil {
		r.Different = append(r.Different, *d)
	}
}

// decideBoth decides on a recorded activity by the policies of today and by
// others. The difference is nil when they agree; decided is false when the
// activity cannot be decided on any more.
func (t *attempt) decideBoth(budget *policy.Budget, a *domain.Activity, rules *decide.Rules) (d *Difference, decided bool, err error) {
	if a.Omitted > 0 || t.Catalog.Op(a.Type) == nil {
		return nil, false, nil
	}
	if a.DecidedBy != "" && a.DecidedBy != t.tx.Org() {
		return nil, true, nil // the policies of another organization decide
	}
	before, after, err := t.bothInputs(budget, a, rules)
	if err != nil {
		return nil, false, notDecidable(err)
	}
	if before == nil {
		return nil, false, nil
	}
	was, err := before.Decide()
	if err != nil {
		return nil, false, notDecidable(err)
	}
	would, err := after.Decide()
	if err != nil {
		return nil, false, notDecidable(err)
	}
	if was.Outcome == would.Outcome || budget.Exhausted() {
		return nil, true, nil
	}
	d, err = explainDifference(a, before, after)
	if budget.Exhausted() {
		return nil, true, nil // it was explained in part only
	}
	return d, true, err
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
func (t *attempt) bothInputs(budget *policy.Budget, a *domain.Activity, rules *decide.Rules) (before, after *decide.Input, err error) {
	intent, err := t.reopen(a)
	if err != nil {
		return nil, nil, err
	}
	voted, now, err := t.asVoted(a)
	if err != nil || voted == nil {
		return nil, nil, err
	}
	if before, err = t.decisionInput(budget, voted, intent, now); err != nil {
		return nil, nil, err
	}
	before.Controls, before.MFAMet = whenFree(before.Controls), true
	same := *before
	after = &same
	after.Rules = rules
	return before, after, nil
}

// whenFree takes velocity controls as if their windows held nothing but the
// activity. What they held then is not kept in a form that could be asked for, and
// what they would have held depends on what the supposed policies allow.
func whenFree(controls func() ([]fact.ControlState, error)) func() ([]fact.ControlState, error) {
	return func() ([]fact.ControlState, error) {
		states, err := controls()
		for i := range states {
			states[i].Holds = states[i].HoldsFree
		}
		return states, err
	}
}

// asVoted is an activity with votes that count if they counted then, and the time
// of the last approval. A session's key is deleted some time after its end, so a
// vote does not need the key that signed it; its user must exist.
func (t *attempt) asVoted(a *domain.Activity) (*domain.Activity, time.Time, error) {
	voted := *a
	voted.Votes = slices.Clone(a.Votes)
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

func explainDifference(a *domain.Activity, before, after *decide.Input) (*Difference, error) {
	was, err := before.Explain()
	if err != nil {
		return nil, err
	}
	would, err := after.Explain()
	if err != nil {
		return nil, err
	}
	both := BothExplanations{Before: *renderExplanation(before, was, true), After: *renderExplanation(after, would, false)}
	return &Difference{
		ActivityID: a.ID, Type: a.Type, Status: a.Status,
		Before: both.Before.Outcome, After: both.After.Outcome, Explanation: both,
	}, nil
}
