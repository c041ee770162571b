package domain

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"latchkey/internal/keys/curve"
)

// User is a person or a program, with every credential by which it
// authenticates. Credentials are part of the user, so that a user and its keys
// change together or not at all.
type User struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	Email          string          `json:"email,omitzero"`
	PhoneNumber    string          `json:"phoneNumber,omitzero"`
	EmailVerified  bool            `json:"emailVerified,omitzero"` // its owner entered a code that was sent to it
	PhoneVerified  bool            `json:"phoneVerified,omitzero"`
	APIKeys        []APIKey        `json:"apiKeys"`
	Authenticators []Authenticator `json:"authenticators"`
	OAuthProviders []OAuthProvider `json:"oauthProviders,omitzero"`
	MFAPolicies    []MFAPolicy     `json:"mfaPolicies,omitzero"` // in the order in which they are asked
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
	CredentialRecovery      CredentialType = "CREDENTIAL_TYPE_RECOVER_USER_KEY_P256"
	CredentialEmailAuth     CredentialType = "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256"
	CredentialOTPAuth       CredentialType = "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256"
	CredentialOAuth         CredentialType = "CREDENTIAL_TYPE_OAUTH_KEY_P256"
	CredentialReadWrite     CredentialType = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256"
	CredentialLogin         CredentialType = "CREDENTIAL_TYPE_LOGIN"
	// CredentialAuthProxy is the key of an auth proxy, which no user has.
	CredentialAuthProxy CredentialType = "CREDENTIAL_TYPE_AUTH_PROXY"
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
	IPAllowlist       *IPAllowlist   `json:"ipAllowlist,omitzero"`       // in place of the organization's; nil: that one
	Scope             *SessionScope  `json:"scope,omitzero"`             // of a login with a profile; nil: it may do all that its user may
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

// SecondsLeft is how long a key that expires is still valid.
func (k APIKey) SecondsLeft(now time.Time) uint64 {
	age := uint64(max(0, now.Sub(k.CreatedAt)) / time.Second)
	return k.ExpirationSeconds - min(age, k.ExpirationSeconds)
}

