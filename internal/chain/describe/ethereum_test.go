package describe_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/idl"
	"latchkey/internal/keys/derivation"
	"latchkey/internal/policy/fact"
	"latchkey/testvectors"
)

// known is an organization's interfaces.
type known struct {
	contracts map[string]*abi.Interface
	programs  map[string]*idl.Interface
}

func (k known) Contract(address string) *abi.Interface { return k.contracts[address] }
func (k known) Program(address string) *idl.Interface  { return k.programs[address] }

const erc20 = `[{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"},{"name":"","type":"uint256"}],"outputs":[{"name":"","type":"bool"}],"stateMutability":"nonpayable"}]`

func contract(tb testing.TB, text string) *abi.Interface {
	tb.Helper()
	i, err := abi.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

type ethereumVector struct {
	Name, From, Unsigned string
	Fields               struct {
		Type                                                                       int
		ChainID                                                                    int64 `json:"chainId"`
		Nonce                                                                      uint64
		GasPrice, MaxPriorityFeePerGas, MaxFeePerGas, Gas, Value, MaxFeePerBlobGas string
		To, Data                                                                   string
	}
}

// TestEthereumVectors compares with what ethers was given to make the
// transactions.
func TestEthereumVectors(t *testing.T) {
	usdc := "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	interfaces := known{contracts: map[string]*abi.Interface{usdc: contract(t, erc20)}}
	calls := 0
	for _, v := range testvectors.Section[ethereumVector](t, "signing", "ethereum") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := eth.Parse(testvectors.Hex(t, v.Unsigned))
			if err != nil {
				t.Fatal(err)
			}
			n := func(text string) fact.Number {
				b, _ := new(big.Int).SetString("0"+text, 10)
				n, err := fact.Big(b)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			in := v.Fields
			want := &fact.EthereumTx{
				From: v.From, To: strings.ToLower(in.To), Data: in.Data,
				Type:  []string{"LEGACY", "TYPE_1", "TYPE_2", "TYPE_3", "TYPE_4"}[in.Type],
				Value: n(in.Value), Gas: n(in.Gas), ChainID: fact.Int(in.ChainID), Nonce: fact.Uint(in.Nonce),
				GasPrice:     n(in.GasPrice + in.MaxFeePerGas), // only one of them is there
				MaxFeePerGas: n(in.MaxFeePerGas), MaxPriorityFeePerGas: n(in.MaxPriorityFeePerGas), MaxFeePerBlobGas: n(in.MaxFeePerBlobGas),
			}
			if len(in.Data) >= 10 {
				want.FunctionSignature = in.Data[:10]
			}
			if want.To == usdc {
				calls++
				want.FunctionName = "transfer"
				want.ContractCallArgs = &fact.Map{
					{Name: "to", Value: fact.Value{Kind: fact.Text, Fold: true, Text: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"}},
					{Name: "1", Value: fact.Value{Kind: fact.Num, Number: fact.Uint(1_000_000)}},
				}
			}
			if diff := cmp.Diff(want, describe.Ethereum(tx, v.From, interfaces)); diff != "" {
				t.Error(diff)
			}
			want.FunctionName, want.ContractCallArgs = "", nil
			if diff := cmp.Diff(want, describe.Ethereum(tx, v.From, nil)); diff != "" {
				t.Errorf("without interfaces: %s", diff)
			}
		})
	}
	if calls != 2 {
		t.Errorf("%d calls of the known contract, want 2", calls)
	}
}

// A call that the interface does not fit keeps its selector and has no more.
func TestEthereumNoMatch(t *testing.T) {
	to := eth.Address{1}
	interfaces := known{contracts: map[string]*abi.Interface{to.String(): contract(t, erc20)}}
	word := strings.Repeat("0", 64)
	for _, c := range []struct {
		name      string
		to        *eth.Address
		data      string
		signature string
		matches   bool
	}{
		{"a call", &to, "a9059cbb" + word + word, "0xa9059cbb", true},
		{"another contract", &eth.Address{2}, "a9059cbb" + word + word, "0xa9059cbb", false},
		{"another function", &to, "a9059cbc" + word + word, "0xa9059cbc", false},
		{"trailing bytes", &to, "a9059cbb" + word + word + "00", "0xa9059cbb", false},
		{"arguments cut", &to, "a9059cbb" + word, "0xa9059cbb", false},
		{"a contract creation", nil, "a9059cbb" + word + word, "0xa9059cbb", false},
		{"a selector alone", &to, "a9059cbb", "0xa9059cbb", false},
		{"three bytes", &to, "a9059c", "", false},
		{"no data", &to, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := describe.Ethereum(&eth.Tx{To: c.to, Data: testvectors.Hex(t, c.data)}, "0xFrom", interfaces)
			if f.Data != "0x"+c.data || f.FunctionSignature != c.signature || f.From != "0xFrom" {
				t.Errorf("%+v", f)
			}
			if (f.ContractCallArgs != nil) != c.matches || (f.FunctionName != "") != c.matches {
				t.Errorf("%q %v, want a match: %v", f.FunctionName, f.ContractCallArgs, c.matches)
			}
			if (f.To == "") != (c.to == nil) {
				t.Errorf("to is %q", f.To)
			}
		})
	}
}

