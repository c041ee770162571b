package ops

import (
	"context"
	"fmt"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of create_policy. The older ones have no expressions but a list
// of selectors, which are translated.
var (
	CreatePolicy   = activity.Older(createPolicySpec(1), CreatePolicyV3, (*CreatePolicyParams).newest)
	CreatePolicyV2 = activity.Older(createPolicySpec(2), CreatePolicyV3, (*CreatePolicyParamsV2).newest)
	CreatePolicyV3 = activity.Op[PolicyParams, CreatePolicyResult]{
		Spec: createPolicySpec(3),
		Exec: createPolicy,
	}
)

func createPolicySpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_policy", Version: version, ResultKey: "createPolicyResult",
		Summary: "Create a policy.",
		Govern:  activity.Govern{Resource: activity.ResourcePolicy, Action: activity.ActionCreate},
	}
}

// CreatePolicyResult is the result of create_policy.
type CreatePolicyResult struct {
	PolicyID string    `json:"policyId" check:"required,uuid" doc:"Id of the new policy."`
	Findings []Finding `json:"findings,omitzero" doc:"Probable mistakes in the policy."`
}

func createPolicy(_ context.Context, e activity.Env, p *PolicyParams) (CreatePolicyResult, error) {
	id, err := addPolicy(e, p)
	if err != nil {
		return CreatePolicyResult{}, err
	}
	findings, err := lint(e, id)
	return CreatePolicyResult{PolicyID: id, Findings: findings}, err
}

