package ops

import (
	"context"

	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of init_otp_auth, whose codes log in by themselves.
var (
	InitOTPAuth = activity.Op[InitOTPAuthParams, InitOTPResult]{
		Spec: initOTPAuthSpec(1, ""),
		Exec: func(_ context.Context, e activity.Env, p *InitOTPAuthParams) (InitOTPResult, error) {
			return initOTPAuth(e, p.newest())
		},
	}
	InitOTPAuthV2 = activity.Op[InitOTPAuthParamsV2, InitOTPResult]{
		Spec:  initOTPAuthSpec(2, ""),
		Facts: func(f activity.Facts, p *InitOTPAuthParamsV2) error { return otpFacts(f, &p.CodeParams) },
		Exec: func(_ context.Context, e activity.Env, p *InitOTPAuthParamsV2) (InitOTPResult, error) {
			return initOTPAuth(e, p.newest())
		},
	}
	InitOTPAuthV3 = activity.Op[InitOTPParamsV2, InitOTPResult]{
		Spec:  initOTPAuthSpec(3, "initOtpAuthResultV2"),
		Facts: func(f activity.Facts, p *InitOTPParamsV2) error { return otpFacts(f, &p.CodeParams) },
		Exec: func(_ context.Context, e activity.Env, p *InitOTPParamsV2) (InitOTPResult, error) {
			return initOTPAuth(e, p)
		},
	}
)

func initOTPAuthSpec(version int, resultKey string) activity.Spec {
	return activity.Spec{
		Name: "init_otp_auth", Version: version, ResultKey: resultKey,
		Summary: "Send a user a one-time code to log in with.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	}
}

// InitOTPAuthParams are the parameters of version 1. Its codes have nine
// letters and digits.
type InitOTPAuthParams struct {
	Recipient
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How a mail looks."`
}

// Check refuses an invalid contact.
func (p *InitOTPAuthParams) Check(problems *schema.Problems) { p.checkContact(problems) }

// InitOTPAuthParamsV2 are the parameters of version 2.
type InitOTPAuthParamsV2 struct {
	CodeParams
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How a mail looks."`
}

// Check refuses an invalid contact.
func (p *InitOTPAuthParamsV2) Check(problems *schema.Problems) { p.checkContact(problems) }

func (p *InitOTPAuthParams) newest() *InitOTPParamsV2 {
	return (&InitOTPAuthParamsV2{CodeParams: CodeParams{Recipient: p.Recipient}, EmailCustomization: p.EmailCustomization}).newest()
}

func (p *InitOTPAuthParamsV2) newest() *InitOTPParamsV2 {
	newest := &InitOTPParamsV2{CodeParams: p.CodeParams}
	if c := p.EmailCustomization; c != nil {
		newest.AppName, newest.EmailCustomization = c.AppName, &EmailCustomizationV2{c.EmailLook}
	}
	return newest
}

func initOTPAuth(e activity.Env, p *InitOTPParamsV2) (InitOTPResult, error) {
	if err := requireFeature(e, p.OTPType.Feature()); err != nil {
		return InitOTPResult{}, err
	}
	if _, err := userWithContact(e.Tx, p.OTPType, p.Contact); err != nil {
		return InitOTPResult{}, err
	}
	otp, _, err := sendCode(e, &p.CodeParams, p.AppName, p.look(), true, false)
	if err != nil {
		return InitOTPResult{}, err
	}
	return InitOTPResult{OTPID: otp.ID}, nil
}

func otpFacts(f activity.Facts, p *CodeParams) error {
	length := fact.Int(int64(p.length()))
	f.Activity.Params.OTPLength = &length
	return nil
}
