package address

import (
	"crypto/sha3"
	"encoding/hex"

	"golang.org/x/crypto/blake2b"
)

// Sui and Aptos both come from Move and say in one byte which signature scheme
// a key is for; in both, zero is Ed25519. Sui puts it first, Aptos last.
const moveEd25519 = 0

func sui(k key) (string, error) {
	hash := blake2b.Sum256(append([]byte{moveEd25519}, k.raw...))
	return "0x" + hex.EncodeToString(hash[:]), nil
}

// aptos keeps leading zeros: AIP-40 makes the long form the one to display.
func aptos(k key) (string, error) {
	h := sha3.New256()
	h.Write(k.raw)
	h.Write([]byte{moveEd25519})
	return "0x" + hex.EncodeToString(h.Sum(nil)), nil
}
