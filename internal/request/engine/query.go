package engine

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// Query answers one question: envelope and parameters, stamp, read.
func (e *Engine) Query(ctx context.Context, q *activity.CompiledQuery, r Request) (*Reply, error) {
	question, org, err := openQuestion(q, r)
	if err != nil {
		return nil, err
	}
	proof, err := e.readProof(r.Header, q.Access)
	if err != nil {
		return nil, err
	}
	return e.query(ctx, q, question, org, proof, r)
}

// openQuestion reads the parameters of a query.
func openQuestion(q *activity.CompiledQuery, r Request) (question *activity.Question, org string, err error) {
	question, problems := q.Parse(r.Body)
	if len(problems) > 0 {
		return nil, "", fault.Fields("", problems)
	}
	if org, err = organizationID(question.OrganizationID); err != nil {
		return nil, "", err
	}
	r.Event.OrganizationID = org
	return question, org, nil
}

// query is [Engine.Query] once the parameters and the proof are read. What may run
// several times runs on the versions at hand at first (see [store.Store.Read]).
func (e *Engine) query(ctx context.Context, q *activity.CompiledQuery, question *activity.Question, org string, proof proof, r Request) (*Reply, error) {
	if !repeatable(proof) || len(question.Tokens) > 0 {
		return e.answerQuery(ctx, e.Store, q, question, org, proof, r)
	}
	var reply *Reply
	runs := repeat(r)
	certain, err := e.Store.Read(ctx, func(from store.Views) (err error) {
		reply, err = e.answerQuery(ctx, from, q, question, org, proof, runs.next(from == e.Store))
		return err
	})
	runs.end(certain)
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// answerQuery answers a question on views of the store.
func (e *Engine) answerQuery(ctx context.Context, from store.Views, q *activity.CompiledQuery, question *activity.Question, org string, proof proof, r Request) (*Reply, error) {
	caller, err := e.admit(ctx, from, proof, org, r, q.Access)
	if err != nil {
		return nil, err
	}
	if q.AboutCaller {
		caller.target = caller.home
	}
	r.Event.OrganizationID = caller.target
	claims, err := e.verifyTokens(ctx, question.Tokens)
	if err != nil {
		return nil, err
	}
	var body jsontext.Value
	read := func(home, tx *store.Tx) error {
		who, err := caller.identify(home)
		if err != nil {
			return err
		}
		r.Event.UserID = who.user.ID
		budget := policy.NewBudget(ctx)
		body, err = question.Read(ctx, activity.Reader{
			Tx: tx, UserID: who.user.ID, Now: e.Now(), Claims: claims,
			AttestedKey: who.attestedKey, User: findUser(home, tx),
			Activity: func(a *domain.Activity) (activity.View, error) {
				return e.view(budget, home, tx, a, who.user, a.Submitter().UserID != who.user.ID)
			},
			ListedActivity: func(a *domain.Activity) (activity.View, error) {
				return e.view(budget, home, tx, a, who.user, true)
			},
			Exhausted: budget.Exhausted,
			Webhooks:  e.Webhooks,
			Children: func(key, after string, limit int) ([]string, error) {
				return e.Store.Children(ctx, caller.target, key, after, limit)
			},
		})
		return err
	}
	if err := viewWithHome(ctx, from, caller, read); err != nil {
		return nil, caller.hideOrganization(err)
	}
	return &Reply{Status: http.StatusOK, Body: body}, nil
}

// viewWithHome runs fn on a view of the organization that is acted in, and one
// of the caller's own.
func viewWithHome(ctx context.Context, from store.Views, c *caller, fn func(home, tx *store.Tx) error) error {
	return from.View(ctx, c.home, func(home *store.Tx) error {
		if c.home == c.target {
			return fn(home, home)
		}
		return from.View(ctx, c.target, func(tx *store.Tx) error { return fn(home, tx) })
	})
}
