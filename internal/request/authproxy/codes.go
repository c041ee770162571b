package authproxy

import (
	"cmp"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// InitRequest asks for a code.
type InitRequest struct {
	OTPType            domain.OTPType      `json:"otpType" check:"required" doc:"How the code is sent."`
	Contact            string              `json:"contact" check:"required,max=320" doc:"E-mail address or phone number (E.164)."`
	EmailCustomization *EmailCustomization `json:"emailCustomization,omitzero" doc:"How a mail looks."`
}

// EmailCustomization names a template.
type EmailCustomization struct {
	TemplateID string `json:"templateId,omitzero" check:"max=256" doc:"Name of a template of the hosted service: leave it out."`
}

// Check refuses a template, and an invalid contact.
func (r *InitRequest) Check(problems *schema.Problems) {
	if r.EmailCustomization != nil && r.EmailCustomization.TemplateID != "" {
		problems.Add("emailCustomization.templateId", "templates are files of the operator here; leave it out")
	}
	rule := schema.EmailProblem
	if r.OTPType == domain.OTPSMS {
		rule = schema.PhoneProblem
	}
	if problem := rule(r.Contact); problem != "" {
		problems.Add("contact", "%s", problem)
	}
}

// InitReply is the reply of otp_init.
type InitReply struct {
	OTPID string `json:"otpId" doc:"Id of the code."`
}

// InitReplyV2 is the reply of otp_init_v2.
type InitReplyV2 struct {
	OTPID                     string `json:"otpId" doc:"Id of the code."`
	OTPEncryptionTargetBundle string `json:"otpEncryptionTargetBundle" doc:"Signed key to which the code is encrypted on its way back."`
}

func (c *call) otpInit(r *InitRequest) (InitReply, error) {
	return sendCode[InitReply](c, "ACTIVITY_TYPE_INIT_OTP_V2", r)
}

func (c *call) otpInitV2(r *InitRequest) (InitReplyV2, error) {
	return sendCode[InitReplyV2](c, "ACTIVITY_TYPE_INIT_OTP_V3", r)
}

func sendCode[R any](c *call, activityType string, r *InitRequest) (reply R, err error) {
	method := domain.MethodEmail
	if r.OTPType == domain.OTPSMS {
		method = domain.MethodSMS
	}
	if err := c.requireMethod(method); err != nil {
		return reply, err
	}
	p := c.config
	letters := p.OTPLetters
	parameters := &ops.InitOTPParamsV2{
		CodeParams: ops.CodeParams{
			Recipient: ops.Recipient{
				OTPType: r.OTPType, Contact: r.Contact,
				Sender: ops.Sender{SendFromEmailAddress: p.FromAddress, SendFromEmailSenderName: p.FromName, ReplyToEmailAddress: p.ReplyTo},
			},
			OTPLength: c.codeLength(), Alphanumeric: &letters, ExpirationSeconds: schema.Uint64(p.OTPSeconds),
		},
		AppName: cmp.Or(p.AppName, c.org.Name),
		EmailCustomization: &ops.EmailCustomizationV2{EmailLook: ops.EmailLook{
			LogoURL: p.LogoURL, MagicLinkTemplate: p.MagicLinkTemplate, TemplateVariables: p.TemplateVariables,
		}},
	}
	if p.SMSTemplate != "" {
		parameters.SMSCustomization = &ops.SMSCustomization{Template: p.SMSTemplate}
	}
	return submit[R](c, activityType, c.org.ID, parameters)
}

// codeLength is 6 at first, which is what the kit has boxes for.
func (c *call) codeLength() int32 { return cmp.Or(c.config.OTPLength, 6) }

// requireMethod refuses a way in that the configuration does not allow.
func (c *call) requireMethod(accepted ...domain.AuthMethod) error {
	if c.config.Allows(accepted...) {
		return nil
	}
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"the auth proxy of this organization does not let users in by %s; update_auth_proxy_config sets allowedAuthMethods", methods(accepted))
}

func methods(accepted []domain.AuthMethod) string {
	if len(accepted) > 1 {
		return "a login at another site"
	}
	return string(accepted[0])
}

// VerifyRequest brings a code back.
type VerifyRequest struct {
	OTPID     string `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	OTPCode   string `json:"otpCode" check:"required,max=100" doc:"The code."`
	PublicKey string `json:"publicKey,omitzero" check:"hex,max=130" doc:"Key that the token is bound to."`
}

// VerifyRequestV2 brings a code back, encrypted.
type VerifyRequestV2 struct {
	OTPID              string `json:"otpId" check:"required,uuid" doc:"Id of the code."`
	EncryptedOTPBundle string `json:"encryptedOtpBundle" check:"required,max=4096" doc:"The code and the key that the token is bound to, encrypted."`
}

// VerifyReply is the reply of both.
type VerifyReply struct {
	VerificationToken string `json:"verificationToken" doc:"Proof that the caller reads what is sent to the contact."`
}

func (c *call) otpVerify(r *VerifyRequest) (VerifyReply, error) {
	return submit[VerifyReply](c, "ACTIVITY_TYPE_VERIFY_OTP", c.org.ID, &ops.VerifyOTPParams{
		OTPID: r.OTPID, OTPCode: r.OTPCode, PublicKey: r.PublicKey, ExpirationSeconds: schema.Uint64(c.config.TokenSeconds),
	})
}

func (c *call) otpVerifyV2(r *VerifyRequestV2) (VerifyReply, error) {
	return submit[VerifyReply](c, "ACTIVITY_TYPE_VERIFY_OTP_V2", c.org.ID, &ops.VerifyOTPParamsV2{
		OTPID: r.OTPID, EncryptedOTPBundle: r.EncryptedOTPBundle, ExpirationSeconds: schema.Uint64(c.config.TokenSeconds),
	})
}
