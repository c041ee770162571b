// Package stamp reads the signature that a request carries in a header, and
// checks it over the exact bytes of the request's body.
//
// A stamp says which key signed; whether a user owns that key, and what the
// owner may do, is for the caller to check. A stamp is therefore read first
// ([Read]), its key looked up, and then verified ([Verifier]). Nothing here
// knows a store.
//
// The package refuses everything that has more than one reading: two stamps,
// members that are repeated, unknown or missing, base64 with stray characters
// or bits. It never repairs and never guesses. Each refusal is a [*fault.Error]
// that says what is wrong and what would be right, and repeats no more than a
// few characters of what was sent.
//
// Invariants: a [Stamp] that [Read] returned is well-formed, and one key has one
// text in it (lower-case hex; base64url without padding); only bytes that were
// received are verified, never a re-encoding of them.
package stamp

import (
	"net/http"
	"strings"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
)

// Scheme names how a stamp is signed, as the interface does.
type Scheme string

// The schemes. All but [Webauthn] are those of API keys.
const (
	P256            Scheme = "SIGNATURE_SCHEME_TK_API_P256"
	Secp256k1       Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1"
	Secp256k1EIP191 Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
	Ed25519         Scheme = "SIGNATURE_SCHEME_TK_API_ED25519"
	Webauthn        Scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN"
	// The attested schemes are P-256 over the body, by a key that a token
	// names.
	AttestedToken Scheme = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN"
	AttestedOIDC  Scheme = "STAMP_ATTESTED_SCHEME_P256_OIDC"
)

// Curve is the curve of the keys that sign by an API key's scheme; empty for
// every other text. Two schemes share secp256k1: its keys may use either.
func (s Scheme) Curve() curve.Curve {
	switch s {
	case P256, AttestedToken, AttestedOIDC:
		return curve.P256
	case Secp256k1, Secp256k1EIP191:
		return curve.Secp256k1
	case Ed25519:
		return curve.Ed25519
	case Webauthn: // the algorithm is a property of the stored key
	}
	return ""
}

// The headers that carry a stamp, in their canonical spelling.
const (
	HeaderAPIKey   = "X-Stamp"
	HeaderWebauthn = "X-Stamp-Webauthn"
	HeaderAttested = "X-Stamp-Attested"
)

// maxHeader bounds a header's value. The largest honest ones are a passkey's
// with an RSA signature, of about 2 KiB, and a token with many claims.
const maxHeader = 8 << 10

// Stamp is a stamp as it was sent: well-formed, not yet verified.
type Stamp struct {
	Scheme       Scheme
	PublicKey    string // API keys: lower-case hex, as the key is stored; empty for passkeys
	CredentialID string // passkeys: base64url without padding; empty for API keys
	// Attestation is the token that says whose key it is; empty for keys that
	// the organization knows. SentKey is the key's text as it was sent, which
	// some tokens name by its hash.
	Attestation, SentKey string

	// Signature is what a vote stores. API keys: the hex signature as sent.
	// Passkeys: the whole stamp as compact JSON, since nothing less can be
	// checked later.
	Signature string

	signature []byte    // decoded
	passkey   assertion // passkeys only
}

// Read finds the one stamp in the headers. Exactly one of X-Stamp,
// X-Stamp-Webauthn and X-Stamp-Attested must be present, once.
func Read(h http.Header) (*Stamp, error) {
	apiKey, webauthn, attested := h.Values(HeaderAPIKey), h.Values(HeaderWebauthn), h.Values(HeaderAttested)
	var present []string
	for _, name := range []string{HeaderAPIKey, HeaderWebauthn, HeaderAttested} {
		if n := len(h.Values(name)); n > 0 {
			present = append(present, name)
			if n > 1 {
				return nil, repeated(name, n)
			}
		}
	}
	switch {
	case len(present) > 1:
		return nil, invalid("malformed activity stamp: both %s are present: send one of them", strings.Join(present, " and "))
	case len(attested) == 1:
		s, err := readAttested(attested[0])
		if err != nil {
			return nil, invalid("could not extract api key stamp: %v", err)
		}
		return s, nil
	case len(apiKey) == 1:
		s, err := readAPIKey(apiKey[0])
		if err != nil {
			return nil, invalid("could not extract api key stamp: %v", err)
		}
		return s, nil
	case len(webauthn) == 1:
		s, err := readWebauthn(webauthn[0])
		if err != nil {
			return nil, invalid("could not extract webauthn stamp: %v", err)
		}
		return s, nil
	}
	return nil, missing(h)
}

func repeated(header string, times int) error {
	return invalid("malformed activity stamp: %s is present %d times: send it once", header, times)
}

// missing says that there is no stamp, and why what is there instead is none.
func missing(h http.Header) error {
	message := "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)"
	if len(h.Values("X-Session")) > 0 {
		message += ": X-Session can only read: send X-Stamp or X-Stamp-Webauthn"
	}
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureMissing, "%s", message)
}

// invalid refuses a stamp that is present but invalid.
func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid, format, args...)
}
