package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/record"
)

// GetMfaStatus says how far multi-factor policies are met on an activity.
var GetMfaStatus = activity.Query[GetMfaStatusParams, GetMfaStatusReply]{
	Name:    "get_mfa_status",
	Summary: "Read which multi-factor policies apply to an activity, and which factors were given.",
	Access:  activity.Access{ByAttestation: true},
	Read:    getMfaStatus,
}

// GetMfaStatusParams are the parameters of get_mfa_status.
type GetMfaStatusParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	ActivityID     string `json:"activityId" check:"required,uuid" doc:"The activity."`
	UserID         string `json:"userId,omitzero" check:"uuid" doc:"Only of this user; of all when absent."`
}

// GetMfaStatusReply is the reply of get_mfa_status.
type GetMfaStatusReply struct {
	MfaStatuses []MfaStatus `json:"mfaStatuses" check:"required" doc:"Multi-factor policies that apply to the activity, of users who take part in it and of users to whom it gives access."`
}

// MfaStatus is how far one multi-factor policy is met.
type MfaStatus struct {
	MfaPolicyID      string                        `json:"mfaPolicyId" check:"required,uuid" doc:"The multi-factor policy."`
	UserID           string                        `json:"userId" check:"required,uuid" doc:"Its user."`
	Satisfied        bool                          `json:"satisfied" check:"required" doc:"Whether all steps are met."`
	SatisfiedMethods []record.AuthenticationMethod `json:"satisfiedMethods" check:"required" doc:"What was given for its steps."`
	RequiredMethods  []record.RequiredMethods      `json:"requiredMethods" check:"required" doc:"All of its steps."`
}

func getMfaStatus(_ context.Context, r activity.Reader, p *GetMfaStatusParams) (GetMfaStatusReply, error) {
	a, err := findActivity(r, p.ActivityID)
	if err != nil {
		return GetMfaStatusReply{}, err
	}
	now := r.Now
	if !a.Status.Waits() {
		now = a.UpdatedAt
	}
	var reply GetMfaStatusReply
	for _, d := range a.Demands {
		if p.UserID != "" && p.UserID != d.UserID {
			continue
		}
		user, err := r.User(d.UserID)
		if err != nil {
			return GetMfaStatusReply{}, err
		}
		if user == nil {
			continue
		}
		if demanded, ok := user.MFAPolicy(d.PolicyID); ok {
			reply.MfaStatuses = append(reply.MfaStatuses, mfaStatus(user, &demanded, decide.FactorsOf(user, a, now)))
		}
	}
	return reply, nil
}

func mfaStatus(u *domain.User, p *domain.MFAPolicy, given []domain.Factor) MfaStatus {
	with, met := p.Met(given)
	return MfaStatus{
		MfaPolicyID: p.ID, UserID: u.ID, Satisfied: met, SatisfiedMethods: record.Each(with, record.OfAuthenticationMethod),
		RequiredMethods: record.Each(p.Steps, record.OfMFAStep),
	}
}
