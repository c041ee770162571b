package ops

import (
	"slices"

	"latchkey/internal/activity"
	"latchkey/internal/curve"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/schema"
)

// This file holds what several operations say about credentials.

// APIKeyParamsV2 describes an API key.
type APIKeyParamsV2 struct {
	APIKeyName        string        `json:"apiKeyName" check:"required,label" doc:"Human-readable name."`
	PublicKey         string        `json:"publicKey" check:"required,hex" doc:"Public key as hex: compressed for P-256 and secp256k1." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	CurveType         curve.Curve   `json:"curveType" check:"required" doc:"Curve of the key."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"Validity window in seconds; leave out for a key that does not expire."`
}

// APIKeyParams describes a P-256 API key, in older versions.
type APIKeyParams struct {
	APIKeyName        string        `json:"apiKeyName" check:"required,label" doc:"Human-readable name."`
	PublicKey         string        `json:"publicKey" check:"required,hex" doc:"Compressed P-256 public key as hex." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"Validity window in seconds; leave out for a key that does not expire."`
}

// Check refuses what is not a public key of the curve.
func (p *APIKeyParamsV2) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, p.CurveType, p.PublicKey)
}

// Check refuses what is not a public key of P-256.
func (p *APIKeyParams) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
}

// checkPublicKey returns the key in the form in which keys are compared.
func checkPublicKey(problems *schema.Problems, c curve.Curve, text string) string {
	key, err := curve.ParsePublicKey(c, text)
	if err != nil {
		problems.Add("publicKey", "%v", err)
		return text
	}
	return key.String()
}

// AuthenticatorParamsV2 describes a passkey.
type AuthenticatorParamsV2 struct {
	AuthenticatorName string            `json:"authenticatorName" check:"required,label" doc:"Human-readable name."`
	Challenge         string            `json:"challenge" check:"required,max=256" doc:"Challenge that was presented, base64url."`
	Attestation       AttestationParams `json:"attestation" check:"required" doc:"What the authenticator answered."`
}

// AttestationParams is the answer of an authenticator.
type AttestationParams struct {
	CredentialID      string      `json:"credentialId" check:"required,max=1024" doc:"Credential id, base64url."`
	ClientDataJSON    string      `json:"clientDataJson" check:"required" doc:"Client data, base64url."`
	AttestationObject string      `json:"attestationObject" check:"required" doc:"Attestation object, base64url."`
	Transports        []Transport `json:"transports" check:"required,max=10" doc:"How the authenticator can be reached."`
}

// AuthenticatorParams describes a passkey, in version 1.
type AuthenticatorParams struct {
	AuthenticatorName string              `json:"authenticatorName" check:"required,label" doc:"Human-readable name."`
	UserID            string              `json:"userId,omitzero" check:"uuid" doc:"User who gets the authenticator."`
	Challenge         string              `json:"challenge" check:"required,max=256" doc:"Challenge that was presented, base64url."`
	Attestation       PublicKeyCredential `json:"attestation" check:"required" doc:"What the authenticator answered."`
}

// PublicKeyCredential is the answer of an authenticator, in version 1.
type PublicKeyCredential struct {
	ID                      string                `json:"id" check:"required" doc:"Credential id, base64url."`
	Type                    string                `json:"type" check:"required,enum=public-key" doc:"Always public-key."`
	RawID                   string                `json:"rawId" check:"required" doc:"Credential id, base64url."`
	AuthenticatorAttachment string                `json:"authenticatorAttachment,omitzero" check:"enum=cross-platform|platform" doc:"How the authenticator is attached."`
	Response                AttestationResponse   `json:"response" check:"required" doc:"The answer itself."`
	ClientExtensionResults  ClientExtensionResult `json:"clientExtensionResults" check:"required" doc:"What extensions answered."`
}

// AttestationResponse is the inner part of a PublicKeyCredential.
type AttestationResponse struct {
	ClientDataJSON          string      `json:"clientDataJson" check:"required" doc:"Client data, base64url."`
	AttestationObject       string      `json:"attestationObject" check:"required" doc:"Attestation object, base64url."`
	Transports              []Transport `json:"transports,omitzero" check:"max=10" doc:"How the authenticator can be reached."`
	AuthenticatorAttachment string      `json:"authenticatorAttachment,omitzero" check:"enum=cross-platform|platform" doc:"How the authenticator is attached."`
}

// ClientExtensionResult is what extensions answered.
type ClientExtensionResult struct {
	AppID        bool             `json:"appid,omitzero" doc:"Whether the appid extension was used."`
	AppIDExclude bool             `json:"appidExclude,omitzero" doc:"Whether the appidExclude extension was used."`
	CredProps    *CredentialProps `json:"credProps,omitzero" doc:"Properties of the credential."`
}

// CredentialProps are properties of a passkey.
type CredentialProps struct {
	RK bool `json:"rk" doc:"Whether the credential is discoverable."`
}

// Transport is a way to reach an authenticator.
type Transport string

// Enum lists the transports for the schema.
func (Transport) Enum() []string {
	return []string{
		"AUTHENTICATOR_TRANSPORT_BLE", "AUTHENTICATOR_TRANSPORT_INTERNAL", "AUTHENTICATOR_TRANSPORT_NFC",
		"AUTHENTICATOR_TRANSPORT_USB", "AUTHENTICATOR_TRANSPORT_HYBRID",
	}
}

// OauthProviderParams names an identity at an OpenID provider, in version 1.
type OauthProviderParams struct {
	ProviderName string `json:"providerName" check:"required,label" doc:"Human-readable name."`
	OidcToken    string `json:"oidcToken" check:"required" doc:"Token of the provider."`
}

// OauthProviderParamsV2 names an identity at an OpenID provider.
type OauthProviderParamsV2 struct {
	ProviderName string      `json:"providerName" check:"required,label" doc:"Human-readable name."`
	OidcToken    string      `json:"oidcToken,omitzero" doc:"Token of the provider."`
	OidcClaims   *OidcClaims `json:"oidcClaims,omitzero" doc:"Claims, beside a token for the same identity."`
}

// OidcClaims identify somebody at an OpenID provider.
type OidcClaims struct {
	Issuer   string `json:"iss" check:"required" doc:"Issuer."`
	Subject  string `json:"sub" check:"required" doc:"Subject."`
	Audience string `json:"aud" check:"required" doc:"Audience."`
}

// addAPIKey gives the user a key and returns its id.
func addAPIKey(e activity.Env, u *domain.User, p APIKeyParamsV2) (string, error) {
	key := domain.APIKey{
		ID: e.NewID(), Name: p.APIKeyName, PublicKey: p.PublicKey, Type: domain.APIKeyType(p.CurveType),
		ExpirationSeconds: uint64(p.ExpirationSeconds), CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if key.Expires() {
		makeRoom(e, u)
	} else if limit := e.Limits.LongLivedAPIKeys; limit > 0 && countKeys(u, false) >= limit {
		return "", fault.Exhausted("user has exceeded maximum long-lived api keys (%d); delete one first", limit)
	}
	u.APIKeys = append(u.APIKeys, key)
	u.UpdatedAt = e.Now
	return key.ID, nil
}

// makeRoom lets a further expiring key in: it drops an expired one if there is
// any, else the oldest.
func makeRoom(e activity.Env, u *domain.User) {
	for e.Limits.ExpiringAPIKeys > 0 && countKeys(u, true) >= e.Limits.ExpiringAPIKeys {
		drop := slices.IndexFunc(u.APIKeys, func(k domain.APIKey) bool { return k.Expired(e.Now) })
		if drop < 0 {
			drop = slices.IndexFunc(u.APIKeys, domain.APIKey.Expires)
		}
		u.APIKeys = slices.Delete(u.APIKeys, drop, drop+1)
	}
}

func countKeys(u *domain.User, expiring bool) int {
	var n int
	for _, k := range u.APIKeys {
		if k.Expires() == expiring {
			n++
		}
	}
	return n
}
