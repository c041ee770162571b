package address

import (
	"slices"

	"latchkey/internal/keys/curve"
)

// Format names an address format as the interface does.
type Format string

// Every format's name begins so.
const prefix = "ADDRESS_FORMAT_"

// The address formats, in the order of the interface.
const (
	Uncompressed         Format = prefix + "UNCOMPRESSED"
	Compressed           Format = prefix + "COMPRESSED"
	Ethereum             Format = prefix + "ETHEREUM"
	Solana               Format = prefix + "SOLANA"
	Cosmos               Format = prefix + "COSMOS"
	Tron                 Format = prefix + "TRON"
	Sui                  Format = prefix + "SUI"
	Aptos                Format = prefix + "APTOS"
	BitcoinMainnetP2PKH  Format = prefix + "BITCOIN_MAINNET_P2PKH"
	BitcoinMainnetP2SH   Format = prefix + "BITCOIN_MAINNET_P2SH"
	BitcoinMainnetP2WPKH Format = prefix + "BITCOIN_MAINNET_P2WPKH"
	BitcoinMainnetP2WSH  Format = prefix + "BITCOIN_MAINNET_P2WSH"
	BitcoinMainnetP2TR   Format = prefix + "BITCOIN_MAINNET_P2TR"
	BitcoinTestnetP2PKH  Format = prefix + "BITCOIN_TESTNET_P2PKH"
	BitcoinTestnetP2SH   Format = prefix + "BITCOIN_TESTNET_P2SH"
	BitcoinTestnetP2WPKH Format = prefix + "BITCOIN_TESTNET_P2WPKH"
	BitcoinTestnetP2WSH  Format = prefix + "BITCOIN_TESTNET_P2WSH"
	BitcoinTestnetP2TR   Format = prefix + "BITCOIN_TESTNET_P2TR"
	BitcoinSignetP2PKH   Format = prefix + "BITCOIN_SIGNET_P2PKH"
	BitcoinSignetP2SH    Format = prefix + "BITCOIN_SIGNET_P2SH"
	BitcoinSignetP2WPKH  Format = prefix + "BITCOIN_SIGNET_P2WPKH"
	BitcoinSignetP2WSH   Format = prefix + "BITCOIN_SIGNET_P2WSH"
	BitcoinSignetP2TR    Format = prefix + "BITCOIN_SIGNET_P2TR"
	BitcoinRegtestP2PKH  Format = prefix + "BITCOIN_REGTEST_P2PKH"
	BitcoinRegtestP2SH   Format = prefix + "BITCOIN_REGTEST_P2SH"
	BitcoinRegtestP2WPKH Format = prefix + "BITCOIN_REGTEST_P2WPKH"
	BitcoinRegtestP2WSH  Format = prefix + "BITCOIN_REGTEST_P2WSH"
	BitcoinRegtestP2TR   Format = prefix + "BITCOIN_REGTEST_P2TR"
	Sei                  Format = prefix + "SEI"
	XLM                  Format = prefix + "XLM"
	DogeMainnet          Format = prefix + "DOGE_MAINNET"
	DogeTestnet          Format = prefix + "DOGE_TESTNET"
	TONV3R2              Format = prefix + "TON_V3R2"
	TONV4R2              Format = prefix + "TON_V4R2"
	TONV5R1              Format = prefix + "TON_V5R1"
	XRP                  Format = prefix + "XRP"
	SparkMainnet         Format = prefix + "SPARK_MAINNET"
	SparkRegtest         Format = prefix + "SPARK_REGTEST"
)

// row is the definition of a format.
type row struct {
	format Format
	curves []curve.KeyCurve
	encode func(key) (string, error)
}

var (
	onSecp256k1 = []curve.KeyCurve{curve.KeySecp256k1}
	onEd25519   = []curve.KeyCurve{curve.KeyEd25519}
	onBoth      = []curve.KeyCurve{curve.KeySecp256k1, curve.KeyEd25519}
)

