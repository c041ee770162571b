// Package record holds the records of the interface as clients read them, and
// makes them of what is stored. It decides nothing.
//
// Arrays are never null and every required member is always there: some
// clients refuse a whole reply for one of either.
package record

import (
	"encoding/base64"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/schema"
)

// Timestamp is a point in time. Both members are strings on the wire.
type Timestamp struct {
	Seconds string `json:"seconds" check:"required" doc:"Seconds since the Unix epoch."`
	Nanos   string `json:"nanos" check:"required" doc:"Nanoseconds within the second."`
}

// Time renders t.
func Time(t time.Time) Timestamp {
	var buffer [32]byte
	seconds := strconv.AppendInt(buffer[:0], t.Unix(), 10)
	both := string(strconv.AppendInt(seconds, int64(t.Nanosecond()), 10)) // one text for two members
	return Timestamp{Seconds: both[:len(seconds)], Nanos: both[len(seconds):]}
}

// Credential is the public part of an API key or authenticator.
type Credential struct {
	PublicKey string                `json:"publicKey" check:"required" doc:"Public key: hex for API keys, base64url of the COSE key for passkeys."`
	Type      domain.CredentialType `json:"type" check:"required" doc:"What the credential is."`
	// Of a login with a session profile.
	SessionProfileID string `json:"sessionProfileId,omitzero" doc:"Session profile that limits the credential; absent: it is not limited."`
}

// APIKey is an API key of a user.
type APIKey struct {
	Credential        Credential    `json:"credential" check:"required" doc:"The public key and its type."`
	APIKeyID          string        `json:"apiKeyId" check:"required,uuid" doc:"Id of the key."`
	APIKeyName        string        `json:"apiKeyName" check:"required" doc:"Human-readable name."`
	CreatedAt         Timestamp     `json:"createdAt" check:"required" doc:"When the key was added."`
	UpdatedAt         Timestamp     `json:"updatedAt" check:"required" doc:"When the key was last changed."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" doc:"Validity window in seconds; absent when the key does not expire."`
}

// Authenticator is a passkey of a user.
type Authenticator struct {
	Transports        []string   `json:"transports" check:"required" doc:"How the authenticator can be reached."`
	AttestationType   string     `json:"attestationType" check:"required" doc:"Format of the attestation."`
	AAGUID            string     `json:"aaguid" check:"required" doc:"Model identifier, base64url."`
	CredentialID      string     `json:"credentialId" check:"required" doc:"Credential id, base64url."`
	Model             string     `json:"model" check:"required" doc:"Model name."`
	Credential        Credential `json:"credential" check:"required" doc:"The public key and its type."`
	AuthenticatorID   string     `json:"authenticatorId" check:"required,uuid" doc:"Id of the authenticator."`
	AuthenticatorName string     `json:"authenticatorName" check:"required" doc:"Human-readable name."`
	CreatedAt         Timestamp  `json:"createdAt" check:"required" doc:"When the authenticator was added."`
	UpdatedAt         Timestamp  `json:"updatedAt" check:"required" doc:"When the authenticator was last changed."`
}

// OauthProvider is an identity at an OpenID provider.
type OauthProvider struct {
	ProviderID   string    `json:"providerId" check:"required,uuid" doc:"Id of the provider entry."`
	ProviderName string    `json:"providerName" check:"required" doc:"Human-readable name."`
	Issuer       string    `json:"issuer" check:"required" doc:"Issuer of the tokens."`
	Audience     string    `json:"audience" check:"required" doc:"Audience of the tokens."`
	Subject      string    `json:"subject" check:"required" doc:"Subject of the tokens."`
	CreatedAt    Timestamp `json:"createdAt" check:"required" doc:"When the provider was added."`
	UpdatedAt    Timestamp `json:"updatedAt" check:"required" doc:"When the provider was last changed."`
}

