package address

import "github.com/btcsuite/btcd/btcutil/bech32"

// cosmos is the account of a secp256k1 key in the Cosmos SDK (its ADR-028
// keeps this older rule for that curve), in bech32 without a witness version.
func cosmos(hrp string) func(key) (string, error) {
	return func(k key) (string, error) {
		return bech32.EncodeFromBase256(hrp, hash160(k.raw))
	}
}
