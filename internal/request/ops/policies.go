package ops

import (
	"errors"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// This file holds what the operations on policies have in common.

// PolicyParams describes a policy.
type PolicyParams struct {
	PolicyName string        `json:"policyName" check:"required,label" doc:"Name, unique in the organization."`
	Effect     domain.Effect `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Condition  string        `json:"condition,omitzero" check:"max=20000,sampled" doc:"Expression over the request; empty: always." example:"activity.resource == 'WALLET' && activity.action == 'CREATE'"`
	Consensus  string        `json:"consensus,omitzero" check:"max=20000" doc:"Expression over the approvers; empty: any caller." example:"approvers.count() >= 1"`
	Notes      string        `json:"notes" check:"required,allowempty,max=10000" doc:"Human-readable notes."`
	Time       string        `json:"time,omitzero" check:"max=20000,unsampled" doc:"Expression over the time; empty: at any time."`
}

// Check compiles the expressions.
func (p *PolicyParams) Check(problems *schema.Problems) {
	checkPolicy(problems, p.policy(), map[policy.Place]string{
		policy.Condition: "condition", policy.Consensus: "consensus", policy.Time: "time",
	}, "effect")
}

func (p *PolicyParams) policy() *domain.Policy {
	return &domain.Policy{
		Name: p.PolicyName, Effect: p.Effect, Condition: p.Condition, Consensus: p.Consensus, Time: p.Time, Notes: p.Notes,
	}
}

// checkPolicy refuses expressions that do not compile, each at its member, and
// a policy that would allow everything to everyone.
func checkPolicy(problems *schema.Problems, p *domain.Policy, members map[policy.Place]string, effect string) {
	if checkExpressions(problems, p, members) && boundless(p) {
		problems.Add(effect, "%s", boundlessProblem)
	}
}

// checkExpressions refuses expressions that do not compile, each at its member,
// and reports whether all do.
func checkExpressions(problems *schema.Problems, p *domain.Policy, members map[policy.Place]string) bool {
	var refused *decide.CompileError
	_, err := decide.Compile(p)
	if errors.As(err, &refused) {
		problems.Add(members[refused.Place], "%v", refused)
		return false
	}
	return true
}

const boundlessProblem = "a policy that allows needs a condition or a consensus; without both it would allow everything to everyone"

func boundless(p *domain.Policy) bool {
	return p.Effect == domain.EffectAllow && p.Condition == "" && p.Consensus == ""
}

// Finding is advice on a policy that compiles but is probably not what its
// author meant.
type Finding struct {
	PolicyName string `json:"policyName" check:"required" doc:"The policy."`
	Place      string `json:"place" check:"required" doc:"Its expression: condition, consensus or time."`
	Offset     int32  `json:"offset" check:"required" doc:"Where in the expression, in bytes from 0."`
	Code       string `json:"code" check:"required" doc:"What kind of finding it is."`
	Message    string `json:"message" check:"required" doc:"What is probably wrong."`
}

// lint gives advice on the policies with these ids, as the organization is now.
func lint(e activity.Env, ids ...string) ([]Finding, error) {
	stored, err := e.Tx.Policies().List("", 0)
	if err != nil {
		return nil, err
	}
	compiled := make([]policy.Policy, 0, len(stored))
	for _, p := range stored {
		if c, err := decide.Compile(p); err == nil {
			compiled = append(compiled, *c)
		}
	}
	known, err := lintContext(e)
	if err != nil {
		return nil, err
	}
	var advice []Finding
	for _, f := range policy.Lint(compiled, known) {
		for _, id := range ids {
			if f.PolicyID == id {
				advice = append(advice, Finding{
					PolicyName: f.PolicyName, Place: f.Place.String(), Offset: int32(f.Offset), Code: string(f.Code), Message: f.Message,
				})
			}
		}
	}
	return advice, nil
}

// LintContext is what policies are checked against in every organization.
func LintContext(c *activity.Catalog) policy.LintContext {
	context := policy.LintContext{Values: map[string][]string{
		"Params.encoding":              Encoding("").Enum(),
		"Params.hash_function":         HashFunction("").Enum(),
		"Params.type":                  TransactionType("").Enum(),
		"WalletAccount.curve":          curve.KeyCurve("").Enum(),
		"WalletAccount.address_format": address.Format("").Enum(),
	}}
	for _, t := range []domain.CredentialType{
		domain.CredentialP256, domain.CredentialSecp256k1, domain.CredentialEd25519, domain.CredentialAuthenticator, domain.CredentialRecovery,
		domain.CredentialEmailAuth, domain.CredentialOTPAuth, domain.CredentialOAuth, domain.CredentialReadWrite, domain.CredentialLogin,
	} {
		context.Values["Credential.type"] = append(context.Values["Credential.type"], string(t))
	}
	for _, path := range c.Endpoints {
		context.Values["Activity.kind"] = append(context.Values["Activity.kind"], path.Newest().Kind())
		for _, op := range path.Versions {
			context.Values["Activity.type"] = append(context.Values["Activity.type"], op.Type)
			context.Activities = append(context.Activities, policy.KnownActivity{
				Type: op.Type, Kind: op.Kind(), Resource: string(op.Govern.Resource), Action: string(op.Govern.Action),
			})
		}
	}
	return context
}

func lintContext(e activity.Env) (policy.LintContext, error) {
	context := LintContext(e.Catalog)
	context.Users, context.Credentials = []fact.User{}, []fact.Credential{}
	context.UserTags, context.KeyTags = map[string]string{}, map[string]string{}
	users, err := e.Tx.Users().List("", 0)
	if err != nil {
		return context, err
	}
	for _, u := range users {
		voter := decide.VoterOf(u)
		context.Users = append(context.Users, voter.User)
		context.Credentials = append(context.Credentials, voter.Credentials...)
	}
	tags, err := e.Tx.Tags().List("", 0)
	for _, t := range tags {
		if t.Type == domain.TagUser {
			context.UserTags[t.ID] = t.Name
		} else {
			context.KeyTags[t.ID] = t.Name
		}
	}
	return context, err
}

// addPolicy stores a new policy and returns its id.
func addPolicy(e activity.Env, p *PolicyParams) (string, error) {
	if limit := e.Limits.Policies; limit > 0 {
		have, err := e.Tx.Policies().List("", 0)
		if err != nil {
			return "", err
		}
		if len(have) >= limit {
			return "", fault.Exhausted("the organization has reached its maximum of %d policies; delete one first", limit)
		}
	}
	added := p.policy()
	added.ID, added.CreatedAt, added.UpdatedAt = e.NewID(), e.Now, e.Now
	if err := checkControls(e.Tx, added); err != nil {
		return "", err
	}
	if err := e.Tx.Policies().Insert(added); err != nil {
		return "", err
	}
	return added.ID, checkPolicyText(e)
}

// maxPolicyText bounds the texts of an organization's policies: each request may
// have to evaluate all of them.
const maxPolicyText = 4 << 20

func checkPolicyText(e activity.Env) error {
	all, err := e.Tx.Policies().List("", 0)
	if err != nil {
		return err
	}
	return checkText("policies", maxPolicyText, all, func(p *domain.Policy) int {
		return len(p.Condition) + len(p.Consensus) + len(p.Time) + len(p.Notes)
	})
}

// Policy is a policy as clients read it.
type Policy struct {
	PolicyID   string           `json:"policyId" check:"required,uuid" doc:"Id of the policy."`
	PolicyName string           `json:"policyName" check:"required" doc:"Human-readable name."`
	Effect     domain.Effect    `json:"effect" check:"required" doc:"What the policy does when it applies."`
	CreatedAt  record.Timestamp `json:"createdAt" check:"required" doc:"When the policy was created."`
	UpdatedAt  record.Timestamp `json:"updatedAt" check:"required" doc:"When the policy was last changed."`
	Notes      string           `json:"notes" check:"required,allowempty" doc:"Human-readable notes."`
	Consensus  string           `json:"consensus" check:"required,allowempty" doc:"Expression over the approvers."`
	Condition  string           `json:"condition" check:"required,allowempty" doc:"Expression over the request."`
	Time       string           `json:"time,omitzero" doc:"Expression over the time."`
}

func policyRecord(p *domain.Policy) Policy {
	return Policy{
		PolicyID: p.ID, PolicyName: p.Name, Effect: p.Effect,
		CreatedAt: record.Time(p.CreatedAt), UpdatedAt: record.Time(p.UpdatedAt),
		Notes: p.Notes, Consensus: p.Consensus, Condition: p.Condition, Time: p.Time,
	}
}
