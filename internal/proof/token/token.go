// Package token writes and reads the tokens that the server itself issues: the
// sessions that clients keep after a login, the proofs that a user receives what
// is sent to a contact, the sessions that may only read, and the identities that
// others read as tokens of an OpenID Connect issuer.
//
// All are signed by the server's keys, and each kind has its own header, so that
// none can be used as another. Reading one checks its form, its signature
// and its end, in this order, and reveals nothing else about it.
package token

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
)

// Signer is the server's keys.
type Signer interface {
	SignToken(headerDotPayload []byte) (raw64 []byte, err error)
	SignSession(headerDotPayload []byte) (raw64 []byte, err error)
}

// The headers. Clients check those of the first two.
const (
	loginHeader        = `{"alg":"ES256","typ":"JWT"}`
	verificationHeader = `{"typ":"JWT","alg":"ES256"}`
	sessionHeader      = `{"typ":"latchkey-session","alg":"ES256"}`
)

// Login is what a client keeps of a login: the user, and for how long its key
// is valid. It authenticates nothing; requests are stamped with the key.
type Login struct {
	ExpiresAt      time.Time
	PublicKey      string
	UserID         string
	OrganizationID string
	Profile        *domain.SessionProfile // nil: the session is not limited
}

// WriteLogin signs a login. Clients decode the payload with a reader of plain
// base64, so it must not need the two characters in which base64url differs:
// see plain.
func WriteLogin(s Signer, l Login) (string, error) {
	kind, profile := "SESSION_TYPE_READ_WRITE", ""
	if p := l.Profile; p != nil {
		kind, profile = p.Name, fmt.Sprintf(`,"session_profile_id":%s,"scope":%s`, plain(p.ID), plain(p.Scope))
	}
	payload := fmt.Sprintf(`{"exp":%d,"public_key":%s,"session_type":%s,"user_id":%s,"organization_id":%s%s}`,
		l.ExpiresAt.Unix(), plain(l.PublicKey), plain(kind), plain(l.UserID), plain(l.OrganizationID), profile)
	return write(s.SignSession, loginHeader, payload)
}

// Verification says that the holder of a key receives what is sent to a contact.
type Verification struct {
	ID             string
	OrganizationID string // in which the code was sent
	Type           domain.OTPType
	Contact        string
	PublicKey      string // empty: the token is bound to no key
	// InChildren says that it counts in the children of the organization, and not
	// in itself.
	InChildren bool
	ExpiresAt  time.Time
}

// VerifiedBy is what is kept of the token when it is used.
func (v *Verification) VerifiedBy() *domain.VerifiedBy {
	return &domain.VerifiedBy{TokenID: v.ID, ExpiresAt: v.ExpiresAt, Type: v.Type, Contact: v.Contact}
}

type verificationClaims struct {
	ExpiresAt      string `json:"exp"` // milliseconds
	ID             string `json:"id"`
	OrganizationID string `json:"organization_id"`
	Type           string `json:"verification_type"`
	Contact        string `json:"contact"`
	PublicKey      string `json:"public_key"`
	// ValidIn is an extension; empty: in the organization and its children.
	ValidIn string `json:"valid_in,omitzero"`
}

// inChildren is the one value of a token's valid_in.
const inChildren = "SUB_ORGANIZATIONS"

// WriteVerification signs a verification.
func WriteVerification(s Signer, v Verification) (string, error) {
	payload := fmt.Sprintf(`{"exp":"%d","id":%s,"organization_id":%s,"verification_type":%s,"contact":%s,"public_key":%s}`,
		v.ExpiresAt.UnixMilli(), plain(v.ID), plain(v.OrganizationID), plain(string(v.Type)), plain(v.Contact), plain(v.PublicKey))
	if v.InChildren {
		payload = strings.TrimSuffix(payload, "}") + fmt.Sprintf(`,"valid_in":%s}`, plain(inChildren))
	}
	return write(s.SignToken, verificationHeader, payload)
}

