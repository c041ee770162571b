package ops

import (
	"context"

	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// OAuthLogin logs a user in by a token of an OpenID Connect issuer, with a key
// that the client made.
var OAuthLogin = activity.Op[OauthLoginParams, LoginResult]{
	Spec: activity.Spec{
		Name: "oauth_login", Version: 1,
		Summary: "Log in by an OIDC token: register a key of the client for a while.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true, AuthProxy: activity.AuthProxyInChild},
	},
	Tokens: func(p *OauthLoginParams) []string { return []string{p.OidcToken} },
	Facts:  func(f activity.Facts, p *OauthLoginParams) error { return p.sessionFacts(f) },
	Exec:   oauthLogin,
}

// OauthLoginParams are the parameters of oauth_login.
type OauthLoginParams struct {
	OidcToken          string        `json:"oidcToken" check:"required,max=16384,secret" doc:"Token of the issuer, whose nonce is the hex SHA-256 of publicKey's text."`
	PublicKey          string        `json:"publicKey" check:"required,hex" doc:"Compressed P-256 public key of the client." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the login lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"End the user's other logins."`
	SessionProfile
}

// Check refuses what is not a public key of P-256. The text stays as it was
// sent: the token's nonce is made of it.
func (p *OauthLoginParams) Check(problems *schema.Problems) {
	checkPublicKey(problems, curve.P256, p.PublicKey)
}

func oauthLogin(_ context.Context, e activity.Env, p *OauthLoginParams) (LoginResult, error) {
	profile, err := p.find(e.Tx)
	if err != nil {
		return LoginResult{}, err
	}
	user, err := userOfToken(e, p.OidcToken, p.PublicKey)
	if err != nil {
		return LoginResult{}, err
	}
	key, err := curve.ParsePublicKey(curve.P256, p.PublicKey)
	if err != nil {
		return LoginResult{}, err
	}
	return loginWith(e, user.ID, newKey{publicKey: key.String(), seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting, profile: profile})
}
