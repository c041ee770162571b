package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of init_user_email_recovery, which mails a user a key that can
// register a new passkey and do nothing else.
var (
	InitUserEmailRecovery = activity.Op[EmailRecoveryParams, EmailRecoveryResult]{
		Spec: emailRecoverySpec(1),
		Exec: func(_ context.Context, e activity.Env, p *EmailRecoveryParams) (EmailRecoveryResult, error) {
			app, look := p.EmailCustomization.parts()
			return initUserEmailRecovery(e, &p.EmailRecoveryBase, app, look)
		},
	}
	InitUserEmailRecoveryV2 = activity.Op[EmailRecoveryParamsV2, EmailRecoveryResult]{
		Spec: emailRecoverySpec(2),
		Exec: func(_ context.Context, e activity.Env, p *EmailRecoveryParamsV2) (EmailRecoveryResult, error) {
			return initUserEmailRecovery(e, &p.EmailRecoveryBase, p.EmailCustomization.AppName, p.EmailCustomization.EmailLook)
		},
	}
)

func emailRecoverySpec(version int) activity.Spec {
	return activity.Spec{
		Name: "init_user_email_recovery", Version: version, ResultKey: "initUserEmailRecoveryResult",
		Summary: "Begin to recover a user: mail them a key that can register a passkey.",
		Govern:  activity.Govern{Resource: activity.ResourceRecovery, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	}
}

// EmailRecoveryBase is what the versions have in common.
type EmailRecoveryBase struct {
	Email             string        `json:"email" check:"required,email" doc:"E-mail address of the user."`
	TargetPublicKey   string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the key lasts; 900 when absent."`
	Sender
}

// EmailRecoveryParams are the parameters of version 1.
type EmailRecoveryParams struct {
	EmailRecoveryBase
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How the mail looks."`
}

// EmailRecoveryParamsV2 are the parameters of init_user_email_recovery.
type EmailRecoveryParamsV2 struct {
	EmailRecoveryBase
	EmailCustomization EmailAuthCustomization `json:"emailCustomization" check:"required" doc:"How the mail looks."`
}

// EmailRecoveryResult is the result of init_user_email_recovery.
type EmailRecoveryResult struct {
	UserID string `json:"userId" check:"required,uuid" doc:"The user."`
}

func initUserEmailRecovery(e activity.Env, p *EmailRecoveryBase, app string, look EmailLook) (EmailRecoveryResult, error) {
	if err := requireFeature(e, domain.FeatureEmailRecovery); err != nil {
		return EmailRecoveryResult{}, err
	}
	// A new recovery ends the one before: only the newest mail counts.
	user, _, err := mailKey(e, p.Email, p.TargetPublicKey, newKey{
		kind: domain.CredentialRecovery, name: defaultName("Recovery", e), seconds: p.ExpirationSeconds, invalidate: true,
	}, notify.Message{Kind: notify.EmailRecovery, AppName: app}, p.Sender, look)
	return EmailRecoveryResult{UserID: user}, err
}