// ReadVerification reads a verification that the server signed.
func ReadVerification(signerKey, text string, now time.Time) (*Verification, error) {
	var claims verificationClaims
	if err := read(signerKey, verificationHeader, text, &claims); err != nil {
		return nil, fault.Invalid("invalid verification token: %v; verify a new code", err)
	}
	var ms int64
	if _, err := fmt.Sscanf(claims.ExpiresAt, "%d", &ms); err != nil {
		return nil, fault.Invalid("invalid verification token: it has no end; verify a new code")
	}
	v := &Verification{
		ID: claims.ID, OrganizationID: claims.OrganizationID, Type: domain.OTPType(claims.Type),
		Contact: claims.Contact, PublicKey: claims.PublicKey, ExpiresAt: time.UnixMilli(ms),
		InChildren: claims.ValidIn != "",
	}
	if !now.Before(v.ExpiresAt) {
		return nil, fault.Invalid("invalid verification token: it expired at %s; verify a new code", v.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return v, nil
}

// Session lets its holder read as a user, without signing.
type Session struct {
	OrganizationID string `json:"organizationId"`
	UserID         string `json:"userId"`
	// Credential is the key of the credential that opened the session. With
	// the credential ends the session.
	Credential string `json:"credential"`
	ExpiresAt  int64  `json:"exp"` // seconds
}

// WriteSession signs a session.
func WriteSession(s Signer, session Session) (string, error) {
	payload, err := json.Marshal(session)
	if err != nil {
		return "", err
	}
	return write(s.SignToken, sessionHeader, string(payload))
}

// ReadSession reads a session that the server signed.
func ReadSession(signerKey, text string, now time.Time) (*Session, error) {
	session := new(Session)
	if err := read(signerKey, sessionHeader, text, session); err != nil {
		return nil, fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid,
			"no valid authentication signature found for request: X-Session: %v; open a new one with create_read_only_session", err)
	}
	if now.Unix() >= session.ExpiresAt {
		return nil, fault.New(fault.Unauthenticated, fault.ReasonAPIKeyExpired,
			"the session in X-Session has expired; open a new one with create_read_only_session")
	}
	return session, nil
}

func write(sign func([]byte) ([]byte, error), header, payload string) (string, error) {
	text := encode([]byte(header)) + "." + encode([]byte(payload))
	signature, err := sign([]byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + encode(signature), nil
}

// maxToken bounds what is read; ours are below one kilobyte.
const maxToken = 4 << 10

func read(signerKey, header, text string, claims any) error {
	if len(text) > maxToken {
		return errors.New("it is too long")
	}
	signed, last, ok := cutLast(text)
	head, payload, two := strings.Cut(signed, ".")
	if !ok || !two || strings.Contains(payload, ".") || head != encode([]byte(header)) {
		return errors.New("it is not a token of this kind")
	}
	signature, err := decode(last)
	if err != nil || len(signature) != 64 {
		return errors.New("its signature must be 64 bytes in base64url")
	}
	key, err := curve.ParsePublicKey(curve.P256, compressed(signerKey))
	if err != nil {
		return err
	}
	if !key.VerifyDigest(sha256.Sum256([]byte(signed)), signature[:32], signature[32:]) {
		return errors.New("this server did not sign it")
	}
	raw, err := decode(payload)
	if err != nil {
		return errors.New("its payload is not base64url")
	}
	if err := json.Unmarshal(raw, claims, json.RejectUnknownMembers(true)); err != nil {
		return errors.New("its payload cannot be read")
	}
	return nil
}

func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func decode(text string) ([]byte, error) { return base64.RawURLEncoding.Strict().DecodeString(text) }

// compressed is an uncompressed P-256 key in hex as keys are parsed: the parity
// of y, and x.
func compressed(uncompressed string) string {
	if len(uncompressed) != 130 {
		return uncompressed
	}
	prefix := "02"
	if strings.ContainsRune("13579bdf", rune(uncompressed[129])) {
		prefix = "03"
	}
	return prefix + uncompressed[2:66]
}

// plain is a JSON string whose base64url has neither - nor _. A sextet of 62 or
// 63 can only come from >, ?, ~ and what is not printable ASCII, wherever in a
// triple they stand.
func plain(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r >= 0x10000:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case r < 0x20 || r > 0x7d || strings.ContainsRune(`"\>?`, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
