// Package stamp reads the signature that a request carries in a header, and
// checks it over the exact bytes of the request's body.
//
// A stamp says which key signed; whether anybody owns that key, and what the
// owner may do, is for others to ask. A stamp is therefore read first (Read),
// its key looked up, and then verified (Verifier). Nothing here knows a store.
//
// The package refuses everything that has more than one reading: two stamps,
// members that are repeated, unknown or missing, base64 with stray characters
// or bits. It never repairs and never guesses. Each refusal is a *fault.Error
// that says what is wrong and what would be right, and repeats no more than a
// few characters of what was sent.
//
// Invariants: a Stamp that Read returned is well-formed, and one key has one
// text in it (lower-case hex; base64url without padding); only bytes that were
// received are verified, never a re-encoding of them.
package stamp

import (
	"net/http"
	"strings"

	"latchkey/internal/curve"
	"latchkey/internal/fault"
)

// Scheme names how a stamp is signed, as the interface does.
type Scheme string

// The schemes. All but Webauthn are those of API keys.
const (
	P256            Scheme = "SIGNATURE_SCHEME_TK_API_P256"
	Secp256k1       Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1"
	Secp256k1EIP191 Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
	Ed25519         Scheme = "SIGNATURE_SCHEME_TK_API_ED25519"
	Webauthn        Scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN"
)

// Curve is the curve of the keys that sign by an API key's scheme; empty for
// every other text. Two schemes share secp256k1: its keys may use either.
func (s Scheme) Curve() curve.Curve {
	switch s {
	case P256:
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
)

// maxHeader bounds a header's value. The largest honest one is a passkey's with
// an RSA signature, of about 2 KiB.
const maxHeader = 8 << 10

// Stamp is a stamp as it was sent: well-formed, not yet verified.
type Stamp struct {
	Scheme       Scheme
	PublicKey    string // API keys: lower-case hex, as the key is stored; empty for passkeys
	CredentialID string // passkeys: base64url without padding; empty for API keys

	// Signature is what a vote stores. API keys: the hex signature as sent.
	// Passkeys: the whole stamp as compact JSON, since nothing less can be
	// checked later.
	Signature string

	signature []byte    // decoded
	passkey   assertion // passkeys only
}

// Read finds the one stamp in the headers. Exactly one of X-Stamp and
// X-Stamp-Webauthn must be present, once.
func Read(h http.Header) (*Stamp, error) {
	apiKey, webauthn := h.Values(HeaderAPIKey), h.Values(HeaderWebauthn)
	switch {
	case len(apiKey) > 0 && len(webauthn) > 0:
		return nil, invalid("malformed activity stamp: both %s and %s are present: send one of them", HeaderAPIKey, HeaderWebauthn)
	case len(apiKey) > 1:
		return nil, repeated(HeaderAPIKey, len(apiKey))
	case len(webauthn) > 1:
		return nil, repeated(HeaderWebauthn, len(webauthn))
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
	var others []string
	for _, name := range []string{"X-Stamp-Attested", "X-Session"} {
		if len(h.Values(name)) > 0 {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		message += ": " + strings.Join(others, " and ") + " is not supported: send X-Stamp or X-Stamp-Webauthn"
	}
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureMissing, "%s", message)
}

// invalid refuses a stamp that is there but no good.
func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.Unauthenticated, fault.ReasonSignatureInvalid, format, args...)
}
