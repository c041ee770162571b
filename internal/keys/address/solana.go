package address

import "github.com/mr-tron/base58"

// solana is the key itself, without a checksum.
func solana(k key) (string, error) {
	return base58.Encode(k.raw), nil
}
