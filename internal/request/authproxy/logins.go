package authproxy

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// LoginBase is what all logins have in common.
type LoginBase struct {
	PublicKey          string `json:"publicKey" check:"required,hex,max=130" doc:"Compressed P-256 public key of the client."`
	InvalidateExisting bool   `json:"invalidateExisting,omitzero" doc:"End the user's other logins."`
	OrganizationID     string `json:"organizationId,omitzero" check:"uuid" doc:"Sub-organization of the user; it is looked up when absent."`
}

// OTPLoginRequest logs in by a proved contact.
type OTPLoginRequest struct {
	LoginBase
	VerificationToken string               `json:"verificationToken" check:"required,max=4096" doc:"Token of otp_verify."`
	ClientSignature   *ops.ClientSignature `json:"clientSignature,omitzero" doc:"Proof that the client holds the key that the token is bound to."`
}

// OTPLoginRequestV2 logs in by a proved contact.
type OTPLoginRequestV2 struct {
	LoginBase
	VerificationToken string              `json:"verificationToken" check:"required,max=4096" doc:"Token of otp_verify_v2."`
	ClientSignature   ops.ClientSignature `json:"clientSignature" check:"required" doc:"Proof that the client holds the key that the token is bound to."`
}

// OAuthLoginRequest logs in by a token of an OpenID Connect issuer.
type OAuthLoginRequest struct {
	LoginBase
	OidcToken string `json:"oidcToken" check:"required,max=16384" doc:"Token of the issuer, whose nonce is the hex SHA-256 of publicKey's text."`
}

// LoginReply is the reply of all logins.
type LoginReply struct {
	Session string `json:"session" doc:"Signed session, as a JWT."`
}

func (c *call) otpLogin(r *OTPLoginRequest) (LoginReply, error) {
	org, err := c.accountOfToken(r.OrganizationID, r.VerificationToken)
	if err != nil {
		return LoginReply{}, err
	}
	return submit[LoginReply](c, "ACTIVITY_TYPE_OTP_LOGIN", org, &ops.OTPLoginParams{
		OTPLoginBase: c.otpLoginBase(&r.LoginBase, r.VerificationToken), ClientSignature: r.ClientSignature,
	})
}

func (c *call) otpLoginV2(r *OTPLoginRequestV2) (LoginReply, error) {
	org, err := c.accountOfToken(r.OrganizationID, r.VerificationToken)
	if err != nil {
		return LoginReply{}, err
	}
	return submit[LoginReply](c, "ACTIVITY_TYPE_OTP_LOGIN_V2", org, &ops.OTPLoginParamsV2{
		OTPLoginBase: c.otpLoginBase(&r.LoginBase, r.VerificationToken), ClientSignature: r.ClientSignature,
	})
}

func (c *call) otpLoginBase(r *LoginBase, verificationToken string) ops.OTPLoginBase {
	return ops.OTPLoginBase{
		VerificationToken: verificationToken, PublicKey: r.PublicKey, InvalidateExisting: r.InvalidateExisting,
		ExpirationSeconds: schema.Uint64(c.config.SessionSeconds),
	}
}

func (c *call) oauthLogin(r *OAuthLoginRequest) (LoginReply, error) {
	if err := c.requireMethod(domain.SocialMethods()...); err != nil {
		return LoginReply{}, err
	}
	org := r.OrganizationID
	if org == "" {
		claims, err := c.claimsFilter(r.OidcToken)
		if err != nil {
			return LoginReply{}, err
		}
		if org, err = c.mustFind(claims); err != nil {
			return LoginReply{}, err
		}
	}
	return submit[LoginReply](c, "ACTIVITY_TYPE_OAUTH_LOGIN", org, &ops.OauthLoginParams{
		OidcToken: r.OidcToken, PublicKey: r.PublicKey, InvalidateExisting: r.InvalidateExisting,
		ExpirationSeconds: schema.Uint64(c.config.SessionSeconds),
	})
}

// accountOfToken is the organization that is given, or the one in which a user
// has the contact that the token proves.
func (c *call) accountOfToken(given, verificationToken string) (string, error) {
	v, err := token.ReadVerification(c.engine.ServerKeys.SignerPublicKey(), verificationToken, c.engine.Now())
	if err != nil {
		return "", err
	}
	filter, method := contactFilter(v.Type, v.Contact)
	if err := c.requireMethod(method); err != nil {
		return "", err
	}
	if given != "" {
		return given, nil
	}
	return c.mustFind(filter)
}

func contactFilter(t domain.OTPType, contact string) (ops.SuborgFilter, domain.AuthMethod) {
	if t == domain.OTPSMS {
		return ops.SuborgFilter{FilterType: filterPhone, FilterValue: contact}, domain.MethodSMS
	}
	return ops.SuborgFilter{FilterType: filterEmail, FilterValue: contact}, domain.MethodEmail
}

// claimsFilter finds whom a token names, without proof. Tokens are verified for
// accounts that exist, and not before: no stranger shall make the server fetch an
// address of their choice to be told that there is no account.
func (c *call) claimsFilter(oidcToken string) (ops.SuborgFilter, error) {
	if c.engine.Tokens == nil {
		return ops.SuborgFilter{}, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken,
			"invalid OIDC token: this server accepts no tokens of other issuers")
	}
	subject, err := c.engine.Tokens.Unverified(oidcToken)
	if err != nil {
		return ops.SuborgFilter{}, err
	}
	value, err := json.Marshal(subject)
	return ops.SuborgFilter{FilterType: "OIDC_CLAIMS", FilterValue: string(value)}, err
}

// mustFind finds the account, which must exist.
func (c *call) mustFind(filter ops.SuborgFilter) (string, error) {
	found, err := c.find(filter)
	if err == nil && found == "" {
		err = fault.Missing("no account has what this login proves; sign up first")
	}
	return found, err
}

// Nothing is what requests without parameters consist of.
type Nothing struct{}
