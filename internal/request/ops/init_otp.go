package ops

import (
	"context"

	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of init_otp. From the third on the code comes back encrypted.
var (
	InitOTP = activity.Op[InitOTPParams, InitOTPResult]{
		Spec: initOTPSpec(1, ""),
		Exec: func(_ context.Context, e activity.Env, p *InitOTPParams) (InitOTPResult, error) {
			app, look := p.EmailCustomization.parts()
			return initOTP(e, &p.CodeParams, app, look)
		},
	}
	InitOTPV2 = activity.Op[InitOTPParamsV2, InitOTPResult]{
		Spec: initOTPSpec(2, "initOtpResult"),
		Exec: func(_ context.Context, e activity.Env, p *InitOTPParamsV2) (InitOTPResult, error) {
			return initOTP(e, &p.CodeParams, p.AppName, p.look())
		},
	}
	InitOTPV3 = activity.Op[InitOTPParamsV2, InitOTPResultV2]{
		Spec: initOTPSpec(3, "initOtpResultV2"),
		Exec: initOTPV3,
	}
)

func initOTPSpec(version int, resultKey string) activity.Spec {
	return activity.Spec{
		Name: "init_otp", Version: version, ResultKey: resultKey,
		Summary: "Send a one-time code to an e-mail address or a phone number.",
		Govern:  activity.Govern{Resource: activity.ResourceOTP, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true, AuthProxy: activity.AuthProxyAtHome},
	}
}

// InitOTPParams are the parameters of version 1.
type InitOTPParams struct {
	CodeParams
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How a mail looks."`
}

// Check refuses an invalid contact.
func (p *InitOTPParams) Check(problems *schema.Problems) { p.checkContact(problems) }

// InitOTPParamsV2 are the parameters of init_otp.
type InitOTPParamsV2 struct {
	CodeParams
	AppName            string                `json:"appName" check:"required,label" doc:"Name of the app, as the message shows it."`
	EmailCustomization *EmailCustomizationV2 `json:"emailCustomization,omitzero" doc:"How a mail looks."`
}

// Check refuses an invalid contact.
func (p *InitOTPParamsV2) Check(problems *schema.Problems) { p.checkContact(problems) }

func (p *InitOTPParamsV2) look() EmailLook {
	if p.EmailCustomization == nil {
		return EmailLook{}
	}
	return p.EmailCustomization.EmailLook
}

// InitOTPResult is the result of the older versions.
type InitOTPResult struct {
	OTPID string `json:"otpId" check:"required,uuid" doc:"Id of the code."`
}

// InitOTPResultV2 is the result of init_otp.
type InitOTPResultV2 struct {
	OTPID                     string `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	OTPEncryptionTargetBundle string `json:"otpEncryptionTargetBundle" check:"required" doc:"Signed key to which the code is encrypted on its way back."`
}

func initOTP(e activity.Env, p *CodeParams, app string, look EmailLook) (InitOTPResult, error) {
	if err := requireFeature(e, p.OTPType.Feature()); err != nil {
		return InitOTPResult{}, err
	}
	otp, _, err := sendCode(e, p, app, look, false, false)
	if err != nil {
		return InitOTPResult{}, err
	}
	return InitOTPResult{OTPID: otp.ID}, nil
}

func initOTPV3(_ context.Context, e activity.Env, p *InitOTPParamsV2) (InitOTPResultV2, error) {
	if err := requireFeature(e, p.OTPType.Feature()); err != nil {
		return InitOTPResultV2{}, err
	}
	otp, target, err := sendCode(e, &p.CodeParams, p.AppName, p.look(), false, true)
	if err != nil {
		return InitOTPResultV2{}, err
	}
	text, err := bundle.Target(e.ServerKeys, target, e.Tx.Org(), e.UserID)
	return InitOTPResultV2{OTPID: otp.ID, OTPEncryptionTargetBundle: text}, err
}