// CreatePolicyParams are the parameters of version 1.
type CreatePolicyParams struct {
	PolicyName string        `json:"policyName" check:"required,label" doc:"Name, unique in the organization."`
	Selectors  []Selector    `json:"selectors" check:"required,min=1,max=100" doc:"Comparisons that must all hold."`
	Effect     domain.Effect `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Notes      string        `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// CreatePolicyParamsV2 are the parameters of version 2.
type CreatePolicyParamsV2 struct {
	PolicyName string        `json:"policyName" check:"required,label" doc:"Name, unique in the organization."`
	Selectors  []SelectorV2  `json:"selectors" check:"required,min=1,max=100" doc:"Comparisons that must all hold."`
	Effect     domain.Effect `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Notes      string        `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// Selector compares a field with one value.
type Selector struct {
	Subject  string   `json:"subject" check:"required,max=200" doc:"Field of the policy language; those of approvers make the consensus." example:"activity.type"`
	Operator Operator `json:"operator" check:"required" doc:"Comparison."`
	Target   string   `json:"target" check:"required,max=2000" doc:"Value." example:"ACTIVITY_TYPE_CREATE_WALLET"`
}

// SelectorV2 compares a field with values.
type SelectorV2 struct {
	Subject  string   `json:"subject" check:"required,max=200" doc:"Field of the policy language; those of approvers make the consensus." example:"activity.type"`
	Operator Operator `json:"operator" check:"required" doc:"Comparison."`
	Targets  []string `json:"targets" check:"required,min=1,max=100" doc:"Values." example:"ACTIVITY_TYPE_CREATE_WALLET"`
}

// Operator is a comparison of a selector.
type Operator string

// operators are how the policy language writes the comparisons with one value.
var operators = map[Operator]string{
	"OPERATOR_EQUAL": "==", "OPERATOR_NOT_EQUAL": "!=", "OPERATOR_MORE_THAN": ">", "OPERATOR_MORE_THAN_OR_EQUAL": ">=",
	"OPERATOR_LESS_THAN": "<", "OPERATOR_LESS_THAN_OR_EQUAL": "<=",
}

// Enum lists the operators for the schema.
func (Operator) Enum() []string {
	return []string{
		"OPERATOR_EQUAL", "OPERATOR_NOT_EQUAL", "OPERATOR_MORE_THAN", "OPERATOR_MORE_THAN_OR_EQUAL",
		"OPERATOR_LESS_THAN", "OPERATOR_LESS_THAN_OR_EQUAL", "OPERATOR_CONTAINS", "OPERATOR_IN", "OPERATOR_NOT_IN",
		"OPERATOR_CONTAINS_ONE", "OPERATOR_CONTAINS_ALL",
	}
}

// Check compiles what the selectors say.
func (p *CreatePolicyParams) Check(problems *schema.Problems) { p.second().Check(problems) }

// Check compiles what the selectors say. A subject must be a field and a target
// a plain value: anything else would change what the expression means.
func (p *CreatePolicyParamsV2) Check(problems *schema.Problems) {
	for i, s := range p.Selectors {
		if strings.Trim(s.Subject, "abcdefghijklmnopqrstuvwxyz0123456789_.") != "" {
			problems.Add(fmt.Sprintf("selectors.%d", i), "subject must be the name of a field, such as activity.type")
			return
		}
		for _, target := range s.Targets {
			if strings.Contains(target, "'") {
				problems.Add(fmt.Sprintf("selectors.%d", i), "a value cannot hold an apostrophe")
				return
			}
		}
		if len(s.Targets) != 1 && operators[s.Operator] != "" {
			problems.Add(fmt.Sprintf("selectors.%d", i), "%s takes one value", s.Operator)
			return
		}
	}
	newest := p.newest()
	inner := new(schema.Problems)
	newest.Check(inner)
	for _, f := range inner.Fields() {
		problems.Add("selectors", "%s", f.Description)
	}
}

func (p *CreatePolicyParams) newest() *PolicyParams { return p.second().newest() }

func (p *CreatePolicyParams) second() *CreatePolicyParamsV2 {
	second := &CreatePolicyParamsV2{PolicyName: p.PolicyName, Effect: p.Effect, Notes: p.Notes}
	for _, s := range p.Selectors {
		second.Selectors = append(second.Selectors, SelectorV2{Subject: s.Subject, Operator: s.Operator, Targets: []string{s.Target}})
	}
	return second
}

func (p *CreatePolicyParamsV2) newest() *PolicyParams {
	newest := &PolicyParams{PolicyName: p.PolicyName, Effect: p.Effect, Notes: p.Notes}
	var condition, consensus []string
	for _, s := range p.Selectors {
		if rest, ok := strings.CutPrefix(s.Subject, "approvers."); ok {
			consensus = append(consensus, fmt.Sprintf("approvers.any(user, %s)", s.expression("user."+rest)))
		} else {
			condition = append(condition, s.expression(s.Subject))
		}
	}
	newest.Condition, newest.Consensus = strings.Join(condition, " && "), strings.Join(consensus, " && ")
	return newest
}

// expression writes the comparison in the policy language.
func (s *SelectorV2) expression(subject string) string {
	values := make([]string, len(s.Targets))
	for i, target := range s.Targets {
		values[i] = literal(target)
	}
	contains := make([]string, len(values))
	for i, v := range values {
		contains[i] = fmt.Sprintf("%s.contains(%s)", subject, v)
	}
	switch s.Operator {
	case "OPERATOR_IN":
		return fmt.Sprintf("%s in [%s]", subject, strings.Join(values, ", "))
	case "OPERATOR_NOT_IN":
		return fmt.Sprintf("!(%s in [%s])", subject, strings.Join(values, ", "))
	case "OPERATOR_CONTAINS", "OPERATOR_CONTAINS_ALL":
		return strings.Join(contains, " && ")
	case "OPERATOR_CONTAINS_ONE":
		return "(" + strings.Join(contains, " || ") + ")"
	}
	return fmt.Sprintf("%s %s %s", subject, operators[s.Operator], values[0])
}

// literal is a value in the policy language: a number if it is one.
func literal(value string) string {
	if value != "" && strings.Trim(value, "0123456789") == "" {
		return value
	}
	return "'" + value + "'"
}
