package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// StampLogin logs in the user who stamps the request.
var StampLogin = activity.Op[StampLoginParams, LoginResult]{
	Spec: activity.Spec{
		Name: "stamp_login", Version: 1,
		Summary: "Log in with any credential: register a key of the client for a while.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{FindsChild: true, ByAttestation: true},
	},
	OwnUser: func(*StampLoginParams) string { return activity.Submitter },
	Facts:   func(f activity.Facts, p *StampLoginParams) error { return p.sessionFacts(f) },
	Adds:    func(p *StampLoginParams) decide.Added { return addedLogin(p.ExpirationSeconds) },
	Exec: func(_ context.Context, e activity.Env, p *StampLoginParams) (LoginResult, error) {
		profile, err := p.find(e.Tx)
		if err != nil {
			return LoginResult{}, err
		}
		if err := useAttestation(e); err != nil {
			return LoginResult{}, err
		}
		return loginWith(e, e.UserID, newKey{
			publicKey: p.PublicKey, seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting, profile: profile,
		})
	},
}

// useAttestation uses up the verification token that stood for a credential, if
// one did, and marks the contact that it proves.
func useAttestation(e activity.Env) error {
	v := e.VerifiedBy
	if v == nil {
		return nil
	}
	if err := useVerification(e, v, domain.UseLogin); err != nil {
		return err
	}
	return e.Tx.Users().Edit(e.UserID, func(u *domain.User) error {
		if !u.HasContact(v.Type, v.Contact) {
			return fault.Invalid("invalid verification token: the user no longer has the contact that it proves")
		}
		u.Verified(v.Type)
		return nil
	})
}

// StampLoginParams are the parameters of stamp_login.
type StampLoginParams struct {
	PublicKey          string        `json:"publicKey" check:"required,hex" doc:"Compressed P-256 public key of the client." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the login lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"End the user's other logins."`
	SessionProfile
}

// Check refuses what is not a public key of P-256.
func (p *StampLoginParams) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
}
