package record

import "latchkey/internal/domain"

// MfaPolicy demands several proofs of its user.
type MfaPolicy struct {
	MfaPolicyID                   string            `json:"mfaPolicyId" check:"required,uuid" doc:"Id of the multi-factor policy."`
	MfaPolicyName                 string            `json:"mfaPolicyName" check:"required" doc:"Its name."`
	Condition                     string            `json:"condition" check:"required" doc:"For what it demands them."`
	RequiredAuthenticationMethods []RequiredMethods `json:"requiredAuthenticationMethods" check:"required" doc:"Steps, all of which must be met."`
	Order                         int32             `json:"order" check:"required" doc:"The lowest is asked first."`
	Notes                         string            `json:"notes,omitzero" doc:"Human-readable notes."`
	CreatedAt                     Timestamp         `json:"createdAt" check:"required" doc:"When it was created."`
	UpdatedAt                     Timestamp         `json:"updatedAt" check:"required" doc:"When it was last changed."`
}

// RequiredMethods is a step of a multi-factor policy.
type RequiredMethods struct {
	Any []AuthenticationMethod `json:"any" check:"required" doc:"Methods, any one of which meets the step."`
}

// AuthenticationMethod is a way to prove who one is.
type AuthenticationMethod struct {
	Type domain.AuthenticationType `json:"type" check:"required" doc:"Kind of the proof."`
	ID   string                    `json:"id,omitzero" doc:"The API key, the passkey, the OpenID identity, or the profile of the session."`
}

// OfMfaPolicy renders a multi-factor policy.
func OfMfaPolicy(p domain.MFAPolicy) MfaPolicy {
	return MfaPolicy{
		MfaPolicyID: p.ID, MfaPolicyName: p.Name, Condition: p.Condition, Order: p.Order, Notes: p.Notes,
		RequiredAuthenticationMethods: Each(p.Steps, OfMFAStep), CreatedAt: Time(p.CreatedAt), UpdatedAt: Time(p.UpdatedAt),
	}
}

// OfMFAStep renders a step of a multi-factor policy.
func OfMFAStep(s domain.MFAStep) RequiredMethods {
	return RequiredMethods{Any: Each(s.Any, OfAuthenticationMethod)}
}

// OfAuthenticationMethod renders a way to prove who one is.
func OfAuthenticationMethod(m domain.AuthenticationMethod) AuthenticationMethod {
	return AuthenticationMethod{Type: m.Type, ID: m.ID}
}
