package btc

import (
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/txscript"
)

// Network is where an address is used. A transaction does not tell.
type Network int

// The networks. Signet has the addresses of testnet (BIP-325).
const (
	Mainnet Network = iota
	Testnet
	Regtest
)

// prefixes are what the addresses of a network begin with.
type prefixes struct {
	keyHash, scriptHash byte
	segwit              string
}

func (n Network) prefixes() prefixes {
	switch n {
	case Testnet:
		return prefixes{0x6f, 0xc4, "tb"}
	case Regtest:
		return prefixes{0x6f, 0xc4, "bcrt"}
	default:
		return prefixes{0x00, 0x05, "bc"}
	}
}

// Address is the address that an output pays to, and its kind: P2PKH, P2SH,
// P2WPKH, P2WSH, P2TR or P2A. The kind is empty for a witness program of the
// future, and both are for a script that has no address.
func (o *Output) Address(n Network) (address, kind string) {
	p := n.prefixes()
	switch s := o.Script; {
	case txscript.IsPayToPubKeyHash(s):
		return base58.CheckEncode(s[3:23], p.keyHash), "P2PKH"
	case txscript.IsPayToScriptHash(s):
		return base58.CheckEncode(s[2:22], p.scriptHash), "P2SH"
	case txscript.IsWitnessProgram(s):
		return p.witness(s)
	}
	return "", ""
}

func (p prefixes) witness(script []byte) (address, kind string) {
	version, program, err := txscript.ExtractWitnessProgramInfo(script)
	if err != nil {
		return "", ""
	}
	groups, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return "", ""
	}
	data, encode := append([]byte{byte(version)}, groups...), bech32.EncodeM // BIP-350
	switch {
	case version == 0 && len(program) == 20:
		kind, encode = "P2WPKH", bech32.Encode // BIP-173
	case version == 0 && len(program) == 32:
		kind, encode = "P2WSH", bech32.Encode
	case version == 0: // BIP-141: it cannot be spent
		return "", ""
	case version == 1 && len(program) == 32:
		kind = "P2TR"
	case version == 1 && len(program) == 2 && program[0] == 0x4e && program[1] == 0x73:
		kind = "P2A"
	}
	if address, err = encode(p.segwit, data); err != nil {
		return "", ""
	}
	return address, kind
}
