package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// GetActivePolicies says which policies their time lets apply now.
var GetActivePolicies = activity.Query[InOrganization, GetActivePoliciesReply]{
	Name:    "get_active_policies",
	Summary: "Read which policies are within their time.",
	Read:    getActivePolicies,
}

// GetActivePoliciesReply is the reply of get_active_policies.
type GetActivePoliciesReply struct {
	Statuses      []PolicyStatus `json:"statuses" check:"required" doc:"One for each policy, in the order of creation."`
	EvaluatedAtMs schema.Uint64  `json:"evaluatedAtMs" check:"required" doc:"The server's time by which they were judged, in milliseconds since the Unix epoch."`
}

// PolicyStatus says whether a policy is within its time.
type PolicyStatus struct {
	OrganizationID string `json:"organizationId" check:"required,uuid" doc:"Organization that the policy belongs to."`
	PolicyID       string `json:"policyId" check:"required,uuid" doc:"Id of the policy."`
	Active         bool   `json:"active" check:"required" doc:"Whether the policy can apply now; one without a time always can."`
	TimeExpr       string `json:"timeExpr,omitzero" doc:"Its expression over the time; absent: it has none."`
	Error          string `json:"error,omitzero" doc:"Why the time could not be judged; the policy does not count as active then."`
}

func getActivePolicies(ctx context.Context, r activity.Reader, _ *InOrganization) (GetActivePoliciesReply, error) {
	all, err := r.Tx.Policies().List("", 0)
	reply := GetActivePoliciesReply{EvaluatedAtMs: schema.Uint64(r.Now.UnixMilli())}
	budget := policy.NewBudget(ctx)
	for _, p := range all {
		reply.Statuses = append(reply.Statuses, policyStatus(r, p, budget))
	}
	return reply, err
}

func policyStatus(r activity.Reader, p *domain.Policy, budget *policy.Budget) PolicyStatus {
	status := PolicyStatus{OrganizationID: r.Tx.Org(), PolicyID: p.ID, TimeExpr: p.Time, Active: p.Time == ""}
	if p.Time == "" {
		return status
	}
	expr, err := policy.Compile(policy.Time, p.Time)
	if err == nil {
		status.Active, err = expr.Eval(&policy.Env{Now: r.Now, Budget: budget})
	}
	if err != nil {
		status.Active, status.Error = false, err.Error()
	}
	return status
}
