package domain

import (
	"fmt"
	"time"
)

// VerifiedBy is what is kept of a verification token in place of a credential.
type VerifiedBy struct {
	TokenID   string    `json:"tokenId"`
	ExpiresAt time.Time `json:"expiresAt"` // in whole milliseconds, as the token says
	Type      OTPType   `json:"type"`
	Contact   string    `json:"contact"` // that it proves
}

// TokenUse is one use of a token that serves once for each kind of use. It is
// kept until the token has expired.
type TokenUse struct {
	TokenID   string    `json:"tokenId"`
	ExpiresAt time.Time `json:"expiresAt"`
	Kind      UseKind   `json:"kind"`
}

// UseKind is what a token is used for.
type UseKind string

// The kinds of use that count. Looking accounts up does not.
const (
	UseLogin  UseKind = "login"
	UseSignup UseKind = "sign-up"
	UseUpdate UseKind = "change of a contact"
	UseFactor UseKind = "further factor"
)

// ID names the use. Those of tokens that end earlier come first.
func (u *TokenUse) ID() string {
	return fmt.Sprintf("%015d %s %s", u.ExpiresAt.UnixMilli(), u.TokenID, u.Kind)
}