// table holds every format in the order of the interface. It is not to be
// written to.
var table = []row{
	{Uncompressed, onSecp256k1, uncompressedHex},
	{Compressed, onBoth, compressedHex},
	{Ethereum, onSecp256k1, ethereum},
	{Solana, onEd25519, solana},
	{Cosmos, onSecp256k1, cosmos("cosmos")},
	{Tron, onSecp256k1, tron},
	{Sui, onEd25519, sui},
	{Aptos, onEd25519, aptos},
	{BitcoinMainnetP2PKH, onSecp256k1, p2pkh(mainnet)},
	{BitcoinMainnetP2SH, onSecp256k1, p2sh(mainnet)},
	{BitcoinMainnetP2WPKH, onSecp256k1, p2wpkh(mainnet)},
	{BitcoinMainnetP2WSH, onSecp256k1, p2wsh(mainnet)},
	{BitcoinMainnetP2TR, onSecp256k1, p2tr(mainnet)},
	{BitcoinTestnetP2PKH, onSecp256k1, p2pkh(testnet)},
	{BitcoinTestnetP2SH, onSecp256k1, p2sh(testnet)},
	{BitcoinTestnetP2WPKH, onSecp256k1, p2wpkh(testnet)},
	{BitcoinTestnetP2WSH, onSecp256k1, p2wsh(testnet)},
	{BitcoinTestnetP2TR, onSecp256k1, p2tr(testnet)},
	{BitcoinSignetP2PKH, onSecp256k1, p2pkh(signet)},
	{BitcoinSignetP2SH, onSecp256k1, p2sh(signet)},
	{BitcoinSignetP2WPKH, onSecp256k1, p2wpkh(signet)},
	{BitcoinSignetP2WSH, onSecp256k1, p2wsh(signet)},
	{BitcoinSignetP2TR, onSecp256k1, p2tr(signet)},
	{BitcoinRegtestP2PKH, onSecp256k1, p2pkh(regtest)},
	{BitcoinRegtestP2SH, onSecp256k1, p2sh(regtest)},
	{BitcoinRegtestP2WPKH, onSecp256k1, p2wpkh(regtest)},
	{BitcoinRegtestP2WSH, onSecp256k1, p2wsh(regtest)},
	{BitcoinRegtestP2TR, onSecp256k1, p2tr(regtest)},
	{Sei, onSecp256k1, cosmos("sei")},
	{XLM, onEd25519, stellar},
	{DogeMainnet, onSecp256k1, p2pkh(dogeMainnet)},
	{DogeTestnet, onSecp256k1, p2pkh(dogeTestnet)},
	{TONV3R2, onEd25519, ton(walletV3R2)},
	{TONV4R2, onEd25519, ton(walletV4R2)},
	{TONV5R1, onEd25519, ton(walletV5R1)},
	{XRP, onSecp256k1, xrp},
	{SparkMainnet, onSecp256k1, spark(sparkMainnet)},
	{SparkRegtest, onSecp256k1, spark(sparkRegtest)},
}

func find(f Format) (row, bool) {
	for _, r := range table { // 38 short comparisons: less than a hash costs
		if r.format == f {
			return r, true
		}
	}
	return row{}, false
}

// Formats lists every format in the order of the interface.
func Formats() []Format {
	all := make([]Format, len(table))
	for i, r := range table {
		all[i] = r.format
	}
	return all
}

// Enum lists the formats for the schema.
func (Format) Enum() []string {
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = string(r.format)
	}
	return names
}

// Curves lists the curves that a key with an address of this format may be on.
// It is empty when the format is not one of [Formats].
func (f Format) Curves() []curve.KeyCurve {
	r, _ := find(f)
	return slices.Clone(r.curves)
}

// CAIP2Prefix is the namespace of the format's chain in CAIP-2, for account
// records, or "" when the interface does not state one.
func (f Format) CAIP2Prefix() string {
	switch f {
	case Ethereum:
		return "eip155"
	case Solana:
		return "solana"
	}
	return ""
}
