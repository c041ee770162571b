package policy

import (
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/sha3"
)

// checksum checks a literal that is an Ethereum address in mixed case.
func (l *linter) checksum(n *node) {
	if isAddress(n.text) && mixed(n.text) && checksummed(n.text) != n.text {
		l.add(n, BadChecksum, "%s fails its EIP-55 checksum, so it probably has a typo; if it has none, write %s", n.text, checksummed(n.text))
	}
}

// isAddress reports whether the text is 0x and 40 hex digits.
func isAddress(text string) bool {
	digits, found := strings.CutPrefix(text, "0x")
	_, err := hex.DecodeString(digits)
	return found && err == nil && len(digits) == 40
}

// mixed reports whether the digits of an address have letters of both cases: only
// those carry a checksum.
func mixed(address string) bool {
	digits := address[2:]
	return strings.ToLower(digits) != digits && strings.ToUpper(digits) != digits
}

// checksummed is the address in the case that EIP-55 gives it.
func checksummed(address string) string {
	digits := []byte(strings.ToLower(address[2:]))
	h := sha3.NewLegacyKeccak256()
	h.Write(digits)
	sum := hex.EncodeToString(h.Sum(nil))
	for i, d := range digits {
		if d > '9' && sum[i] >= '8' {
			digits[i] = d - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}
