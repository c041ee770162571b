package address

import "github.com/mr-tron/base58"

// tronMainnet makes every address begin with a T.
const tronMainnet = 0x41

// tron is Ethereum's account in the encoding of Bitcoin addresses.
func tron(k key) (string, error) {
	return base58Check(base58.BTCAlphabet, tronMainnet, keccakAccount(k.point)), nil
}
