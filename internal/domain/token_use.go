package domain

import (
	"fmt"
	"time"
)

// VerifiedBy names a verification token: what is kept of one that was used.
type VerifiedBy struct {
	TokenID   string    `json:"tokenId"`
	ExpiresAt time.Time `json:"expiresAt"` // in whole milliseconds, as the token says
}

// TokenUse is one use of a token that serves once for each kind of use. It is
// kept until the token has expired.
type TokenUse struct {
	VerifiedBy
	Kind UseKind `json:"kind"`
}

// UseKind is what a token is used for.
type UseKind string

// The kinds of use that count. Looking accounts up does not.
const (
	UseLogin  UseKind = "login"
	UseSignup UseKind = "sign-up"
	UseUpdate UseKind = "change of a contact"
)

// ID names the use. Those of tokens that end earlier come first.
func (u *TokenUse) ID() string {
	return fmt.Sprintf("%015d %s %s", u.ExpiresAt.UnixMilli(), u.TokenID, u.Kind)
}
