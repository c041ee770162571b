package ops

import (
	"fmt"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds what the operations on multi-factor policies have in common.
// What such a policy demands, also of its own deletion, is not decided here but
// where activities are (package decide).

// RequiredMethodsParams is a step of a multi-factor policy.
type RequiredMethodsParams struct {
	Any []RequiredMethodParams `json:"any" check:"required,min=1,max=10" doc:"Methods, any one of which meets the step."`
}

// RequiredMethodParams is a way to prove who one is.
type RequiredMethodParams struct {
	Type domain.AuthenticationType `json:"type" check:"required" doc:"Kind of the proof." example:"AUTHENTICATION_TYPE_PASSKEY"`
	ID   string                    `json:"id,omitzero" check:"uuid,unsampled" doc:"That very API key, passkey or OpenID identity of the user; for sessions a session profile, or 00000000-0000-0000-0000-000000000000 for a session without one. Any of the type when absent; codes have no id."`
}

// checkMFA refuses a condition or steps that could not be met or read.
func checkMFA(problems *schema.Problems, condition string, steps []RequiredMethodsParams) {
	if condition != "" {
		expr, err := policy.Compile(policy.Condition, condition)
		if err != nil {
			problems.Add("condition", "invalid condition: %v", err)
		} else if len(expr.Controls()) > 0 {
			problems.Add("condition", "invalid condition: velocity controls can be read by policies, not by multi-factor policies")
		}
	}
	for i, step := range steps {
		for k, m := range step.Any {
			if m.ID != "" && (m.Type == domain.AuthEmailOTP || m.Type == domain.AuthSMSOTP) {
				problems.Add(fmt.Sprintf("requiredAuthenticationMethods.%d.any.%d.id", i, k), "codes have no id; leave it out")
			}
		}
	}
	if len(steps) > 0 && !canBeMet(steps) {
		problems.Add("requiredAuthenticationMethods",
			"can never be met: each step takes a credential of its own, and several steps accept nothing but the same one")
	}
}

// canBeMet reports whether some set of credentials meets the steps. Codes and what
// an id names are there once; of anything else a user may have as many as it takes.
func canBeMet(steps []RequiredMethodsParams) bool {
	p := domain.MFAPolicy{Steps: mfaSteps(steps)}
	var all []domain.Factor
	for i, step := range p.Steps {
		for _, m := range step.Any {
			once := m.Type == domain.AuthEmailOTP || m.Type == domain.AuthSMSOTP || m.ID != "" && m.Type != domain.AuthSession
			f := domain.Factor{AuthenticationMethod: m, Credential: string(m.Type) + m.ID}
			if !once {
				f.Credential += fmt.Sprint(" ", i)
			}
			all = append(all, f)
		}
	}
	_, met := p.Met(all)
	return met
}

func mfaSteps(steps []RequiredMethodsParams) []domain.MFAStep {
	all := make([]domain.MFAStep, len(steps))
	for i, step := range steps {
		for _, m := range step.Any {
			all[i].Any = append(all[i].Any, domain.AuthenticationMethod{Type: m.Type, ID: m.ID})
		}
	}
	return all
}

// requireMethods refuses steps that name what the user does not have: they could
// lock the user out.
func requireMethods(e activity.Env, u *domain.User, steps []domain.MFAStep) error {
	for _, step := range steps {
		for _, m := range step.Any {
			if err := requireMethod(e, u, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func requireMethod(e activity.Env, u *domain.User, m domain.AuthenticationMethod) error {
	var has bool
	switch {
	case m.ID == "":
		return nil
	case m.Type == domain.AuthSession && m.ID == domain.DefaultSession:
		return nil
	case m.Type == domain.AuthSession:
		_, err := e.Tx.SessionProfile(m.ID)
		return err
	case m.Type == domain.AuthAPIKey:
		has = slices.ContainsFunc(u.APIKeys, func(k domain.APIKey) bool {
			method := k.Method()
			return method != nil && m.Accepts(*method)
		})
	case m.Type == domain.AuthPasskey:
		has = slices.ContainsFunc(u.Authenticators, func(a domain.Authenticator) bool { return a.ID == m.ID })
	case m.Type == domain.AuthOAuth:
		has = slices.ContainsFunc(u.OAuthProviders, func(p domain.OAuthProvider) bool { return p.ID == m.ID })
	}
	if !has {
		return fault.Missing("no credential with id %s of type %s on user %s", m.ID, m.Type, u.ID)
	}
	return nil
}

// maxMFAPolicies is how many a user has at most: all are read with the user.
const maxMFAPolicies = 20

// editMFAPolicies changes the policies of a user.
func editMFAPolicies(e activity.Env, userID string, fn func(u *domain.User) error) error {
	return e.Tx.Users().Edit(userID, func(u *domain.User) error {
		if err := fn(u); err != nil {
			return err
		}
		names := map[string]bool{}
		for _, p := range u.MFAPolicies {
			if names[p.Name] {
				return fault.Taken("the user has a multi-factor policy named %q already", p.Name)
			}
			names[p.Name] = true
		}
		domain.SortMFAPolicies(u.MFAPolicies)
		u.UpdatedAt = e.Now
		return nil
	})
}

func noMFAPolicy(userID, id string) error {
	return fault.Missing("no multi-factor policy with id %s on user %s", id, userID)
}
