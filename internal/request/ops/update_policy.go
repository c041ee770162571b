package ops

import (
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
func (p *UpdatePolicyParams) Check(problems *schema.Problems) { p.problems(problems, "") }

// UpdatePolicyBase is what the versions have in common.
type UpdatePolicyBase struct {
	PolicyID        string        `json:"policyId" check:"required,uuid" doc:"Policy to change."`
	PolicyName      string        `json:"policyName,omitzero" check:"label" doc:"New name."`
	PolicyEffect    domain.Effect `json:"policyEffect,omitzero" doc:"New effect."`
	PolicyCondition string        `json:"policyCondition,omitzero" check:"max=20000" doc:"New expression over the request." example:"activity.resource == 'WALLET'"`
	PolicyConsensus string        `json:"policyConsensus,omitzero" check:"max=20000" doc:"New expression over the approvers." example:"approvers.count() >= 1"`
	PolicyNotes     string        `json:"policyNotes,omitzero" check:"max=10000" doc:"New notes."`
}

// UpdatePolicyParamsV2 are the parameters of update_policy.
type UpdatePolicyParamsV2 struct {
	UpdatePolicyBase
	Time string `json:"time,omitzero" check:"max=20000,unsampled" doc:"New expression over the time."`
}

func (p *UpdatePolicyBase) problems(problems *schema.Problems, time string) {
	checkExpressions(problems, &domain.Policy{Condition: p.PolicyCondition, Consensus: p.PolicyConsensus, Time: time}, map[policy.Place]string{
		policy.Condition: "policyCondition", policy.Consensus: "policyConsensus", policy.Time: "time",
	})
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
		for _, change := range []struct {
			to   *string
			from string
		}{
			{&stored.Name, p.PolicyName},
			{&stored.Condition, p.PolicyCondition},
			{&stored.Consensus, p.PolicyConsensus},
			{&stored.Time, p.Time},
			{&stored.Notes, p.PolicyNotes},
		} {
			if change.from != "" {
				*change.to = change.from
			}
		}
		if p.PolicyEffect != "" {
			stored.Effect = p.PolicyEffect
		}
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
