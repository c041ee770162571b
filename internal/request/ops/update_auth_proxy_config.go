package ops

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// UpdateAuthProxyConfig changes what the auth proxy does.
var UpdateAuthProxyConfig = activity.Op[UpdateAuthProxyConfigParams, UpdateAuthProxyConfigResult]{
	Spec: activity.Spec{
		Name: "update_auth_proxy_config", Version: 1,
		Summary: "Change the configuration of the auth proxy. What is left out stays as it is.",
		Govern:  activity.Govern{Resource: activity.ResourceAuthProxy, Action: activity.ActionUpdate},
	},
	Exec: updateAuthProxyConfig,
}

// UpdateAuthProxyConfigParams are the parameters of update_auth_proxy_config.
type UpdateAuthProxyConfigParams struct {
	AllowedOrigins     []string `json:"allowedOrigins,omitzero" check:"max=100,unique,each=max=256" doc:"Origins of the pages that may call the proxy, as browsers write them; * for all." example:"https://app.example.com"`
	AllowedAuthMethods []string `json:"allowedAuthMethods,omitzero" check:"max=20,unique,each=enum=email|sms|passkey|wallet|google|apple|facebook|x|discord" doc:"Ways in which users sign up and log in."`

	SendFromEmailAddress    *string `json:"sendFromEmailAddress,omitzero" check:"allowempty,email" doc:"Address that mails are from, if the operator's mail server lets it; empty for the operator's."`
	SendFromEmailSenderName *string `json:"sendFromEmailSenderName,omitzero" check:"allowempty,label" doc:"Name that mails are from; empty for the operator's."`
	ReplyToEmailAddress     *string `json:"replyToEmailAddress,omitzero" check:"allowempty,email" doc:"Address that answers go to; empty for none."`
	EmailAuthTemplateID     string  `json:"emailAuthTemplateId,omitzero" check:"max=256,unsampled" doc:"Name of a template of the hosted service. Templates are the operator's files here: leave it out."`
	OTPTemplateID           string  `json:"otpTemplateId,omitzero" check:"max=256,unsampled" doc:"The same, for messages with codes: leave it out."`

	EmailCustomizationParams *AuthProxyMail     `json:"emailCustomizationParams,omitzero" doc:"How mails look; replaces all of it."`
	SMSCustomizationParams   *SMSCustomization  `json:"smsCustomizationParams,omitzero" doc:"What short messages say."`
	WalletKitSettings        *WalletKitSettings `json:"walletKitSettings,omitzero" doc:"What pages are told about logins at other sites; replaces all of it."`

	OTPExpirationSeconds               int32 `json:"otpExpirationSeconds,omitzero" check:"min=1,max=600" doc:"How long a code lasts; 300 at first."`
	VerificationTokenExpirationSeconds int32 `json:"verificationTokenExpirationSeconds,omitzero" check:"min=1,max=86400" doc:"How long the proof of a contact lasts; 3600 at first."`
	SessionExpirationSeconds           int32 `json:"sessionExpirationSeconds,omitzero" check:"min=1" doc:"How long a login lasts; 900 at first."`
	OTPAlphanumeric                    *bool `json:"otpAlphanumeric,omitzero" doc:"Whether codes have letters; at first they have not."`
	OTPLength                          int32 `json:"otpLength,omitzero" check:"min=6,max=9" doc:"Length of a code; 6 at first."`

	VerificationTokenRequiredForGetAccountPii *bool    `json:"verificationTokenRequiredForGetAccountPii,omitzero" doc:"Whether an account is found by an e-mail address or a phone number only with a token that proves it."`
	SocialLinkingClientIDs                    []string `json:"socialLinkingClientIds,omitzero" check:"max=20,unsampled" doc:"Not served: accounts are not linked by an address that another site vouches for. Leave it out."`
	CaptchaEnabled                            *bool    `json:"captchaEnabled,omitzero" check:"unsampled" doc:"Not served: what bounds abuse is authProxy.limits of the operator. Leave it out, or false."`
}

// AuthProxyMail says how the proxy's mails look.
type AuthProxyMail struct {
	AppName string `json:"appName,omitzero" check:"label" doc:"Name of the app, as mails show it; the organization's when absent."`
	EmailLook
}

// Check refuses what cannot be shown.
func (c *AuthProxyMail) Check(problems *schema.Problems) { c.EmailLook.check(problems) }

// WalletKitSettings is what pages are told about logins at other sites.
type WalletKitSettings struct {
	EnabledSocialProviders []string       `json:"enabledSocialProviders,omitzero" check:"max=20,unique,each=enum=google|apple|facebook|x|discord" doc:"Sites to log in at, in place of those among the allowed methods."`
	OauthClientIDs         jsontext.Value `json:"oauthClientIds,omitzero" check:"object" doc:"Client id at each site, by its name." example:"{\"google\":\"1234.apps.example.com\"}"`
	OauthRedirectURL       string         `json:"oauthRedirectUrl,omitzero" check:"max=2000" doc:"Where the sites send users back to." example:"https://app.example.com/"`
}

// UpdateAuthProxyConfigResult is the result of update_auth_proxy_config.
type UpdateAuthProxyConfigResult struct {
	ConfigID string `json:"configId" check:"required,uuid" doc:"Id of the configuration."`
}

