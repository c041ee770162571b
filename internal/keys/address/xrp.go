package address

import "github.com/mr-tron/base58"

// xrpAlphabet begins with the r that every account begins with, since the
// version is zero.
var xrpAlphabet = base58.NewAlphabet("rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz")

const xrpAccount = 0

// xrp differs from Bitcoin's P2PKH in the alphabet only.
func xrp(k key) (string, error) {
	return base58Check(xrpAlphabet, xrpAccount, hash160(k.raw)), nil
}
