package engine

import (
	"context"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
)

// Rehearse says what would become of an activity that the user submits, as
// Explain does, and what the very path that settles activities decides on it.
// It executes and records nothing. The decision is by the policies of the
// organization, so asked supposes no others.
//
// Nothing proves that the user asks: it is for the command line, on a store
// that was made for it, and no route leads to it.
func (e *Engine) Rehearse(ctx context.Context, org, userID string, asked *ExplainRequest) (*ExplainReply, *decide.Decision, error) {
	version := e.Catalog.Op(asked.Type)
	if version == nil || version.Govern.By == activity.Vote {
		return nil, nil, fault.Fields("", []fault.Field{{Path: "type", Description: "is not the type of an activity that can be submitted"}})
	}
	now := e.Now()
	if asked.Time != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, asked.Time); err != nil {
			return nil, nil, fault.Fields("", []fault.Field{{Path: "time", Description: "must be a time as in RFC 3339, such as 2026-11-15T12:00:00Z"}})
		}
	}
	intent, err := e.Catalog.Endpoint(version.Name).Parse(version, asked.Parameters)
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
		s := &attempt{Engine: e, ctx: ctx, home: tx, tx: tx, who: &principal{user: user}}
		if reply, err = s.explain(asked, intent, now); err != nil {
			return err
		}
		supposed, err := s.suppose(asked.Approvers, now)
		if err != nil {
			return err
		}
		decision, err = s.decide(supposed, intent, now)
		return err
	})
	return reply, decision, err
}
