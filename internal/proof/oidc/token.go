package oidc

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"latchkey/internal/domain"
)

// maxToken bounds a token. Honest ones have one or two KiB.
const maxToken = 16 << 10

// leeway is how far an issuer's clock may be ahead of ours.
const leeway = time.Minute

// maxSubject is the limit of OpenID Connect Core 1.0, section 2.
const maxSubject = 255

// maxURL bounds the address of an issuer, which is stored with its users.
const maxURL = 512

// token is a token that is well-formed. It is not verified.
type token struct {
	text      string
	algorithm string
	keyID     string // empty: the token does not say which key signed it
	claims    domain.Claims

	issuedAt, notBefore time.Time // zero: not said
}

// parse reads a token in JWS compact form (RFC 7515, section 7.1). It accepts
// one text for one token: no padding, no white space, no stray bits.
func parse(text string) (*token, error) {
	switch parts := strings.Count(text, ".") + 1; {
	case text == "":
		return nil, errors.New("it is empty: send the JWT that the issuer gave")
	case len(text) > maxToken:
		return nil, fmt.Errorf("it has %d bytes: at most %d are read", len(text), maxToken)
	case parts == 5:
		return nil, errors.New("it is encrypted (five parts separated by dots): send a signed JWT, header.payload.signature")
	case parts != 3:
		return nil, fmt.Errorf("it has %d parts separated by dots: send the JWT as issued, header.payload.signature", parts)
	}
	header, rest, _ := strings.Cut(text, ".")
	payload, signature, _ := strings.Cut(rest, ".")

	t := &token{text: text}
	if err := t.readHeader(header); err != nil {
		return nil, err
	}
	if err := t.readPayload(payload); err != nil {
		return nil, err
	}
	if signature == "" {
		return nil, errors.New("it is unsigned: its third part is empty")
	}
	if _, err := fromBase64("signature", signature); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *token) readHeader(part string) error {
	header, err := readObject("header", part)
	if err != nil {
		return err
	}
	if t.algorithm, err = header.text("alg"); err != nil {
		return err
	}
	if strings.EqualFold(t.algorithm, "none") {
		return errors.New("it is unsigned (algorithm none): the issuer must sign it, with RS256 or ES256")
	}
	if _, ok := algorithms[t.algorithm]; !ok {
		return fmt.Errorf("algorithm %s is not accepted: the issuer must sign with %s", quote(t.algorithm), algorithmNames())
	}
	// RFC 7515, section 4.1.11: what must be understood and is not, is refused.
	// b64 would change what is signed (RFC 7797).
	for _, name := range []string{"crit", "b64"} {
		if _, ok := header.members[name]; ok {
			return fmt.Errorf("its header has %s, an extension that is not understood", name)
		}
	}
	// RFC 8725, section 3.11: such a type names another kind of token, like an
	// access token (at+jwt) or a logout token, whose holder need not be the user.
	kind, err := header.text("typ")
	if err != nil {
		return err
	}
	if strings.HasSuffix(strings.ToLower(kind), "+jwt") {
		return fmt.Errorf("it is of type %s: send the issuer's ID token", quote(kind))
	}
	t.keyID, err = header.text("kid")
	return err
}

func (t *token) readPayload(part string) error {
	payload, err := readObject("payload", part)
	if err != nil {
		return err
	}
	if t.claims.Issuer, err = payload.required("iss"); err != nil {
		return err
	}
	if t.claims.Subject, err = payload.required("sub"); err != nil {
		return err
	}
	if n := len(t.claims.Subject); n > maxSubject {
		return fmt.Errorf("claim sub has %d bytes: at most %d are allowed", n, maxSubject)
	}
	if t.claims.Audience, err = payload.audience(); err != nil {
		return err
	}
	if t.claims.Nonce, err = payload.text("nonce"); err != nil {
		return err
	}
	if t.claims.Nonce == "" {
		if t.claims.Nonce, err = payload.text("tknonce"); err != nil {
			return err
		}
	}
	if t.claims.ExpiresAt, err = payload.date("exp"); err != nil {
		return err
	}
	if t.claims.ExpiresAt.IsZero() {
		return errors.New("claim exp is missing: a token must expire")
	}
	if t.issuedAt, err = payload.date("iat"); err != nil {
		return err
	}
	if t.notBefore, err = payload.date("nbf"); err != nil {
		return err
	}
	// Users are found by them, in stores that cannot keep it.
	for name, text := range map[string]string{"iss": t.claims.Issuer, "sub": t.claims.Subject, "aud": t.claims.Audience} {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("claim %s must not contain the character U+0000", name)
		}
	}
	return nil
}

// checkTimes refuses a token that is no longer valid, or not yet.
func (t *token) checkTimes(now time.Time) error {
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	ahead := now.Add(leeway)
	switch {
	case !now.Before(t.claims.ExpiresAt):
		return fmt.Errorf("it expired at %s, and it is %s now: get a new one from the issuer", stamp(t.claims.ExpiresAt), stamp(now))
	case t.notBefore.After(ahead):
		return fmt.Errorf("it is not valid before %s (claim nbf), and it is %s now", stamp(t.notBefore), stamp(now))
	case t.issuedAt.After(ahead):
		return fmt.Errorf("it was issued at %s (claim iat), and it is only %s now", stamp(t.issuedAt), stamp(now))
	}
	return nil
}
