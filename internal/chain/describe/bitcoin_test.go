package describe_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/describe"
	"latchkey/internal/keys/address"
	"latchkey/internal/policy/fact"
	"latchkey/testvectors"
)

type bitcoinVector struct {
	Name, Network, UnsignedPsbtHex, FinalTxHex string
	Inputs                                     []struct{ Kind, ValueSats string }
}

// unproven is why the fee cannot be told without a signature for taproot.
func (v *bitcoinVector) unproven() string {
	for i, in := range v.Inputs {
		if in.Kind != "p2pkh" && in.Kind != "p2sh-p2pk" {
			return fmt.Sprintf("input %d has no non_witness_utxo, so that its amount is not proven", i)
		}
	}
	return ""
}

// TestBitcoinVectors compares with the final transactions, as btcd reads them.
func TestBitcoinVectors(t *testing.T) {
	for _, v := range testvectors.Section[bitcoinVector](t, "signing", "bitcoin") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := btc.Parse(testvectors.Hex(t, v.UnsignedPsbtHex))
			if err != nil {
				t.Fatal(err)
			}
			final := wire.MsgTx{}
			if err := final.Deserialize(bytes.NewReader(testvectors.Hex(t, v.FinalTxHex))); err != nil {
				t.Fatal(err)
			}
			want := &fact.BitcoinTx{Version: "2", LocktimeType: "Blocks"}
			var fee int64
			for i, in := range final.TxIn {
				sats, err := strconv.ParseInt(v.Inputs[i].ValueSats, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				fee += sats
				want.Inputs = append(want.Inputs, fact.BitcoinInput{TxID: in.PreviousOutPoint.Hash.String(), Vout: fact.Uint(0), Sequence: fact.Uint(0xfffffffd)})
			}
			for _, out := range final.TxOut {
				fee -= out.Value
				class, all, _, err := txscript.ExtractPkScriptAddrs(out.PkScript, &chaincfg.TestNet3Params)
				if err != nil {
					t.Fatal(err)
				}
				kind := map[txscript.ScriptClass]string{txscript.PubKeyHashTy: "P2PKH", txscript.WitnessV0PubKeyHashTy: "P2WPKH", txscript.WitnessV1TaprootTy: "P2TR"}[class]
				want.Outputs = append(want.Outputs, fact.BitcoinOutput{Value: fact.Int(out.Value), ScriptPubkey: hex.EncodeToString(out.PkScript), Address: all[0].EncodeAddress(), AddressType: kind})
			}
			want.Fee = fact.Int(fee)
			// A signature for taproot covers all amounts; others prove none but
			// those whose transactions are there, as those of legacy inputs are.
			for signer, untold := range map[address.Format]string{address.BitcoinTestnetP2TR: "", address.BitcoinTestnetP2WPKH: v.unproven(), address.BitcoinTestnetP2PKH: v.unproven()} {
				got, err := describe.Bitcoin(tx, signer)
				if err != nil {
					t.Fatal(err)
				}
				want.FeeUntold = untold
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", signer, diff)
				}
			}
		})
	}
}

func TestBitcoinNetworks(t *testing.T) {
	script := testvectors.Hex(t, "0014751e76e8199196d454941c45d1b3a323f1433bd6")
	tx := &btc.Tx{Version: -1, LockTime: 499_999_999, Outputs: []btc.Output{{Value: 5, Script: script}, {Script: []byte{0x6a}}}, Inputs: []btc.Input{{Known: true, Amount: 7}}}
	for _, f := range address.Formats() {
		got, err := describe.Bitcoin(tx, f)
		if !strings.HasPrefix(string(f), "ADDRESS_FORMAT_BITCOIN_") {
			if err == nil {
				t.Errorf("%s has a network", f)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx" // BIP-173
		switch {
		case strings.Contains(string(f), "MAINNET"):
			want = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
		case strings.Contains(string(f), "REGTEST"):
			want = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
		}
		if got.Outputs[0].Address != want || got.Outputs[1].Address != "" || got.Outputs[1].AddressType != "" || got.Outputs[1].ScriptPubkey != "6a" {
			t.Errorf("%s: %+v, want %s", f, got.Outputs, want)
		}
		if got.Version != "-1" || got.LocktimeType != "Blocks" || got.LocktimeAmount != fact.Uint(499_999_999) || got.Fee != fact.Uint(2) {
			t.Errorf("%+v", got)
		}
	}
	tx.LockTime++
	if got, err := describe.Bitcoin(tx, address.BitcoinMainnetP2TR); err != nil || got.LocktimeType != "Seconds" {
		t.Errorf("%+v %v", got, err)
	}
	tx.Inputs = append(tx.Inputs, btc.Input{})
	if got, err := describe.Bitcoin(tx, address.BitcoinMainnetP2TR); err != nil || got.FeeUntold != "input 1 has neither non_witness_utxo nor witness_utxo" {
		t.Errorf("an input of unknown amount gives %+v %v", got, err)
	}
}
