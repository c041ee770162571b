package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// UpdateRootQuorum replaces the root quorum.
var UpdateRootQuorum = activity.Op[UpdateRootQuorumParams, UpdateRootQuorumResult]{
	Spec: activity.Spec{
		Name: "update_root_quorum", Version: 1,
		Summary: "Replace the root quorum: its members, and how many of them must agree. Only the present root quorum may.",
		Govern:  activity.Govern{By: decide.RootQuorum},
	},
	Adds: func(*UpdateRootQuorumParams) decide.Added { return lastingAccess },
	Exec: updateRootQuorum,
}

// UpdateRootQuorumParams are the parameters of update_root_quorum.
type UpdateRootQuorumParams struct {
	Threshold int32    `json:"threshold" check:"required" doc:"How many members must agree; from 1 to their number."`
	UserIDs   []string `json:"userIds" check:"required,min=1,max=1000,unique,each=uuid" doc:"Members of the quorum."`
}

// Check refuses a quorum that is always reached, or never.
func (p *UpdateRootQuorumParams) Check(problems *schema.Problems) {
	if p.Threshold < 1 {
		problems.Add("threshold", "quorum threshold must be non-zero integer: at least 1")
	} else if n := len(p.UserIDs); int(p.Threshold) > n {
		problems.Add("threshold", "must be at most %d, the number of userIds, or the quorum could never be reached", n)
	}
}

// UpdateRootQuorumResult is the result of update_root_quorum.
type UpdateRootQuorumResult struct{}

func updateRootQuorum(_ context.Context, e activity.Env, p *UpdateRootQuorumParams) (UpdateRootQuorumResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return UpdateRootQuorumResult{}, err
	}
	for _, id := range p.UserIDs {
		user, err := e.Tx.Users().Lookup(id)
		if err != nil {
			return UpdateRootQuorumResult{}, err
		}
		if user == nil {
			return UpdateRootQuorumResult{}, fault.Invalid("quorum users missing: no user with id %s in this organization", id)
		}
		if !user.CanLogIn(org) {
			return UpdateRootQuorumResult{}, noLogin(user)
		}
	}
	_, err = editOrganization(e, func(o *domain.Organization) {
		o.RootQuorum = domain.Quorum{Threshold: p.Threshold, UserIDs: p.UserIDs}
	})
	return UpdateRootQuorumResult{}, err
}
