package engine

import (
	"context"
	"math/big"

	"latchkey/internal/policy"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
	"latchkey/internal/velocity"
)

// DryRun says what would become of an activity that the user submits, as
// [Engine.Explain] does, and what is decided on it by the path that settles
// activities. It executes and records nothing. The policies of the organization
// decide, so asked supposes no others. used says what velocity controls are
// supposed to have used, by their identifiers; others have used nothing.
//
// Nothing proves that the user asks: it is for the command line, on a store
// that was made for it, and no route leads to it.
func (e *Engine) DryRun(ctx context.Context, org, userID string, asked *ExplainRequest, used map[string]string) (*ExplainReply, *decide.Decision, error) {
	op, err := e.supposedOperation(asked.Type)
	if err != nil {
		return nil, nil, err
	}
	now, err := e.supposedTime(asked.Time)
	if err != nil {
		return nil, nil, err
	}
	intent, err := e.Catalog.Endpoint(op.Name).Parse(op, asked.Parameters)
	if err != nil {
		return nil, nil, err
	}
	var reply *ExplainReply
	var decision *decide.Decision
	err = e.Store.View(ctx, org, func(tx *store.Tx) error {
		user, err := tx.Users().Get(userID)
		if err != nil {
			return err
		}
		t := &attempt{Engine: e, ctx: ctx, home: tx, tx: tx, who: &principal{user: user}}
		t.supposedUse = func(c *velocity.Control, _ string) *big.Int {
			amount, err := c.Parse(used[c.Identifier])
			if err != nil {
				return new(big.Int)
			}
			return amount
		}
		if reply, err = t.explainSupposed(asked, intent, now); err != nil {
			return err
		}
		supposed, err := t.suppose(asked.Approvers, now)
		if err != nil {
			return err
		}
		input, err := t.decisionInput(policy.NewBudget(ctx), supposed, intent, now)
		if err != nil {
			return err
		}
		decision, err = input.Decide()
		return err
	})
	return reply, decision, err
}
