package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of update_policy. The second can change the time.
var (
	UpdatePolicy = activity.Op[UpdatePolicyParams, UpdatePolicyResult]{
		Spec: updatePolicySpec(1),
		Exec: func(ctx context.Context, e activity.Env, p *UpdatePolicyParams) (UpdatePolicyResult, error) {
			return updatePolicy(ctx, e, &UpdatePolicyParamsV2{UpdatePolicyBase: p.UpdatePolicyBase})
		},
	}
	UpdatePolicyV2 = activity.Op[UpdatePolicyParamsV2, UpdatePolicyResult]{
		Spec: updatePolicySpec(2),
		Exec: updatePolicy,
	}
)

func updatePolicySpec(version int) activity.Spec {
	return activity.Spec{
		Name: "update_policy", Version: version,
		Summary: "Change a policy; what is absent stays as it is.",
		Govern:  activity.Govern{Resource: activity.ResourcePolicy, Action: activity.ActionUpdate},
	}
}

// UpdatePolicyParams are the parameters of version 1.
type UpdatePolicyParams struct{ UpdatePolicyBase }

// Check compiles the expressions.
func (p *UpdatePolicyParams) Check(problems *schema.Problems) { p.problems(problems, nil) }

// UpdatePolicyBase is what the versions have in common.
type UpdatePolicyBase struct {
	PolicyID        string        `json:"policyId" check:"required,uuid" doc:"Policy to change."`
	PolicyName      string        `json:"policyName,omitzero" check:"label" doc:"New name."`
	PolicyEffect    domain.Effect `json:"policyEffect,omitzero" doc:"New effect."`
	PolicyCondition *string       `json:"policyCondition,omitzero" check:"allowempty,max=20000" doc:"New expression over the request; empty to remove it." example:"activity.resource == 'WALLET'"`
	PolicyConsensus *string       `json:"policyConsensus,omitzero" check:"allowempty,max=20000" doc:"New expression over the approvers; empty to remove it." example:"approvers.count() >= 1"`
	PolicyNotes     *string       `json:"policyNotes,omitzero" check:"allowempty,max=10000" doc:"New notes; empty to remove them."`
}

// UpdatePolicyParamsV2 are the parameters of update_policy.
type UpdatePolicyParamsV2 struct {
	UpdatePolicyBase
	Time *string `json:"time,omitzero" check:"allowempty,max=20000,unsampled" doc:"New expression over the time; empty to remove it."`
}

func (p *UpdatePolicyBase) problems(problems *schema.Problems, time *string) {
	var given domain.Policy
	p.change(&given, time)
	checkExpressions(problems, &given, map[policy.Place]string{
		policy.Condition: "policyCondition", policy.Consensus: "policyConsensus", policy.Time: "time",
	})
}

// change puts what is given in the place of what a policy has.
func (p *UpdatePolicyBase) change(stored *domain.Policy, time *string) {
	stored.Name = cmp.Or(p.PolicyName, stored.Name)
	stored.Effect = cmp.Or(p.PolicyEffect, stored.Effect)
	for _, change := range []struct{ to, from *string }{
		{&stored.Condition, p.PolicyCondition},
		{&stored.Consensus, p.PolicyConsensus},
		{&stored.Time, time},
		{&stored.Notes, p.PolicyNotes},
	} {
		if change.from != nil {
			*change.to = *change.from
		}
	}
}

// Check compiles the expressions.
func (p *UpdatePolicyParamsV2) Check(problems *schema.Problems) {
	p.problems(problems, p.Time)
}

// UpdatePolicyResult is the result of update_policy.
type UpdatePolicyResult struct {
	PolicyID string    `json:"policyId" check:"required,uuid" doc:"Id of the policy."`
	Findings []Finding `json:"findings,omitzero" doc:"Probable mistakes in the policy."`
}

func updatePolicy(_ context.Context, e activity.Env, p *UpdatePolicyParamsV2) (UpdatePolicyResult, error) {
	err := e.Tx.Policies().Edit(p.PolicyID, func(stored *domain.Policy) error {
		p.change(stored, p.Time)
		if boundless(stored) {
			return fault.Invalid("%s", boundlessProblem)
		}
		stored.UpdatedAt = e.Now
		return checkControls(e.Tx, stored)
	})
	if err == nil {
		err = checkPolicyText(e)
	}
	if err != nil {
		return UpdatePolicyResult{}, err
	}
	findings, err := lint(e, p.PolicyID)
	return UpdatePolicyResult{PolicyID: p.PolicyID, Findings: findings}, err
}
