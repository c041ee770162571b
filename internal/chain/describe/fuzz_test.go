package describe_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/idl"
	"latchkey/internal/chain/sol"
	"latchkey/internal/chain/tron"
	"latchkey/internal/keys/address"
	"latchkey/internal/policy/fact"
	"latchkey/testvectors"
)

// everywhere has the same interface for every contract and every program.
type everywhere struct {
	contract *abi.Interface
	program  *idl.Interface
}

func (e everywhere) Contract(string) *abi.Interface { return e.contract }
func (e everywhere) Program(string) *idl.Interface  { return e.program }

func interfaces(tb testing.TB) everywhere {
	tb.Helper()
	program, err := idl.Parse(`{"instructions":[{"name":"f","discriminator":[2],"accounts":[{"name":"a"}],"args":[{"name":"x","type":{"vec":{"option":"u16"}}},{"name":"y","type":"string"}]}],"types":[]}`)
	if err != nil {
		tb.Fatal(err)
	}
	return everywhere{contract(tb, erc20), program}
}

// FuzzEthereum: whatever parses is described, and the description says no less
// than the fields.
func FuzzEthereum(f *testing.F) {
	for _, v := range testvectors.Section[ethereumVector](f, "signing", "ethereum") {
		f.Add(testvectors.Hex(f, v.Unsigned))
	}
	all := interfaces(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := eth.Parse(raw)
		if err != nil {
			return
		}
		d := describe.Ethereum(tx, "0xfrom", all)
		if d.Data != "0x"+hex.EncodeToString(tx.Data) || (d.To == "") != (tx.To == nil) || d.Type == "" {
			t.Errorf("%+v", d)
		}
		if d.Value.String() != tx.Value.String() || (d.FunctionSignature == "") != (len(tx.Data) < 4) {
			t.Errorf("%+v", d)
		}
		if (d.ContractCallArgs != nil) != (d.FunctionName == "transfer") || d.ContractCallArgs != nil && len(tx.Data) != 68 {
			t.Errorf("%+v", d)
		}
	})
}

// FuzzSolana: whatever parses is described; no instruction and no
// account gets lost.
func FuzzSolana(f *testing.F) {
	for _, v := range testvectors.Section[struct{ UnsignedHex string }](f, "signing", "solana") {
		f.Add(testvectors.Hex(f, v.UnsignedHex))
	}
	for _, program := range []string{system, token, token2022, memo} {
		f.Add(calling(f, program, join([]byte{2, 1, 0, 0, 0, 1, 7, 0, 0}, []byte{1, 0, 0, 0, 'x'}), 0, 5, 6).Encode())
		f.Add(calling(f, program, join([]byte{12}, u64(1), []byte{1}), 0, 5, 6, 1, 2).Encode())
	}
	all := interfaces(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := sol.Parse(raw)
		if err != nil {
			return
		}
		d := describe.Solana(tx, all)
		if len(d.Instructions) != len(tx.Instructions) || len(d.AccountKeys) != len(tx.AccountKeys) || len(d.AddressTableLookups) != len(tx.Lookups) {
			t.Fatalf("%+v", d)
		}
		for i, in := range tx.Instructions {
			got := d.Instructions[i]
			if len(got.Accounts)+len(got.AddressTableLookups) != len(in.Accounts) || got.DataHex != hex.EncodeToString(in.Data) {
				t.Errorf("instruction %d is %+v", i, got)
			}
			if !slices.Contains(d.ProgramKeys, got.ProgramKey) {
				t.Errorf("the program of instruction %d is not among %v", i, d.ProgramKeys)
			}
		}
	})
}

// FuzzBitcoin: whatever parses is described; a fee is told only where it is proven.
func FuzzBitcoin(f *testing.F) {
	for _, v := range testvectors.Section[bitcoinVector](f, "signing", "bitcoin") {
		f.Add(testvectors.Hex(f, v.UnsignedPsbtHex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := btc.Parse(raw)
		if err != nil {
			return
		}
		for _, signer := range []address.Format{address.BitcoinMainnetP2TR, address.BitcoinMainnetP2WPKH} {
			d, err := describe.Bitcoin(tx, signer)
			if err != nil || len(d.Inputs) != len(tx.Inputs) || len(d.Outputs) != len(tx.Outputs) {
				t.Fatalf("%+v %v", d, err)
			}
			_, known := tx.Fee()
			proven := !slices.ContainsFunc(tx.Inputs, func(in btc.Input) bool { return !in.Proven })
			if told := d.FeeUntold == ""; told != (known && (proven || signer == address.BitcoinMainnetP2TR)) || told && d.Fee.Negative {
				t.Errorf("the fee is known: %v, proven: %v, %+v", known, proven, d)
			}
		}
	})
}

// FuzzTron: whatever parses is described.
func FuzzTron(f *testing.F) {
	for _, v := range testvectors.Section[tronVector](f, "signing", "tron") {
		f.Add(testvectors.Hex(f, v.RawDataHex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := tron.Parse(raw)
		if err != nil {
			return
		}
		d := describe.Tron(tx)
		if len(d.Contracts) != 1 || d.Contracts[0].Type == "" || d.Data != hex.EncodeToString(tx.Data) {
			t.Errorf("%+v", d)
		}
	})
}

// FuzzTypedData: whatever parses is described; the message has the members of
// its type, in order, and no others.
func FuzzTypedData(f *testing.F) {
	f.Add([]byte(mail))
	f.Add([]byte(`{"types":{"A":[{"name":"a","type":"int256"},{"name":"b","type":"B[][2]"}],"B":[{"name":"c","type":"uint8"},{"name":"d","type":"bytes"}]},"primaryType":"A","domain":{"chainId":"0x1"},"message":{"a":"-1","b":[[],[{"c":1,"d":"0x"}]]}}`))
	f.Add([]byte(`{"types":{},"primaryType":"EIP712Domain","domain":{"name":"x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, td, err := eth.TypedDataDigest(text)
		if err != nil {
			return
		}
		d := describe.EIP712(td)
		var document struct {
			Types map[string][]struct{ Name, Type string }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		declared := document.Types[d.PrimaryType]
		if d.PrimaryType == "EIP712Domain" {
			declared = nil
		}
		if len(d.Message) != len(declared) {
			t.Fatalf("%d members, want %d", len(d.Message), len(declared))
		}
		for i, m := range d.Message {
			if m.Name != declared[i].Name {
				t.Errorf("member %d is %q, want %q", i, m.Name, declared[i].Name)
			}
			if m.Value.Kind == fact.Null {
				t.Errorf("member %q is null", m.Name)
			}
		}
	})
}