// User is a user with every credential.
type User struct {
	UserID          string          `json:"userId" check:"required,uuid" doc:"Id of the user."`
	UserName        string          `json:"userName" check:"required" doc:"Human-readable name."`
	UserEmail       string          `json:"userEmail,omitzero" doc:"E-mail address."`
	UserPhoneNumber string          `json:"userPhoneNumber,omitzero" doc:"Phone number in E.164 form."`
	Authenticators  []Authenticator `json:"authenticators" check:"required" doc:"Passkeys."`
	APIKeys         []APIKey        `json:"apiKeys" check:"required" doc:"API keys."`
	UserTags        []string        `json:"userTags" check:"required" doc:"Ids of the user's tags."`
	OauthProviders  []OauthProvider `json:"oauthProviders" check:"required" doc:"Identities at OpenID providers."`
	CreatedAt       Timestamp       `json:"createdAt" check:"required" doc:"When the user was created."`
	UpdatedAt       Timestamp       `json:"updatedAt" check:"required" doc:"When the user was last changed."`
	MfaPolicies     []MfaPolicy     `json:"mfaPolicies" check:"required" doc:"Demands for several credentials."`
}

// Tag is a tag.
type Tag struct {
	TagID     string         `json:"tagId" check:"required,uuid" doc:"Id of the tag."`
	TagName   string         `json:"tagName" check:"required" doc:"Human-readable name."`
	TagType   domain.TagType `json:"tagType" check:"required" doc:"What the tag marks."`
	CreatedAt Timestamp      `json:"createdAt" check:"required" doc:"When the tag was created."`
	UpdatedAt Timestamp      `json:"updatedAt" check:"required" doc:"When the tag was last changed."`
}

// OfAPIKey renders an API key.
func OfAPIKey(k domain.APIKey) APIKey {
	credential := Credential{PublicKey: k.PublicKey, Type: k.Type}
	if k.Scope != nil {
		credential.SessionProfileID = k.Scope.ProfileID
	}
	return APIKey{
		Credential: credential,
		APIKeyID:   k.ID, APIKeyName: k.Name,
		CreatedAt: Time(k.CreatedAt), UpdatedAt: Time(k.UpdatedAt),
		ExpirationSeconds: schema.Uint64(k.ExpirationSeconds),
	}
}

// OfAuthenticator renders a passkey.
func OfAuthenticator(a domain.Authenticator) Authenticator {
	return Authenticator{
		Transports: a.Transports, AttestationType: a.Attestation,
		AAGUID:       base64.RawURLEncoding.EncodeToString(a.AAGUID),
		CredentialID: a.CredentialID, Model: a.Model,
		Credential: Credential{
			PublicKey: base64.RawURLEncoding.EncodeToString(a.COSEKey),
			Type:      domain.CredentialAuthenticator,
		},
		AuthenticatorID: a.ID, AuthenticatorName: a.Name,
		CreatedAt: Time(a.CreatedAt), UpdatedAt: Time(a.UpdatedAt),
	}
}

// OfOauthProvider renders an identity.
func OfOauthProvider(p domain.OAuthProvider) OauthProvider {
	return OauthProvider{
		ProviderID: p.ID, ProviderName: p.Name,
		Issuer: p.Identity.Issuer, Audience: p.Identity.Audience, Subject: p.Identity.Subject,
		CreatedAt: Time(p.CreatedAt), UpdatedAt: Time(p.UpdatedAt),
	}
}

// OfUser renders a user.
func OfUser(u *domain.User) User {
	return User{
		UserID: u.ID, UserName: u.Name, UserEmail: u.Email, UserPhoneNumber: u.PhoneNumber,
		Authenticators: Each(u.Authenticators, OfAuthenticator), APIKeys: Each(u.APIKeys, OfAPIKey),
		UserTags:       append([]string{}, u.TagIDs...),
		OauthProviders: Each(u.OAuthProviders, OfOauthProvider),
		CreatedAt:      Time(u.CreatedAt), UpdatedAt: Time(u.UpdatedAt),
		MfaPolicies: Each(u.MFAPolicies, OfMfaPolicy),
	}
}

// OfTag renders a tag.
func OfTag(t *domain.Tag) Tag {
	return Tag{TagID: t.ID, TagName: t.Name, TagType: t.Type, CreatedAt: Time(t.CreatedAt), UpdatedAt: Time(t.UpdatedAt)}
}

// Each renders every element of a list.
func Each[T, R any](list []T, render func(T) R) []R {
	rendered := make([]R, len(list))
	for i, element := range list {
		rendered[i] = render(element)
	}
	return rendered
}
