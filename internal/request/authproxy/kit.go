package authproxy

import (
	"cmp"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// KitConfig is what the kit shows and does.
type KitConfig struct {
	EnabledProviders         []string       `json:"enabledProviders" doc:"Ways in which users sign up and log in."`
	SessionExpirationSeconds string         `json:"sessionExpirationSeconds" doc:"How long a login lasts."`
	OrganizationID           string         `json:"organizationId" doc:"Parent organization of the accounts."`
	OauthClientIDs           jsontext.Value `json:"oauthClientIds,omitzero" doc:"Client id at each site, by its name."`
	OauthRedirectURL         string         `json:"oauthRedirectUrl,omitzero" doc:"Where the sites send users back to."`
	OTPAlphanumeric          bool           `json:"otpAlphanumeric" doc:"Whether codes have letters."`
	OTPLength                string         `json:"otpLength" doc:"Length of a code."`
}

func (c *call) kitConfig(*Nothing) (KitConfig, error) {
	p := c.config
	reply := KitConfig{
		EnabledProviders: []string{}, SessionExpirationSeconds: strconv.Itoa(int(cmp.Or(p.SessionSeconds, 900))),
		OrganizationID: c.org.ID, OauthRedirectURL: p.OAuthRedirectURL,
		OTPAlphanumeric: p.OTPLetters, OTPLength: strconv.Itoa(int(c.codeLength())),
	}
	for _, m := range p.AllowedMethods {
		reply.EnabledProviders = append(reply.EnabledProviders, string(m))
	}
	if len(p.OAuthClientIDs) == 0 {
		return reply, nil
	}
	var err error
	reply.OauthClientIDs, err = json.Marshal(p.OAuthClientIDs, json.Deterministic(true))
	return reply, err
}

// clientParams has nothing to say: there is no captcha.
func (c *call) clientParams(*Nothing) (Nothing, error) { return Nothing{}, nil }
