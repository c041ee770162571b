package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of email_auth, which mails a user a key to log in with.
var (
	EmailAuth   = emailAuthOlder(1)
	EmailAuthV2 = emailAuthOlder(2)
	EmailAuthV3 = activity.Op[EmailAuthParamsV3, EmailAuthResult]{
		Spec: emailAuthSpec(3),
		Exec: func(_ context.Context, e activity.Env, p *EmailAuthParamsV3) (EmailAuthResult, error) {
			return emailAuth(e, &p.EmailAuthBase, p.EmailCustomization.AppName, p.EmailCustomization.EmailLook)
		},
	}
)

func emailAuthSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "email_auth", Version: version, ResultKey: "emailAuthResult",
		Summary: "Mail a user an API key that expires, sealed to a key of the client.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	}
}

func emailAuthOlder(version int) activity.Op[EmailAuthParams, EmailAuthResult] {
	return activity.Op[EmailAuthParams, EmailAuthResult]{
		Spec: emailAuthSpec(version),
		Exec: func(_ context.Context, e activity.Env, p *EmailAuthParams) (EmailAuthResult, error) {
			app, look := p.EmailCustomization.parts()
			return emailAuth(e, &p.EmailAuthBase, app, look)
		},
	}
}

// EmailAuthBase is what the versions have in common.
type EmailAuthBase struct {
	Email              string        `json:"email" check:"required,email" doc:"E-mail address of the user."`
	TargetPublicKey    string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	APIKeyName         string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; Email Auth - and the time when absent."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the key lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"Delete the user's other keys of this kind."`
	Sender
}

// EmailAuthParams are the parameters of the older versions.
type EmailAuthParams struct {
	EmailAuthBase
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How the mail looks."`
}

// EmailAuthParamsV3 are the parameters of email_auth.
type EmailAuthParamsV3 struct {
	EmailAuthBase
	EmailCustomization EmailAuthCustomization `json:"emailCustomization" check:"required" doc:"How the mail looks."`
}

// EmailAuthResult is the result of email_auth.
type EmailAuthResult struct {
	UserID   string `json:"userId" check:"required,uuid" doc:"The user."`
	APIKeyID string `json:"apiKeyId" check:"required,uuid" doc:"Id of the key, which is mailed."`
}

func emailAuth(e activity.Env, p *EmailAuthBase, app string, look EmailLook) (EmailAuthResult, error) {
	if err := requireFeature(e, domain.FeatureEmailAuth); err != nil {
		return EmailAuthResult{}, err
	}
	user, id, err := mailKey(e, p.Email, p.TargetPublicKey, newKey{
		kind: domain.CredentialEmailAuth, name: cmp.Or(p.APIKeyName, defaultName("Email Auth", e)),
		seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting,
	}, notify.Message{Kind: notify.EmailAuth, AppName: app}, p.Sender, look)
	return EmailAuthResult{UserID: user, APIKeyID: id}, err
}
