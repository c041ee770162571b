package client

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// SignLogin proves to [Client.OTPLogin] that the user of a verification token
// holds the key that it is bound to, k. publicKey is the key that the login
// shall be for; it may be k's own.
func (k PrivateKey) SignLogin(verificationToken, publicKey string) (*ClientSignature, error) {
	type login struct {
		PublicKey string `json:"publicKey"`
	}
	return k.signUsage(verificationToken, func(tokenID string) any {
		return struct {
			Login   login  `json:"login"`
			TokenID string `json:"tokenId"`
			Type    string `json:"type"`
		}{login{publicKey}, tokenID, "USAGE_TYPE_LOGIN"}
	})
}

// SignSignup proves the same to [Client.CreateSubOrganization], for the root
// user whose contact the token proves: no other credential can then take the
// place of the user's.
func (k PrivateKey) SignSignup(verificationToken string, user RootUserParameters) (*ClientSignature, error) {
	type signup struct {
		Email          string                    `json:"email,omitzero"`
		PhoneNumber    string                    `json:"phoneNumber,omitzero"`
		APIKeys        []APIKeyParameters        `json:"apiKeys,omitzero"`
		Authenticators []AuthenticatorParameters `json:"authenticators,omitzero"`
		OAuthProviders []OAuthProviderParameters `json:"oauthProviders,omitzero"`
	}
	return k.signUsage(verificationToken, func(tokenID string) any {
		return struct {
			Signup  signup `json:"signupV2"`
			TokenID string `json:"tokenId"`
			Type    string `json:"type"`
		}{
			signup{user.UserEmail, user.UserPhoneNumber, user.APIKeys, user.Authenticators, user.OAuthProviders},
			tokenID, "USAGE_TYPE_SIGNUP",
		}
	})
}

func (k PrivateKey) signUsage(token string, message func(tokenID string) any) (*ClientSignature, error) {
	if k.curve != P256 {
		return nil, fmt.Errorf("a verification token is bound to a key on p256, and this one is on %q", string(k.curve))
	}
	id, err := tokenID(token)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(message(id))
	if err != nil {
		return nil, fmt.Errorf("signing the use of a token: %w", err)
	}
	digest := sha256.Sum256(text)
	r, s, err := ecdsa.Sign(rand.Reader, k.secret.p256, digest[:])
	if err != nil {
		return nil, fmt.Errorf("signing the use of a token: %w", err)
	}
	both := make([]byte, 64)
	r.FillBytes(both[:32])
	s.FillBytes(both[32:])
	return &ClientSignature{
		PublicKey: k.public, Scheme: ClientSignatureSchemeAPIP256,
		Message: string(text), Signature: hex.EncodeToString(both),
	}, nil
}

// tokenID reads the id of a verification token. The server checks the token;
// here it is only named.
func tokenID(token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("the verification token is not a JWT")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", errors.New("the verification token is not a JWT")
	}
	var claims struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.ID == "" {
		return "", errors.New("the verification token has no id")
	}
	return claims.ID, nil
}
