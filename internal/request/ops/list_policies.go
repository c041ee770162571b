package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListPolicies reads all policies.
var ListPolicies = activity.Query[InOrganization, ListPoliciesReply]{
	Name:    "list_policies",
	Summary: "Read all policies of the organization.",
	Read:    listPolicies,
}

// ListPoliciesReply is the reply of list_policies.
type ListPoliciesReply struct {
	Policies []Policy `json:"policies" check:"required" doc:"Policies in the order of creation."`
}

func listPolicies(_ context.Context, r activity.Reader, _ *InOrganization) (ListPoliciesReply, error) {
	all, err := r.Tx.Policies().List("", 0)
	return ListPoliciesReply{Policies: record.Each(all, policyRecord)}, err
}
