package domain

import (
	"slices"
	"time"

	"latchkey/internal/curve"
)

// User is a person or a program, with every credential by which it proves
// itself. Credentials are part of the user, so that a user and its keys change
// together or not at all.
type User struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	Email          string          `json:"email,omitzero"`
	PhoneNumber    string          `json:"phoneNumber,omitzero"`
	APIKeys        []APIKey        `json:"apiKeys"`
	Authenticators []Authenticator `json:"authenticators"`
	TagIDs         []string        `json:"tagIds"`
	CreatedAt      time.Time       `json:"createdAt"`
	UpdatedAt      time.Time       `json:"updatedAt"`
}

// CredentialType says what a credential is and how it came to be.
type CredentialType string

// The credential types in use.
const (
	CredentialP256          CredentialType = "CREDENTIAL_TYPE_API_KEY_P256"
	CredentialSecp256k1     CredentialType = "CREDENTIAL_TYPE_API_KEY_SECP256K1"
	CredentialEd25519       CredentialType = "CREDENTIAL_TYPE_API_KEY_ED25519"
	CredentialAuthenticator CredentialType = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"
)

// APIKeyType is the type of an API key on a curve.
func APIKeyType(c curve.Curve) CredentialType {
	switch c {
	case curve.Secp256k1:
		return CredentialSecp256k1
	case curve.Ed25519:
		return CredentialEd25519
	default:
		return CredentialP256
	}
}

// Curve is the curve of the keys of this type. Every key that a login makes is
// on P-256.
func (t CredentialType) Curve() curve.Curve {
	switch t {
	case CredentialSecp256k1:
		return curve.Secp256k1
	case CredentialEd25519:
		return curve.Ed25519
	default:
		return curve.P256
	}
}

// APIKey is a public key whose owner may sign requests for the user.
type APIKey struct {
	ID                string         `json:"id"`
	Name              string         `json:"name"`
	PublicKey         string         `json:"publicKey"` // lower-case hex
	Type              CredentialType `json:"type"`
	ExpirationSeconds uint64         `json:"expirationSeconds,omitzero"` // 0: never expires
	CreatedAt         time.Time      `json:"createdAt"`
	UpdatedAt         time.Time      `json:"updatedAt"`
}

// Expires reports whether the key has an end.
func (k APIKey) Expires() bool { return k.ExpirationSeconds > 0 }

// Expired reports whether the key is past its end.
func (k APIKey) Expired(now time.Time) bool {
	if !k.Expires() {
		return false
	}
	// Compared in whole seconds since creation: the sum of a time and a huge
	// number of seconds would overflow into the past.
	age := now.Sub(k.CreatedAt)
	return age >= 0 && uint64(age/time.Second) >= k.ExpirationSeconds
}

// Authenticator is a passkey.
type Authenticator struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	CredentialID string    `json:"credentialId"` // base64url of the raw id
	COSEKey      []byte    `json:"coseKey"`
	RPIDHash     []byte    `json:"rpIdHash"`
	Counter      uint32    `json:"counter"`
	Transports   []string  `json:"transports"`
	Attestation  string    `json:"attestation"`
	AAGUID       []byte    `json:"aaguid"`
	Model        string    `json:"model"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// CredentialKeys lists what identifies the user's credentials in a stamp.
// No two users of an organization share one.
func (u *User) CredentialKeys() []string {
	keys := make([]string, 0, len(u.APIKeys)+len(u.Authenticators))
	for _, k := range u.APIKeys {
		keys = append(keys, APIKeyCredential(k.PublicKey))
	}
	for _, a := range u.Authenticators {
		keys = append(keys, PasskeyCredential(a.CredentialID))
	}
	return keys
}

// APIKeyCredential is the credential key of an API key.
func APIKeyCredential(publicKey string) string { return "api:" + publicKey }

// PasskeyCredential is the credential key of a passkey.
func PasskeyCredential(credentialID string) string { return "webauthn:" + credentialID }

// APIKey finds one of the user's keys by its public key.
func (u *User) APIKey(publicKey string) (APIKey, bool) {
	i := slices.IndexFunc(u.APIKeys, func(k APIKey) bool { return k.PublicKey == publicKey })
	if i < 0 {
		return APIKey{}, false
	}
	return u.APIKeys[i], true
}

// Authenticator finds one of the user's passkeys by its credential id.
func (u *User) Authenticator(credentialID string) (Authenticator, bool) {
	i := slices.IndexFunc(u.Authenticators, func(a Authenticator) bool { return a.CredentialID == credentialID })
	if i < 0 {
		return Authenticator{}, false
	}
	return u.Authenticators[i], true
}

// CanLogIn reports whether the user has a lasting way to prove himself: a key
// without an end, a passkey, or an address to which the organization sends
// codes. Without one he would be locked out, today or when his key expires.
func (u *User) CanLogIn(o *Organization) bool {
	lasting := slices.ContainsFunc(u.APIKeys, func(k APIKey) bool { return !k.Expires() })
	byMail := u.Email != "" && (o.HasFeature(FeatureEmailAuth) || o.HasFeature(FeatureOTPEmailAuth))
	byPhone := u.PhoneNumber != "" && o.HasFeature(FeatureSMSAuth)
	return lasting || len(u.Authenticators) > 0 || byMail || byPhone
}

// Tag marks users, so that policies can speak of them together.
type Tag struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Type      TagType   `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// TagType says what a tag marks.
type TagType string

// The types of tags.
const (
	TagUser       TagType = "TAG_TYPE_USER"
	TagPrivateKey TagType = "TAG_TYPE_PRIVATE_KEY"
)
