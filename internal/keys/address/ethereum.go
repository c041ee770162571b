package address

import (
	"encoding/hex"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"golang.org/x/crypto/sha3"
)

// keccak256 is the hash of Ethereum and Tron, which is older than SHA-3 and
// pads otherwise.
func keccak256(data []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(data)
	return h.Sum(nil)
}

// keccakAccount is the end of the hash of both coordinates, without the tag of
// SEC1 (Ethereum yellow paper, appendix F).
func keccakAccount(point *secp256k1.PublicKey) []byte {
	hash := keccak256(point.SerializeUncompressed()[1:])
	return hash[len(hash)-accountSize:]
}

// ethereum writes the account in the mixed case of EIP-55: a letter is upper
// case when the same digit of the hash of the lower-case text is 8 or more.
func ethereum(k key) (string, error) {
	text := []byte(hex.EncodeToString(keccakAccount(k.point)))
	hash := keccak256(text)
	for i, digit := range text {
		nibble := hash[i/2] >> 4
		if i%2 == 1 {
			nibble = hash[i/2] & 0xf
		}
		if digit >= 'a' && nibble >= 8 {
			text[i] = digit - 'a' + 'A'
		}
	}
	return "0x" + string(text), nil
}