// Check refuses origins that no browser has, and what is not served.
func (p *UpdateAuthProxyConfigParams) Check(problems *schema.Problems) {
	if p.AllowedOrigins != nil && len(p.AllowedOrigins) == 0 {
		problems.Add("allowedOrigins", "must have one origin at least, or * for all; disable_auth_proxy refuses them all")
	}
	for i, origin := range p.AllowedOrigins {
		if problem := originProblem(origin); problem != "" || strings.HasPrefix(origin, "android:") {
			problems.Add(fmt.Sprintf("allowedOrigins.%d", i), "must be an origin as browsers write it: scheme, host and port only, "+
				"in lower case, without a slash at the end, such as https://app.example.com (http for localhost only); or * for all")
		}
	}
	for path, given := range map[string]bool{"emailAuthTemplateId": p.EmailAuthTemplateID != "", "otpTemplateId": p.OTPTemplateID != ""} {
		if given {
			problems.Add(path, "templates are files of the operator here; leave it out")
		}
	}
	if len(p.SocialLinkingClientIDs) > 0 {
		problems.Add("socialLinkingClientIds", "is not served: accounts are not linked by an address that another site vouches for; leave it out")
	}
	if p.CaptchaEnabled != nil && *p.CaptchaEnabled {
		problems.Add("captchaEnabled", "is not served: the operator's authProxy.limits bound abuse; leave it out, or false")
	}
}

// Check refuses what is no list of client ids, and no address.
func (s *WalletKitSettings) Check(problems *schema.Problems) {
	if _, ok := s.clientIDs(); !ok {
		problems.Add("oauthClientIds", "must have a text for each site: %s", strings.Join(methodNames(domain.SocialMethods()), ", "))
	}
	if at, err := url.Parse(s.OauthRedirectURL); s.OauthRedirectURL != "" && (err != nil || at.Scheme == "" || at.Host == "") {
		problems.Add("oauthRedirectUrl", "must be a URL such as https://app.example.com/")
	}
}

func (s *WalletKitSettings) clientIDs() (ids map[string]string, ok bool) {
	if len(s.OauthClientIDs) == 0 {
		return nil, true
	}
	if json.Unmarshal(s.OauthClientIDs, &ids) != nil {
		return nil, false
	}
	for site, id := range ids {
		if !slices.Contains(domain.SocialMethods(), domain.AuthMethod(site)) || id == "" || len(id) > 256 || strings.ContainsRune(id, 0) {
			return nil, false
		}
	}
	return ids, true
}

func methodNames(methods []domain.AuthMethod) []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = string(m)
	}
	return names
}

func updateAuthProxyConfig(_ context.Context, e activity.Env, p *UpdateAuthProxyConfigParams) (UpdateAuthProxyConfigResult, error) {
	known, err := authProxyOf(e)
	if err != nil {
		return UpdateAuthProxyConfigResult{}, err
	}
	_, err = editOrganization(e, func(o *domain.Organization) {
		p.apply(o.AuthProxy)
		o.AuthProxy.UpdatedAt = e.Now
	})
	return UpdateAuthProxyConfigResult{ConfigID: known.ConfigID}, err
}

// apply changes what is given.
func (p *UpdateAuthProxyConfigParams) apply(to *domain.AuthProxy) {
	if p.AllowedOrigins != nil {
		to.AllowedOrigins = p.AllowedOrigins
	}
	if p.AllowedAuthMethods != nil {
		to.AllowedMethods = authMethods(p.AllowedAuthMethods)
	}
	replace(&to.FromAddress, p.SendFromEmailAddress)
	replace(&to.FromName, p.SendFromEmailSenderName)
	replace(&to.ReplyTo, p.ReplyToEmailAddress)
	if c := p.EmailCustomizationParams; c != nil {
		to.AppName, to.LogoURL, to.MagicLinkTemplate, to.TemplateVariables = c.AppName, c.LogoURL, c.MagicLinkTemplate, c.TemplateVariables
	}
	if c := p.SMSCustomizationParams; c != nil {
		to.SMSTemplate = c.Template
	}
	if s := p.WalletKitSettings; s != nil {
		to.OAuthClientIDs, _ = s.clientIDs()
		to.OAuthRedirectURL = s.OauthRedirectURL
		if s.EnabledSocialProviders != nil {
			others := slices.DeleteFunc(slices.Clone(to.AllowedMethods), func(m domain.AuthMethod) bool {
				return slices.Contains(domain.SocialMethods(), m)
			})
			to.AllowedMethods = append(others, authMethods(s.EnabledSocialProviders)...)
		}
	}
	replaceNumber(&to.OTPSeconds, p.OTPExpirationSeconds)
	replaceNumber(&to.TokenSeconds, p.VerificationTokenExpirationSeconds)
	replaceNumber(&to.SessionSeconds, p.SessionExpirationSeconds)
	replaceNumber(&to.OTPLength, p.OTPLength)
	replace(&to.OTPLetters, p.OTPAlphanumeric)
	replace(&to.ContactsNeedToken, p.VerificationTokenRequiredForGetAccountPii)
}

func authMethods(names []string) []domain.AuthMethod {
	methods := make([]domain.AuthMethod, len(names))
	for i, name := range names {
		methods[i] = domain.AuthMethod(name)
	}
	return methods
}

// replace changes what is given.
func replace[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// replaceNumber changes what is given: 0 is nothing.
func replaceNumber(to *int32, given int32) {
	if given != 0 {
		*to = given
	}
}
