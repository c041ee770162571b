package token

import (
	"fmt"
	"time"
)

// IdentitySigner is the key of the issuer that the server is.
type IdentitySigner interface {
	IssuerPublicKey() (id string, point []byte, err error)
	SignIdentity(headerDotPayload []byte) (raw64 []byte, err error)
}

// Identity says who a user is at another site. It is a token of OpenID Connect:
// package oidc verifies it, of this issuer as of others.
type Identity struct {
	Issuer, Audience, Subject, Nonce string
	IssuedAt, ExpiresAt              time.Time
	// EncryptedBearer is a token of the other site, encrypted; empty: there is none.
	EncryptedBearer string
}

// WriteIdentity signs an identity. Like those of logins, its payload can be read
// as plain base64.
func WriteIdentity(s IdentitySigner, i Identity) (string, error) {
	id, _, err := s.IssuerPublicKey()
	if err != nil {
		return "", err
	}
	header := fmt.Sprintf(`{"alg":"ES256","typ":"JWT","kid":%s}`, plain(id))
	bearer := ""
	if i.EncryptedBearer != "" {
		bearer = `,"encrypted_bearer_token":` + plain(i.EncryptedBearer)
	}
	payload := fmt.Sprintf(`{"iss":%s,"aud":%s,"sub":%s,"nonce":%s,"iat":%d,"exp":%d%s}`,
		plain(i.Issuer), plain(i.Audience), plain(i.Subject), plain(i.Nonce), i.IssuedAt.Unix(), i.ExpiresAt.Unix(), bearer)
	return write(s.SignIdentity, header, payload)
}
