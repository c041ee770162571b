package ops

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// The versions of verify_otp. In the second the code comes encrypted, together
// with the key that the token is bound to.
var (
	VerifyOTP = activity.Op[VerifyOTPParams, VerifyOTPResult]{
		Spec: verifyOTPSpec(1),
		Exec: verifyOTP,
	}
	VerifyOTPV2 = activity.Op[VerifyOTPParamsV2, VerifyOTPResult]{
		Spec: verifyOTPSpec(2),
		Exec: verifyOTPV2,
	}
)

func verifyOTPSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "verify_otp", Version: version, ResultKey: "verifyOtpResult",
		Summary: "Verify a one-time code: get a token that proves the contact.",
		Govern:  activity.Govern{Resource: activity.ResourceOTP, Action: activity.ActionVerify},
		Access:  activity.Access{ByParent: true, AuthProxy: activity.AuthProxyAtHome},
	}
}

// VerifyOTPParams are the parameters of version 1.
type VerifyOTPParams struct {
	OTPID             string        `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	OTPCode           string        `json:"otpCode" check:"required,max=100,secret" doc:"The code."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1,max=86400" doc:"How long the token lasts; 3600 when absent."`
	PublicKey         string        `json:"publicKey,omitzero" check:"hex" doc:"Key that the token is bound to." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
}

// Check refuses what is not a public key of P-256.
func (p *VerifyOTPParams) Check(problems *schema.Problems) {
	if p.PublicKey != "" {
		p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
	}
}

// VerifyOTPParamsV2 are the parameters of verify_otp.
type VerifyOTPParamsV2 struct {
	OTPID              string        `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	EncryptedOTPBundle string        `json:"encryptedOtpBundle" check:"required,max=4096,secret" doc:"The code and the key that the token is bound to, encrypted to the key of init_otp."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1,max=86400" doc:"How long the token lasts; 3600 when absent."`
}

// VerifyOTPResult is the result of verify_otp.
type VerifyOTPResult struct {
	VerificationToken string `json:"verificationToken" check:"required,secret" doc:"Signed proof, as a JWT, that the caller reads what is sent to the contact."`
}

func verifyOTP(_ context.Context, e activity.Env, p *VerifyOTPParams) (VerifyOTPResult, error) {
	code := func(*domain.OTP) (string, error) { return p.OTPCode, nil }
	return withCode(e, p.OTPID, false, false, code, func(otp *domain.OTP) (VerifyOTPResult, error) {
		return writeVerification(e, otp, p.PublicKey, p.ExpirationSeconds)
	})
}

func verifyOTPV2(_ context.Context, e activity.Env, p *VerifyOTPParamsV2) (VerifyOTPResult, error) {
	var sent struct {
		Code      string `json:"otp_code"`
		PublicKey string `json:"public_key"`
	}
	code := func(o *domain.OTP) (string, error) {
		plain, err := e.Vault.OpenMessageBundle(o.ID, []byte(p.EncryptedOTPBundle))
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(plain, &sent); err != nil {
			return "", fault.Invalid(`encryptedOtpBundle must hold {"otp_code":"…","public_key":"…"}`)
		}
		return sent.Code, nil
	}
	return withCode(e, p.OTPID, false, true, code, func(otp *domain.OTP) (VerifyOTPResult, error) {
		key, err := curve.ParsePublicKey(curve.P256, strings.ToLower(sent.PublicKey))
		if err != nil {
			return VerifyOTPResult{}, fault.Invalid("encryptedOtpBundle: public_key: %v; the code is used up, ask for a new one", err)
		}
		return writeVerification(e, otp, key.String(), p.ExpirationSeconds)
	})
}

// writeVerification writes the token that proves the contact.
func writeVerification(e activity.Env, otp *domain.OTP, publicKey string, seconds schema.Uint64) (VerifyOTPResult, error) {
	if seconds == 0 {
		seconds = 3600
	}
	text, err := token.WriteVerification(e.ServerKeys, token.Verification{
		ID: e.NewID(), OrganizationID: e.Tx.Org(), Type: otp.Type, Contact: otp.Contact, PublicKey: publicKey,
		// The proxy sends a code to all who ask: that must not suffice to become a
		// user of the organization itself.
		InChildren: isAuthProxy(e),
		ExpiresAt:  e.Now.Add(time.Duration(seconds) * time.Second),
	})
	return VerifyOTPResult{VerificationToken: text}, err
}
