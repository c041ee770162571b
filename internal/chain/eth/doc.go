// Package eth reads what an Ethereum key is asked to sign: unsigned
// transactions, EIP-712 typed data and EIP-7702 authorizations. It says which
// 32 bytes must be signed and puts a signature into a transaction. It holds no
// secret and does not sign.
//
// A transaction has one accepted encoding: [Parse] writes the fields it found
// again and refuses the input if a byte differs. So the fields that a policy
// reads are exactly what the digest covers.
//
// Every error is safe to show to the client that sent the bytes.
package eth

import (
	"encoding/hex"

	"golang.org/x/crypto/sha3"
)

// Address is an account or contract.
type Address [20]byte

// String is the address in lower-case hex with 0x.
func (a Address) String() string { return "0x" + hex.EncodeToString(a[:]) }

func keccak(parts ...[]byte) (sum [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(sum[:0])
	return sum
}
