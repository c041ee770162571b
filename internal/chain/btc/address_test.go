package btc_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"latchkey/internal/chain/btc"
	"latchkey/testvectors"
)

func TestAddress(t *testing.T) {
	const taproot = "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	for _, c := range []struct {
		name    string
		network btc.Network
		script  string
		address string
		kind    string
	}{
		// From BIP-173, BIP-350 and BIP-433.
		{"P2WPKH", btc.Mainnet, "0014751e76e8199196d454941c45d1b3a323f1433bd6", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "P2WPKH"},
		{"P2WSH on testnet", btc.Testnet, "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "P2WSH"},
		{"P2TR", btc.Mainnet, taproot, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "P2TR"},
		{"version 1 of 40 bytes", btc.Mainnet, "5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6", "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", ""},
		{"version 16", btc.Mainnet, "6002751e", "bc1sw50qgdz25j", ""},
		{"P2A", btc.Mainnet, "51024e73", "bc1pfeessrawgf", "P2A"},
		{"P2A on regtest", btc.Regtest, "51024e73", "bcrt1pfeesnyr2tx", "P2A"},
		// Well-known addresses.
		{"P2PKH", btc.Mainnet, "76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "P2PKH"},
		{"P2SH", btc.Mainnet, "a914748284390f9e263a4b766a75d0633c50426eb87587", "3CK4fEwbMP7heJarmU4eqA3sMbVJyEnU3V", "P2SH"},
		{"a witness of version 0 of 2 bytes", btc.Mainnet, "0002751e", "", ""},
		{"a public key", btc.Mainnet, "210279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ac", "", ""},
		{"data", btc.Mainnet, "6a0548656c6c6f", "", ""},
		{"nothing", btc.Mainnet, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := btc.Output{Script: testvectors.Hex(t, c.script)}
			if address, kind := o.Address(c.network); address != c.address || kind != c.kind {
				t.Errorf("%s %s, want %s %s", kind, address, c.kind, c.address)
			}
		})
	}
}

// btcd reads the same addresses from the scripts of the vectors.
func TestAddressAgainstLibrary(t *testing.T) {
	networks := map[btc.Network]*chaincfg.Params{btc.Mainnet: &chaincfg.MainNetParams, btc.Testnet: &chaincfg.TestNet3Params, btc.Regtest: &chaincfg.RegressionNetParams}
	for _, v := range load(t) {
		tx, err := btc.Parse(testvectors.Hex(t, v.UnsignedPsbtHex))
		if err != nil {
			t.Fatal(err)
		}
		for i, in := range v.Inputs {
			script := testvectors.Hex(t, in.ScriptPubKeyHex)
			o := btc.Output{Script: script}
			if got, _ := o.Address(btc.Testnet); got != in.Address {
				t.Errorf("%s: input %d pays to %s, want %s", v.Name, i, got, in.Address)
			}
			tx.Outputs = append(tx.Outputs, o)
		}
		for _, o := range tx.Outputs {
			for network, params := range networks {
				_, all, _, err := txscript.ExtractPkScriptAddrs(o.Script, params)
				if err != nil || len(all) != 1 {
					t.Fatalf("%x: %v %v", o.Script, all, err)
				}
				if got, _ := o.Address(network); got != all[0].EncodeAddress() {
					t.Errorf("%x on %s: %s, want %s", o.Script, params.Name, got, all[0])
				}
			}
		}
	}
}
