package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// OAuth logs a user in by a token of an OpenID Connect issuer, with a key that
// the server makes.
var OAuth = activity.Op[OauthParams, OauthResult]{
	Spec: activity.Spec{
		Name: "oauth", Version: 1,
		Summary: "Log in by an OIDC token: make an API key that expires, sealed to a key of the client.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	},
	Tokens: func(p *OauthParams) []string { return []string{p.OidcToken} },
	Exec:   oauth,
}

// OAuthLogin is the same with a key that the client made.
var OAuthLogin = activity.Op[OauthLoginParams, LoginResult]{
	Spec: activity.Spec{
		Name: "oauth_login", Version: 1,
		Summary: "Log in by an OIDC token: register a key of the client for a while.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{ByParent: true},
	},
	Tokens: func(p *OauthLoginParams) []string { return []string{p.OidcToken} },
	Facts:  func(f activity.Facts, p *OauthLoginParams) error { return p.sessionFacts(f) },
	Exec:   oauthLogin,
}

// OauthParams are the parameters of oauth.
type OauthParams struct {
	OidcToken          string        `json:"oidcToken" check:"required,max=16384" doc:"Token of the issuer, whose nonce is the hex SHA-256 of targetPublicKey's text."`
	TargetPublicKey    string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	APIKeyName         string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; Oauth - and the time when absent."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the key lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"Delete the user's other keys of this kind."`
}

// OauthResult is the result of oauth.
type OauthResult struct {
	UserID           string `json:"userId" check:"required,uuid" doc:"The user."`
	APIKeyID         string `json:"apiKeyId" check:"required,uuid" doc:"Id of the key."`
	CredentialBundle string `json:"credentialBundle" check:"required" doc:"The private key, sealed to targetPublicKey."`
}

// OauthLoginParams are the parameters of oauth_login.
type OauthLoginParams struct {
	OidcToken          string        `json:"oidcToken" check:"required,max=16384" doc:"Token of the issuer, whose nonce is the hex SHA-256 of publicKey's text."`
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

func oauth(_ context.Context, e activity.Env, p *OauthParams) (OauthResult, error) {
	user, err := userOfToken(e, p.OidcToken, p.TargetPublicKey)
	if err != nil {
		return OauthResult{}, err
	}
	id, bundle, _, err := sealedLogIn(e, user.ID, p.TargetPublicKey, newKey{
		kind: domain.CredentialOAuth, name: cmp.Or(p.APIKeyName, defaultName("Oauth", e)),
		seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting,
	})
	return OauthResult{UserID: user.ID, APIKeyID: id, CredentialBundle: bundle}, err
}

func oauthLogin(_ context.Context, e activity.Env, p *OauthLoginParams) (LoginResult, error) {
	if err := p.refuse(); err != nil {
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
	return loginWith(e, user.ID, key.String(), p.ExpirationSeconds, p.InvalidateExisting)
}

// userOfToken finds the user whom a verified token names, and checks that the
// token was issued for the key.
func userOfToken(e activity.Env, token, publicKey string) (*domain.User, error) {
	claims, ok := e.Claims[token]
	if !ok {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken, "invalid OIDC token: it was not verified")
	}
	if !claims.BoundTo(publicKey) {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken,
			"invalid OIDC token: its nonce is not the hex SHA-256 of the public key's text; ask the issuer for a token with that nonce")
	}
	user, err := e.Tx.Users().Find(store.ByCredential, domain.OAuthCredential(claims.OIDCSubject))
	if err == nil && user == nil {
		err = fault.New(fault.NotFound, fault.ReasonInvalidOIDCToken,
			"no user of the organization has an OAuth provider with the token's issuer, audience and subject")
	}
	return user, err
}
