package address

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/mr-tron/base58"
)

// network is what makes an address of one chain unlike that of another.
type network struct {
	keyHash    byte   // base58 version of P2PKH
	scriptHash byte   // base58 version of P2SH
	hrp        string // human-readable part of segwit addresses, BIP-173
}

// Signet took testnet's prefixes, and regtest all but the last (BIP-325,
// BIP-173): the same text can be an address on several of them.
var (
	mainnet     = network{0x00, 0x05, "bc"}
	testnet     = network{0x6f, 0xc4, "tb"}
	signet      = testnet
	regtest     = network{0x6f, 0xc4, "bcrt"}
	dogeMainnet = network{keyHash: 0x1e} // P2PKH is the only kind we make there
	dogeTestnet = network{keyHash: 0x71}
)

// Script opcodes.
const (
	opPush20   = 0x14
	opPush33   = 0x21
	opCheckSig = 0xac
)

func p2pkh(n network) func(key) (string, error) {
	return func(k key) (string, error) {
		return base58Check(base58.BTCAlphabet, n.keyHash, hash160(k.raw)), nil
	}
}

// p2sh is P2WPKH nested in P2SH (BIP-141), which is what single-key wallets
// mean by such an address (BIP-49). The redeem script is the witness program.
func p2sh(n network) func(key) (string, error) {
	return func(k key) (string, error) {
		redeem := append([]byte{0, opPush20}, hash160(k.raw)...)
		return base58Check(base58.BTCAlphabet, n.scriptHash, hash160(redeem)), nil
	}
}

func p2wpkh(n network) func(key) (string, error) {
	return func(k key) (string, error) {
		return segwit(n.hrp, 0, hash160(k.raw))
	}
}

// p2wsh pays to the script "<key> OP_CHECKSIG", as in BIP-173's own examples.
func p2wsh(n network) func(key) (string, error) {
	return func(k key) (string, error) {
		script := append([]byte{opPush33}, k.raw...)
		script = append(script, opCheckSig)
		program := sha256.Sum256(script)
		return segwit(n.hrp, 0, program[:])
	}
}

// p2tr pays to the key alone, without a script tree (BIP-86).
func p2tr(n network) func(key) (string, error) {
	return func(k key) (string, error) {
		program, err := outputKey(k.point)
		if err != nil {
			return "", err
		}
		return segwit(n.hrp, 1, program[:])
	}
}

// segwit writes a witness program: bech32 for version 0 (BIP-173), bech32m from
// version 1 on (BIP-350).
func segwit(hrp string, version byte, program []byte) (string, error) {
	groups, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return "", err
	}
	data := append([]byte{version}, groups...)
	if version == 0 {
		return bech32.Encode(hrp, data)
	}
	return bech32.EncodeM(hrp, data)
}