// No parser gives such a transaction; if one did, its value must not look small.
func TestEthereumBeyond256Bits(t *testing.T) {
	f := describe.Ethereum(&eth.Tx{Value: new(big.Int).Lsh(big.NewInt(1), 256)}, "", nil)
	if f.Value.String() != "115792089237316195423570985008687907853269984665640564039457584007913129639935" {
		t.Errorf("the value is %s", f.Value.String())
	}
}

func typedData(tb testing.TB, text string) *eth.TypedData {
	tb.Helper()
	_, td, err := eth.TypedDataDigest([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return td
}

// mail is the example of EIP-712.
const mail = `{
	"types":{
		"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],
		"Person":[{"name":"name","type":"string"},{"name":"wallet","type":"address"}],
		"Mail":[{"name":"from","type":"Person"},{"name":"to","type":"Person"},{"name":"contents","type":"string"}]
	},
	"primaryType":"Mail",
	"domain":{"name":"Ether Mail","version":"1","chainId":1,"verifyingContract":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"},
	"message":{"from":{"name":"Cow","wallet":"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},"to":{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},"contents":"Hello, Bob!"}
}`

func TestEIP712(t *testing.T) {
	person := func(name, wallet string) fact.Value {
		return fact.Value{Kind: fact.Struct, Fields: fact.Map{
			{Name: "name", Value: fact.Value{Kind: fact.Text, Text: name}},
			{Name: "wallet", Value: fact.Value{Kind: fact.Text, Fold: true, Text: wallet}},
		}}
	}
	want := &fact.EIP712{
		PrimaryType: "Mail",
		Domain:      fact.EIP712Domain{Name: "Ether Mail", Version: "1", VerifyingContract: "0xcccccccccccccccccccccccccccccccccccccccc", ChainID: fact.Uint(1)},
		Message: fact.Map{
			{Name: "from", Value: person("Cow", "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826")},
			{Name: "to", Value: person("Bob", "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")},
			{Name: "contents", Value: fact.Value{Kind: fact.Text, Text: "Hello, Bob!"}},
		},
	}
	if diff := cmp.Diff(want, describe.EIP712(typedData(t, mail))); diff != "" {
		t.Error(diff)
	}
}

func TestEIP712Domain(t *testing.T) {
	for _, c := range []struct {
		name, domain string
		want         fact.EIP712Domain
	}{
		{"empty", `{}`, fact.EIP712Domain{}},
		{"without version", `{"name":"A","chainId":137}`, fact.EIP712Domain{Name: "A", ChainID: fact.Uint(137)}},
		{"chain id in decimal", `{"chainId":"8453"}`, fact.EIP712Domain{ChainID: fact.Uint(8453)}},
		{"chain id in hex", `{"chainId":"0x2105"}`, fact.EIP712Domain{ChainID: fact.Uint(8453)}},
		{"null members", `{"name":null,"version":"2"}`, fact.EIP712Domain{Version: "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			td := typedData(t, `{"types":{"A":[]},"primaryType":"A","message":{},"domain":`+c.domain+`}`)
			if diff := cmp.Diff(c.want, describe.EIP712(td).Domain); diff != "" {
				t.Error(diff)
			}
		})
	}
	alone := describe.EIP712(typedData(t, `{"types":{},"primaryType":"EIP712Domain","domain":{"name":"A"}}`))
	if alone.PrimaryType != "EIP712Domain" || alone.Domain.Name != "A" || len(alone.Message) != 0 {
		t.Errorf("a domain alone is %+v", alone)
	}
}

func TestEIP712Values(t *testing.T) {
	n := func(n int64) fact.Value { return fact.Value{Kind: fact.Num, Number: fact.Int(n)} }
	str := func(s string) fact.Value { return fact.Value{Kind: fact.Text, Text: s} }
	fold := func(s string) fact.Value { return fact.Value{Kind: fact.Text, Fold: true, Text: s} }
	huge := fact.Value{Kind: fact.Num}
	huge.Number.Magnitude.SetAllOne()
	unreadable := fact.Value{Kind: fact.Unreadable, Text: "the integer does not fit into 128 bits with a sign"}
	for _, c := range []struct {
		kind, value string
		want        fact.Value
	}{
		{"bool", `true`, fact.Value{Kind: fact.Bool, Bool: true}},
		{"bool", `false`, fact.Value{Kind: fact.Bool}},
		{"string", `"0xABCD"`, str("0xABCD")}, // exact, though it looks like bytes
		{"string", `"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"`, str("0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC")},
		{"address", `"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"`, fold("0xcccccccccccccccccccccccccccccccccccccccc")},
		{"bytes", `"0xABcd"`, fold("0xabcd")},
		{"bytes", `"0x"`, fold("0x")},
		{"bytes2", `"0xABcd"`, fold("0xabcd")},
		{"bytes2[]", `["0xABcd"]`, fact.Value{Kind: fact.List, List: []fact.Value{fold("0xabcd")}}},
		{"uint256", `7`, n(7)},
		{"uint256", `"7"`, str("7")},
		{"uint256", `"0x07"`, str("0x07")},
		{"uint256", `115792089237316195423570985008687907853269984665640564039457584007913129639935`, huge},
		{"int8", `-7`, n(-7)},
		{"int8", `"-7"`, str("-7")},
		{"int256", `170141183460469231731687303715884105728`, unreadable},
		{"int256", `-170141183460469231731687303715884105729`, unreadable},
		{"int256", `"-170141183460469231731687303715884105729"`, str("-170141183460469231731687303715884105729")},
		{"uint8[]", `[1,"2"]`, fact.Value{Kind: fact.List, List: []fact.Value{n(1), str("2")}}},
		{"uint8[]", `[]`, fact.Value{Kind: fact.List, List: []fact.Value{}}},
		{"B[1]", `[{"y":1,"x":"z"}]`, fact.Value{Kind: fact.List, List: []fact.Value{{Kind: fact.Struct, Fields: fact.Map{{Name: "x", Value: str("z")}, {Name: "y", Value: n(1)}}}}}},
	} {
		t.Run(c.kind+" "+c.value, func(t *testing.T) {
			td := typedData(t, fmt.Sprintf(`{"types":{"A":[{"name":"a","type":%q}],"B":[{"name":"x","type":"string"},{"name":"y","type":"uint8"}]},"primaryType":"A","domain":{},"message":{"ignored":1,"a":%s}}`, c.kind, c.value))
			if diff := cmp.Diff(fact.Map{{Name: "a", Value: c.want}}, describe.EIP712(td).Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEIP7702(t *testing.T) {
	_, a, err := eth.AuthorizationDigest([]byte(`{"address":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC","chainId":"0x2105","nonce":3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &fact.EIP7702{Address: "0xcccccccccccccccccccccccccccccccccccccccc", ChainID: fact.Uint(8453), Nonce: fact.Uint(3)}
	if diff := cmp.Diff(want, describe.EIP7702(a)); diff != "" {
		t.Error(diff)
	}
}

func TestPath(t *testing.T) {
	p, err := derivation.Parse("m/44'/60'/2147483647/0")
	if err != nil {
		t.Fatal(err)
	}
	indexes, hardened := describe.Path(p)
	if diff := cmp.Diff([]fact.Number{fact.Uint(44), fact.Uint(60), fact.Uint(2147483647), fact.Uint(0)}, indexes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{true, true, false, false}, hardened); diff != "" {
		t.Error(diff)
	}
	if indexes, hardened = describe.Path(derivation.Path{}); len(indexes)+len(hardened) != 0 {
		t.Error("the root has parts")
	}
}