// Authenticator is a passkey.
type Authenticator struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	CredentialID string    `json:"credentialId"` // base64url of the raw id
	COSEKey      []byte    `json:"coseKey"`
	RPIDHash     []byte    `json:"rpIdHash"`
	Counter      uint32    `json:"counter"`       // the last that was seen
	Uses         [][]byte  `json:"uses,omitzero"` // SHA-256 of its last stamps, if it counts
	Transports   []string  `json:"transports"`
	Attestation  string    `json:"attestation"`
	AAGUID       []byte    `json:"aaguid"`
	Model        string    `json:"model"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// OAuthProvider is an identity at an OpenID Connect issuer that the user logs
// in with.
type OAuthProvider struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Identity  OIDCSubject `json:"identity"`
	CreatedAt time.Time   `json:"createdAt"`
	UpdatedAt time.Time   `json:"updatedAt"`
}

// OIDCSubject is a user as an OpenID Connect issuer names them to one audience.
// Only all three together identify a user.
type OIDCSubject struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
}

// Claims are what a verified token of an issuer says.
type Claims struct {
	OIDCSubject
	Nonce     string    `json:"nonce,omitzero"` // the claim nonce, or tknonce
	ExpiresAt time.Time `json:"exp"`
}

// NonceOf is what the nonce of a token must be that is bound to a public key:
// the hash of the key's text, as it was sent.
func NonceOf(publicKey string) string {
	sum := sha256.Sum256([]byte(publicKey))
	return hex.EncodeToString(sum[:])
}

// BoundTo reports whether the token was made for the public key: a stolen token
// cannot be used with another key.
func (c Claims) BoundTo(publicKey string) bool {
	return subtle.ConstantTimeCompare([]byte(c.Nonce), []byte(NonceOf(publicKey))) == 1
}

// CredentialKeys lists what identifies the user's credentials in a stamp.
// No two users of an organization share one.
func (u *User) CredentialKeys() []string {
	keys := make([]string, 0, len(u.APIKeys)+len(u.Authenticators)+len(u.OAuthProviders))
	for _, k := range u.APIKeys {
		keys = append(keys, APIKeyCredential(k.PublicKey))
	}
	for _, a := range u.Authenticators {
		keys = append(keys, PasskeyCredential(a.CredentialID))
	}
	for _, p := range u.OAuthProviders {
		keys = append(keys, OAuthCredential(p.Identity))
	}
	return keys
}

// DirectoryKeys are the keys by which the parent of the user's organization
// finds it.
func (u *User) DirectoryKeys() []string {
	keys := []string{ChildByUserName(u.Name)}
	if u.Email != "" {
		keys = append(keys, ChildByEmail(u.Email))
		if u.EmailVerified {
			keys = append(keys, ChildByVerified(ChildByEmail(u.Email)))
		}
	}
	if u.PhoneNumber != "" {
		keys = append(keys, ChildByPhone(u.PhoneNumber))
		if u.PhoneVerified {
			keys = append(keys, ChildByVerified(ChildByPhone(u.PhoneNumber)))
		}
	}
	if u.EmailVerified || u.PhoneVerified {
		keys = append(keys, ChildByVerified(AllChildren))
	}
	for _, key := range u.CredentialKeys() {
		keys = append(keys, ChildByCredential(key))
	}
	return keys
}

// NormalEmail is the form in which e-mail addresses are compared: the letters of
// ASCII in lower case. Other letters stay as they are, for some of them become
// letters of ASCII in lower case (U+212A, U+0130), and their address belongs to
// another mailbox.
func NormalEmail(email string) string {
	normal := []byte(email)
	for i, c := range normal { // in UTF-8 no byte of another letter is in the range
		if 'A' <= c && c <= 'Z' {
			normal[i] = c + 'a' - 'A'
		}
	}
	return string(normal)
}

// APIKeyCredential is the credential key of an API key.
func APIKeyCredential(publicKey string) string { return "api:" + publicKey }

// PasskeyCredential is the credential key of a passkey.
func PasskeyCredential(credentialID string) string { return "webauthn:" + credentialID }

// OAuthCredential is the credential key of an identity. The parts are hashed,
// each with its length: an issuer must not be able to choose a subject that
// reads like another one's.
func OAuthCredential(i OIDCSubject) string {
	h := sha256.New()
	for _, part := range []string{i.Issuer, i.Audience, i.Subject} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return "oidc:" + hex.EncodeToString(h.Sum(nil))
}

// APIKey finds one of the user's keys by its public key.
func (u *User) APIKey(publicKey string) (APIKey, bool) {
	if k := u.FindAPIKey(publicKey); k != nil {
		return *k, true
	}
	return APIKey{}, false
}

// FindAPIKey is APIKey without a copy; nil: there is none.
func (u *User) FindAPIKey(publicKey string) *APIKey {
	for i := range u.APIKeys {
		if k := &u.APIKeys[i]; k.PublicKey == publicKey {
			return k
		}
	}
	return nil
}

// Authenticator finds one of the user's passkeys by its credential id.
func (u *User) Authenticator(credentialID string) (Authenticator, bool) {
	if a := u.FindAuthenticator(credentialID); a != nil {
		return *a, true
	}
	return Authenticator{}, false
}

// FindAuthenticator is [User.Authenticator] for callers that change it; nil when
// there is none.
func (u *User) FindAuthenticator(credentialID string) *Authenticator {
	i := slices.IndexFunc(u.Authenticators, func(a Authenticator) bool { return a.CredentialID == credentialID })
	if i < 0 {
		return nil
	}
	return &u.Authenticators[i]
}

// HasContact reports whether the user has the e-mail address or phone number.
func (u *User) HasContact(t OTPType, contact string) bool {
	if contact == "" {
		return false
	}
	if t == OTPEmail {
		return NormalEmail(u.Email) == NormalEmail(contact)
	}
	return u.PhoneNumber == contact
}

// Contact is the user's e-mail address or phone number, as it is on record.
func (u *User) Contact(t OTPType) string {
	if t == OTPEmail {
		return u.Email
	}
	return u.PhoneNumber
}

// HasProved reports whether the user has the contact, and has proved it.
func (u *User) HasProved(t OTPType, contact string) bool {
	proved := u.PhoneVerified
	if t == OTPEmail {
		proved = u.EmailVerified
	}
	return proved && u.HasContact(t, contact)
}

// FindByContact finds the one user for whom a contact stands: nil for none, and
// an answer of several if it cannot be told which. A user who has proved the
// contact comes before those who only have it on record, for anyone's address
// can be written there.
func FindByContact(users []*User, t OTPType, contact string) (found *User, several bool) {
	for _, has := range []func(*User, OTPType, string) bool{(*User).HasProved, (*User).HasContact} {
		for _, u := range users {
			if !has(u, t, contact) {
				continue
			}
			if found != nil {
				return nil, true
			}
			found = u
		}
		if found != nil {
			return found, false
		}
	}
	return nil, false
}

// Verified marks a contact of the user's as verified.
func (u *User) Verified(t OTPType) {
	if t == OTPEmail {
		u.EmailVerified = true
	} else {
		u.PhoneVerified = true
	}
}

// CanLogIn reports whether the user has a lasting way to authenticate: a key
// without an end, a passkey, an OpenID Connect identity, or an address to which
// the organization sends codes. Without one they would be locked out, now or
// when their key expires.
func (u *User) CanLogIn(o *Organization) bool {
	lasting := slices.ContainsFunc(u.APIKeys, func(k APIKey) bool { return !k.Expires() })
	byMail := u.Email != "" && (o.HasFeature(FeatureEmailAuth) || o.HasFeature(FeatureOTPEmailAuth))
	byPhone := u.PhoneNumber != "" && o.HasFeature(FeatureSMSAuth)
	return lasting || len(u.Authenticators) > 0 || len(u.OAuthProviders) > 0 || byMail || byPhone
}

// Tag marks users or private keys, so that policies can name them as a group.
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
