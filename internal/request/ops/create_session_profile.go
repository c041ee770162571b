package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// CreateSessionProfile makes a kind of session that may do less than its user.
var CreateSessionProfile = activity.Op[CreateSessionProfileParams, CreateSessionProfileResult]{
	Spec: activity.Spec{
		Name: "create_session_profile", Version: 1,
		Summary: "Create a kind of session that is limited by a condition. It cannot be changed or deleted.",
		Govern:  activity.Govern{Resource: activity.ResourceSessionProfile, Action: activity.ActionCreate},
	},
	Exec: createSessionProfile,
}

// CreateSessionProfileParams are the parameters of create_session_profile.
type CreateSessionProfileParams struct {
	SessionProfileName string        `json:"sessionProfileName" check:"required,label" doc:"Name, unique in the organization; the session_type of its sessions."`
	Scope              string        `json:"scope" check:"required,max=20000" doc:"Condition, as in policies, that every activity of a session must fulfil." example:"activity.action == 'SIGN'"`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long sessions last at most; as the login says when absent."`
	Notes              string        `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// Check compiles the scope.
func (p *CreateSessionProfileParams) Check(problems *schema.Problems) {
	scope, err := policy.Compile(policy.Condition, p.Scope)
	if err != nil {
		problems.Add("scope", "invalid scope: %v", err)
	} else if len(scope.Controls()) > 0 {
		problems.Add("scope", "invalid scope: velocity controls can be read by policies, not by session profiles")
	}
}

// CreateSessionProfileResult is the result of create_session_profile.
type CreateSessionProfileResult struct {
	SessionProfileID string `json:"sessionProfileId" check:"required,uuid" doc:"Id of the profile."`
}

// maxSessionProfiles is how many an organization has at most: they are listed
// together, and stay.
const maxSessionProfiles = 1000

func createSessionProfile(_ context.Context, e activity.Env, p *CreateSessionProfileParams) (CreateSessionProfileResult, error) {
	if err := checkLimit(maxSessionProfiles, "session profiles", func(n int) (int, error) {
		list, err := e.Tx.SessionProfiles().List("", n)
		return len(list), err
	}); err != nil {
		return CreateSessionProfileResult{}, err
	}
	if _, err := endOf(e.Now, p.ExpirationSeconds); err != nil {
		return CreateSessionProfileResult{}, err
	}
	profile := &domain.SessionProfile{
		ID: e.NewID(), Name: p.SessionProfileName, Scope: p.Scope, Notes: p.Notes,
		ExpirationSeconds: uint64(p.ExpirationSeconds), CreatedAt: e.Now,
	}
	return CreateSessionProfileResult{SessionProfileID: profile.ID}, e.Tx.SessionProfiles().Insert(profile)
}
