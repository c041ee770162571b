package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
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

// OauthParams are the parameters of oauth.
type OauthParams struct {
	OidcToken          string        `json:"oidcToken" check:"required,max=16384,secret" doc:"Token of the issuer, whose nonce is the hex SHA-256 of targetPublicKey's text."`
	TargetPublicKey    string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	APIKeyName         string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; Oauth - and the time when absent."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the key lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"Delete the user's other keys of this kind."`
}

// OauthResult is the result of oauth.
type OauthResult struct {
	UserID           string `json:"userId" check:"required,uuid" doc:"The user."`
	APIKeyID         string `json:"apiKeyId" check:"required,uuid" doc:"Id of the key."`
	CredentialBundle string `json:"credentialBundle" check:"required,secret" doc:"The private key, sealed to targetPublicKey."`
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
