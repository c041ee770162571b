package domain

import (
	"slices"
	"strings"
	"time"
)

// AuthProxy is how pages without a back end sign users up and log them in: what
// the organization lets its auth proxy do, and the key by which the proxy acts.
// It is no user of the organization, and no operation on users reaches it.
type AuthProxy struct {
	ConfigID string `json:"configId"`
	Enabled  bool   `json:"enabled"`
	// UserID, KeyID and PublicKey are by what the votes of the proxy are known.
	// Its key is derived of UserID by the server.
	UserID    string `json:"userId"`
	KeyID     string `json:"keyId"`
	PublicKey string `json:"publicKey"`

	AllowedOrigins []string     `json:"allowedOrigins"` // one may be *, for all
	AllowedMethods []AuthMethod `json:"allowedMethods"`

	// How codes, tokens and sessions are; 0 is what each operation does by itself.
	OTPSeconds     int32 `json:"otpSeconds,omitzero"`
	OTPLength      int32 `json:"otpLength,omitzero"`
	OTPLetters     bool  `json:"otpLetters,omitzero"`
	TokenSeconds   int32 `json:"tokenSeconds,omitzero"`
	SessionSeconds int32 `json:"sessionSeconds,omitzero"`

	// How messages look.
	AppName           string `json:"appName,omitzero"`
	LogoURL           string `json:"logoUrl,omitzero"`
	MagicLinkTemplate string `json:"magicLinkTemplate,omitzero"`
	TemplateVariables string `json:"templateVariables,omitzero"`
	SMSTemplate       string `json:"smsTemplate,omitzero"`
	FromAddress       string `json:"fromAddress,omitzero"`
	FromName          string `json:"fromName,omitzero"`
	ReplyTo           string `json:"replyTo,omitzero"`

	OAuthClientIDs   map[string]string `json:"oauthClientIds,omitzero"` // by provider
	OAuthRedirectURL string            `json:"oauthRedirectUrl,omitzero"`
	// ContactsNeedToken says that an account is found by an e-mail address or a
	// phone number only with a token that proves that very contact.
	ContactsNeedToken bool `json:"contactsNeedToken,omitzero"`

	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// AuthMethod is a way to sign up and log in, as the published kit names it.
type AuthMethod string

// The methods that are checked. Those of [SocialMethods] are logins at other
// sites, all of which come as OpenID Connect tokens.
const (
	MethodEmail   AuthMethod = "email"
	MethodSMS     AuthMethod = "sms"
	MethodPasskey AuthMethod = "passkey"
	MethodWallet  AuthMethod = "wallet"
)

// SocialMethods are the logins at other sites that the kit has buttons for.
func SocialMethods() []AuthMethod { return []AuthMethod{"google", "apple", "facebook", "x", "discord"} }

// AuthMethods lists all methods.
func AuthMethods() []AuthMethod {
	return append([]AuthMethod{MethodEmail, MethodSMS, MethodPasskey, MethodWallet}, SocialMethods()...)
}

// Allows reports whether the organization lets users in by one of the methods.
func (p *AuthProxy) Allows(methods ...AuthMethod) bool {
	return slices.ContainsFunc(methods, func(m AuthMethod) bool { return slices.Contains(p.AllowedMethods, m) })
}

// AllowsAllOrigins reports whether pages of all origins may call the proxy, and
// callers that are no pages.
func (p *AuthProxy) AllowsAllOrigins() bool { return slices.Contains(p.AllowedOrigins, "*") }

// AllowsOrigin reports whether a page of the origin may call the proxy.
func (p *AuthProxy) AllowsOrigin(origin string) bool {
	return p.AllowsAllOrigins() || slices.Contains(p.AllowedOrigins, strings.ToLower(origin))
}

// User is the proxy as votes show it.
func (p *AuthProxy) User() *User {
	return &User{
		ID: p.UserID, Name: "Auth proxy", CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
		APIKeys: []APIKey{{
			ID: p.KeyID, Name: "Auth proxy", PublicKey: p.PublicKey, Type: CredentialAuthProxy,
			CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt,
		}},
	}
}

// AuthProxyUser is the organization's auth proxy, if it is enabled and has the
// id; nil: it has not.
func (o *Organization) AuthProxyUser(id string) *User {
	if o.AuthProxy == nil || !o.AuthProxy.Enabled || o.AuthProxy.UserID != id {
		return nil
	}
	return o.AuthProxy.User()
}
