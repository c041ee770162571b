package address

import "github.com/btcsuite/btcd/btcutil/bech32"

// The names of Spark's networks in its addresses.
const (
	sparkMainnet = "spark"
	sparkRegtest = "sparkrt"
)

// sparkIdentityKey begins the message of an address: field 1, a text of bytes, of
// the length of a compressed key.
var sparkIdentityKey = []byte{1<<3 | 2, 33}

// spark is the wallet's identity key as a protocol buffer, in bech32m.
func spark(hrp string) func(key) (string, error) {
	return func(k key) (string, error) {
		groups, err := bech32.ConvertBits(append(sparkIdentityKey[:2:2], k.raw...), 8, 5, true)
		if err != nil {
			return "", err
		}
		return bech32.EncodeM(hrp, groups)
	}
}

// IsSpark reports whether the format is one of Spark's. What signs for such an
// address is the account's key itself, by BIP-340.
func IsSpark(f Format) bool { return f == SparkMainnet || f == SparkRegtest }
