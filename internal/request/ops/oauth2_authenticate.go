package ops

import (
	"context"
	"crypto/ecdh"
	"encoding/hex"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// Oauth2Authenticate asks a provider of OAuth 2.0 who a user is, and says so in a
// token of this server.
var Oauth2Authenticate = activity.Op[OAuth2AuthenticateParams, OAuth2AuthenticateResult]{
	Spec: activity.Spec{
		Name: "oauth2_authenticate", Version: 1,
		Summary: "Exchange a code of an OAuth 2.0 provider for an OIDC token of this server, which serves to sign up and to log in.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
		Access:  activity.Access{AuthProxy: activity.AuthProxyAtHome},
	},
	Once: true,
	Exec: oauth2Authenticate,
}

// OAuth2AuthenticateParams are the parameters of oauth2_authenticate.
type OAuth2AuthenticateParams struct {
	Oauth2CredentialID         string `json:"oauth2CredentialId" check:"required,uuid" doc:"Credential by which the organization is known to the provider."`
	AuthCode                   string `json:"authCode" check:"required,max=4096,secret" doc:"Code that the provider gave the user."`
	RedirectURI                string `json:"redirectUri" check:"required,max=2048" doc:"Where the provider sent the user back to, exactly." example:"https://app.example.com/callback"`
	CodeVerifier               string `json:"codeVerifier" check:"required,max=128,secret" doc:"Verifier of PKCE, whose hash the login began with."`
	Nonce                      string `json:"nonce" check:"required,max=256" doc:"Nonce of the token: the hex SHA-256 of the text of the public key with which the user will log in." example:"1663bba492a323085b13895634a3618792c4ec6896f3c34ef3c26396df22ef82"`
	BearerTokenTargetPublicKey string `json:"bearerTokenTargetPublicKey,omitzero" check:"hex,max=130" doc:"P-256 public key; if it is given, the token that the provider issued is in the claim encrypted_bearer_token, encrypted to it." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
}

// Check refuses what is not a public key.
func (p *OAuth2AuthenticateParams) Check(problems *schema.Problems) {
	if p.BearerTokenTargetPublicKey != "" && !isPoint(p.BearerTokenTargetPublicKey) {
		problems.Add("bearerTokenTargetPublicKey", "must be a P-256 public key in hex: 65 bytes that begin with 04, or 33 that begin with 02 or 03")
	}
}

// isPoint reports whether a text is a point of P-256 in hex, compressed or not. It
// is asked before the code is used up.
func isPoint(text string) bool {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	if len(raw) == 65 {
		_, err = ecdh.P256().NewPublicKey(raw)
	} else {
		_, err = curve.ParsePublicKey(curve.P256, text)
	}
	return err == nil
}

// OAuth2AuthenticateResult is the result of oauth2_authenticate.
type OAuth2AuthenticateResult struct {
	OidcToken string `json:"oidcToken" check:"required,secret" doc:"Token of this server, good for ten minutes: its audience is the client id, its subject the user at the provider."`
}

// identityLifetime is how long a token of ours is good. It serves to log in at
// once.
const identityLifetime = 10 * time.Minute

func oauth2Authenticate(ctx context.Context, e activity.Env, p *OAuth2AuthenticateParams) (OAuth2AuthenticateResult, error) {
	credential, err := findOAuth2Credential(e.Tx, p.Oauth2CredentialID)
	if err != nil {
		return OAuth2AuthenticateResult{}, err
	}
	if e.OAuth2 == nil {
		return OAuth2AuthenticateResult{}, fault.New(fault.FailedPrecondition, fault.ReasonOAuth2Unconfigured,
			"this server issues no tokens: its operator must say under which address it is the issuer (oauth2.issuer)")
	}
	var identity *domain.OAuth2Identity
	err = e.Vault.UseClientSecret(credential.ID, func(secret []byte) (err error) {
		identity, err = e.OAuth2.Exchange(ctx, domain.OAuth2Code{
			Provider: credential.Provider, ClientID: credential.ClientID, ClientSecret: secret,
			Code: p.AuthCode, Verifier: p.CodeVerifier, RedirectURI: p.RedirectURI,
		})
		return err
	})
	if err != nil {
		return OAuth2AuthenticateResult{}, err
	}
	bearer, err := sealBearer(e, identity, p.BearerTokenTargetPublicKey)
	if err != nil {
		return OAuth2AuthenticateResult{}, err
	}
	text, err := token.WriteIdentity(e.ServerKeys, token.Identity{
		Issuer: e.OAuth2.Issuer(), Audience: credential.ClientID, Subject: identity.Subject, Nonce: p.Nonce,
		IssuedAt: e.Now, ExpiresAt: e.Now.Add(identityLifetime), EncryptedBearer: bearer,
	})
	return OAuth2AuthenticateResult{OidcToken: text}, err
}

// sealBearer seals the provider's token to a key, if there is one.
func sealBearer(e activity.Env, identity *domain.OAuth2Identity, publicKey string) (string, error) {
	if publicKey == "" {
		return "", nil
	}
	recipient, err := recipientKey(publicKey)
	if err != nil {
		return "", err
	}
	return e.Vault.SealBearer([]byte(identity.Bearer), recipient)
}
