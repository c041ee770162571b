package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// OTPAuth logs a user in by the code of init_otp_auth.
var OTPAuth = activity.Op[OTPAuthParams, OTPAuthResult]{
	Spec: activity.Spec{
		Name: "otp_auth", Version: 1,
		Summary: "Log in by a one-time code: make an API key that expires, sealed to a key of the client.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	},
	Exec: otpAuth,
}

// OTPAuthParams are the parameters of otp_auth.
type OTPAuthParams struct {
	OTPID              string        `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	OTPCode            string        `json:"otpCode" check:"required,max=100,secret" doc:"The code."`
	TargetPublicKey    string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	APIKeyName         string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; OTP Auth - and the time when absent."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the key lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"Delete the user's other keys of this kind."`
}

// OTPAuthResult is the result of otp_auth.
type OTPAuthResult struct {
	UserID           string `json:"userId" check:"required,uuid" doc:"The user."`
	APIKeyID         string `json:"apiKeyId" check:"required,uuid" doc:"Id of the key."`
	CredentialBundle string `json:"credentialBundle" check:"required,secret" doc:"The private key, sealed to targetPublicKey."`
}

func otpAuth(_ context.Context, e activity.Env, p *OTPAuthParams) (OTPAuthResult, error) {
	code := func(*domain.OTP) (string, error) { return p.OTPCode, nil }
	return withCode(e, p.OTPID, true, false, code, func(otp *domain.OTP) (OTPAuthResult, error) { return otpLogIn(e, p, otp) })
}

// otpLogIn logs in the user who was sent the code.
func otpLogIn(e activity.Env, p *OTPAuthParams, otp *domain.OTP) (OTPAuthResult, error) {
	if err := requireFeature(e, otp.Type.Feature()); err != nil {
		return OTPAuthResult{}, err
	}
	user, err := userWithContact(e.Tx, otp.Type, otp.Contact)
	if err != nil {
		return OTPAuthResult{}, err
	}
	err = e.Tx.Users().Edit(user.ID, func(u *domain.User) error { u.Verified(otp.Type); return nil })
	if err != nil {
		return OTPAuthResult{}, err
	}
	id, bundle, _, err := sealedLogIn(e, user.ID, p.TargetPublicKey, newKey{
		kind: domain.CredentialOTPAuth, name: cmp.Or(p.APIKeyName, defaultName("OTP Auth", e)),
		seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting,
	})
	return OTPAuthResult{UserID: user.ID, APIKeyID: id, CredentialBundle: bundle}, err
}
