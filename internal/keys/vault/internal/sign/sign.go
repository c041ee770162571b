// Package sign makes the signatures of the vault and checks each one before
// it is returned, so that a faulty computation cannot give a key away: two
// signatures with one nonce, one of them wrong, are enough to compute the key.
//
// ECDSA nonces are those of RFC 6979, s is in the lower half, and BIP-340 has
// no auxiliary randomness: a signature follows from key and message alone.
package sign

import "errors"

// Signature is r and s, and for ECDSA the recovery id v: bit 0 is the parity
// of the nonce point's y, bit 1 says that its x was not below the order.
type Signature struct {
	R, S [32]byte
	V    byte
}

// errFault is a check that failed. The signature is dropped.
var errFault = errors.New("sign: a signature did not pass its own check; suspect the hardware")

var errKey = errors.New("sign: the key is not a private key of its curve")
