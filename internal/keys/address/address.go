// Package address writes the address of a public key in each of the 38 formats
// that the interface knows. It handles public keys only: no function here takes
// or returns a secret, and it derives nothing from a seed.
//
// It refuses a key that is not a valid point of its curve, and a curve that the
// format does not allow, so that no address is ever shown that no one can spend
// from. It does not read addresses back: an address is looked up by its text
// (see Key), never decoded.
//
// Invariants: one format, curve and key always have the same address, which is
// ASCII; Of succeeds exactly for the curves that Format.Curves lists; and the
// address that Of returns is in the canonical spelling of its chain.
package address

import (
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/keys/curve"
)

// Of returns the address of a public key. The key is a compressed point (33
// bytes, SEC1) on secp256k1, or the 32 bytes of RFC 8032 on Ed25519.
func Of(f Format, c curve.KeyCurve, publicKey []byte) (string, error) {
	text, _, err := WithFull(f, c, publicKey)
	return text, err
}

// WithFull is [Of], and also returns the key with both coordinates, which had to be
// found for the address: see [curve.Uncompressed].
func WithFull(f Format, c curve.KeyCurve, publicKey []byte) (text string, full []byte, err error) {
	r, known := find(f)
	if !known {
		return "", nil, fmt.Errorf("address format %.60q is not supported: use one that begins with %s, such as %s", f, prefix, Ethereum)
	}
	if !slices.Contains(r.curves, c) {
		return "", nil, fmt.Errorf("%s does not go with the curve %.40q: use %s", f, c, join(r.curves))
	}
	k, err := parse(c, publicKey)
	if err != nil {
		return "", nil, err
	}
	text, err = r.encode(k)
	return text, k.full(), err
}

// All is every address that the key has, one for each format of its curve; nil
// when the key is none.
func All(c curve.KeyCurve, publicKey []byte) []string {
	k, err := parse(c, publicKey)
	if err != nil {
		return nil
	}
	var all []string
	for _, r := range table {
		if !slices.Contains(r.curves, c) {
			continue
		}
		if text, err := r.encode(k); err == nil {
			all = append(all, text)
		}
	}
	return all
}

// Equal reports whether two addresses of one format name the same account, as
// the interface compares them: Ethereum addresses without regard to case, all
// others exactly.
func Equal(f Format, a, b string) bool {
	if f == Ethereum {
		return Key(a) == Key(b)
	}
	return a == b
}

// Key returns the text under which an address is stored for lookup: whatever
// looks like an Ethereum address in lower case, since EIP-55 lets the case of
// its digits carry a checksum and clients send it with and without; everything
// else as it is. No other format's address is 0x and 40 hex digits, so that
// the lower case cannot make two accounts of different formats meet.
func Key(address string) string {
	digits, found := strings.CutPrefix(address, "0x")
	if !found || len(digits) != 2*accountSize || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return address
	}
	return strings.ToLower(address)
}

func join(curves []curve.KeyCurve) string {
	names := make([]string, len(curves))
	for i, c := range curves {
		names[i] = string(c)
	}
	return strings.Join(names, " or ")
}
