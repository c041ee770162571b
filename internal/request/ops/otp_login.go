package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of otp_login. The second demands a signature by the key that
// the token is bound to.
var (
	OTPLogin = activity.Op[OTPLoginParams, LoginResult]{
		Spec:  otpLoginSpec(1),
		Facts: func(f activity.Facts, p *OTPLoginParams) error { return p.sessionFacts(f) },
		Exec: func(_ context.Context, e activity.Env, p *OTPLoginParams) (LoginResult, error) {
			return otpLogin(e, &p.OTPLoginBase, p.ClientSignature)
		},
	}
	OTPLoginV2 = activity.Op[OTPLoginParamsV2, LoginResult]{
		Spec:  otpLoginSpec(2),
		Facts: func(f activity.Facts, p *OTPLoginParamsV2) error { return p.sessionFacts(f) },
		Exec: func(_ context.Context, e activity.Env, p *OTPLoginParamsV2) (LoginResult, error) {
			return otpLogin(e, &p.OTPLoginBase, &p.ClientSignature)
		},
	}
)

func otpLoginSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "otp_login", Version: version, ResultKey: "otpLoginResult",
		Summary: "Log in by a verified contact: register a key of the client for a while.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true, AuthProxy: activity.AuthProxyInChild},
	}
}

// OTPLoginBase is what the versions have in common.
type OTPLoginBase struct {
	VerificationToken  string        `json:"verificationToken" check:"required,max=4096,secret" doc:"Token of verify_otp."`
	PublicKey          string        `json:"publicKey" check:"required,hex" doc:"Compressed P-256 public key of the client." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the login lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"End the user's other logins."`
	SessionProfile
}

// OTPLoginParams are the parameters of version 1.
type OTPLoginParams struct {
	OTPLoginBase
	ClientSignature *ClientSignature `json:"clientSignature,omitzero" doc:"Proof that the client holds the key that the token is bound to."`
}

// OTPLoginParamsV2 are the parameters of otp_login.
type OTPLoginParamsV2 struct {
	OTPLoginBase
	ClientSignature ClientSignature `json:"clientSignature" check:"required" doc:"Proof that the client holds the key that the token is bound to."`
}

// Check refuses what is not a public key of P-256.
func (p *OTPLoginParams) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
}

// Check refuses what is not a public key of P-256.
func (p *OTPLoginParamsV2) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
}

func otpLogin(e activity.Env, p *OTPLoginBase, signature *ClientSignature) (LoginResult, error) {
	profile, err := p.find(e.Tx)
	if err != nil {
		return LoginResult{}, err
	}
	v, err := readVerification(e, p.VerificationToken)
	if err != nil {
		return LoginResult{}, err
	}
	if err := requireFeature(e, v.Type.Feature()); err != nil {
		return LoginResult{}, err
	}
	switch {
	case signature != nil:
		message, err := signature.check(v, useLogin)
		if err != nil {
			return LoginResult{}, err
		}
		if message.Login == nil || message.Login.PublicKey != p.PublicKey {
			return LoginResult{}, fault.Invalid("invalid client signature: the message names another public key")
		}
	case v.PublicKey != "" && v.PublicKey != p.PublicKey:
		return LoginResult{}, fault.Invalid("the verification token is bound to another public key: log in with that one, or send a clientSignature")
	}
	user, err := userWithContact(e.Tx, v.Type, v.Contact)
	if err != nil {
		return LoginResult{}, err
	}
	if err := useVerification(e, v.VerifiedBy(), domain.UseLogin); err != nil {
		return LoginResult{}, err
	}
	err = e.Tx.Users().Edit(user.ID, func(u *domain.User) error { u.Verified(v.Type); return nil })
	if err != nil {
		return LoginResult{}, err
	}
	return loginWith(e, user.ID, newKey{publicKey: p.PublicKey, seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting, profile: profile})
}
