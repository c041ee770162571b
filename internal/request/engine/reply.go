package engine

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// Reply is what goes back to the client.
type Reply struct {
	Status int
	Body   jsontext.Value
	Stream *Stream // in place of Body; it must be closed
}

// answer replies to the submitter of an activity, new or seen before. A failed
// one is the error that it failed with, each time.
func (t *attempt) answer(a *domain.Activity) (*Reply, error) {
	if a.Status != domain.StatusFailed {
		return t.outcome(a)
	}
	t.event.ActivityID, t.event.Status = a.ID, a.Status
	var failure fault.Body
	if err := json.Unmarshal(a.Failure, &failure); err != nil {
		return nil, fmt.Errorf("reading the failure of activity %s: %w", a.ID, err)
	}
	return &Reply{Status: failure.Status(), Body: a.Failure}, nil
}

// outcome replies with the activity itself, in any status.
func (t *attempt) outcome(a *domain.Activity) (*Reply, error) {
	t.event.ActivityID, t.event.Status = a.ID, a.Status
	view, err := t.view(policy.NewBudget(t.ctx), t.home, t.tx, a, t.who.user, a.Submitter().UserID != t.who.user.ID)
	if err != nil {
		return nil, err
	}
	reply := &Reply{Status: http.StatusOK}
	t.tx.DuringCommit(func() (err error) {
		reply.Body, err = schema.Encode(activity.Reply{Activity: view})
		return err
	})
	return reply, nil
}

// findUser finds a user in the organization that is acted in, then in the caller's.
func findUser(home, tx *store.Tx) func(id string) (*domain.User, error) {
	return func(id string) (*domain.User, error) {
		found, err := tx.Users().Lookup(id)
		if found == nil && err == nil && home != tx {
			return home.Users().Lookup(id)
		}
		return found, err
	}
}

// view renders an activity the way a user of the home organization sees it. With
// redact, the secrets of its submitter are left out. What the budget does not
// suffice for, the user may not do.
func (e *Engine) view(budget *policy.Budget, home, tx *store.Tx, a *domain.Activity, user *domain.User, redact bool) (activity.View, error) {
	shown := a
	if redact {
		var err error
		if shown, err = e.Catalog.Redact(a); err != nil {
			return activity.View{}, err
		}
	}
	view, err := e.Catalog.Render(shown, findUser(home, tx))
	// A type that is not in the catalog was recorded by a newer node, which
	// also knows who may vote on it.
	if err != nil || !a.Status.Waits() || e.Catalog.Op(a.Type) == nil {
		return view, err
	}
	if a.Awaits(user.ID) {
		view.CanApprove = true
		return view, nil
	}
	if decider := a.DecidedBy; decider != "" && decider != home.Org() || decider == "" && home != tx {
		return view, nil
	}
	t := &attempt{Engine: e, home: home, tx: tx}
	intent, err := t.reopen(a)
	if err != nil {
		return view, err
	}
	input, err := t.decisionInput(budget, a, intent, e.Now())
	if err != nil {
		return view, err
	}
	if view.CanReject, err = input.MayVote(user); err != nil {
		return view, err
	}
	proven, err := input.SubmitterProven()
	view.CanApprove = view.CanReject && proven && !input.Counts(user.ID)
	return view, err
}
