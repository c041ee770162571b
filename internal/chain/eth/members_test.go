package eth_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/eth"
)

func TestMembers(t *testing.T) {
	_, td, err := eth.TypedDataDigest([]byte(`{
		"types":{
			"Order":[{"name":"z","type":"uint256"},{"name":"a","type":"int8"},{"name":"items","type":"Item[][1]"},{"name":"memo","type":"string"}],
			"Item":[{"name":"to","type":"address"},{"name":"ok","type":"bool"},{"name":"raw","type":"bytes2"},{"name":"ids","type":"uint8[2]"}]
		},
		"domain":{},
		"primaryType":"Order",
		"message":{"a":-5,"z":"0x10","extra":1,"memo":"7","items":[[{"ids":[1,"2"],"raw":"0xABcd","ok":true,"to":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"}]]}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	var to eth.Address
	for i := range to {
		to[i] = 0xcc
	}
	want := eth.Struct{
		{Name: "z", Type: "uint256", Value: big.NewInt(16), Quoted: "0x10"},
		{Name: "a", Type: "int8", Value: big.NewInt(-5)},
		{Name: "items", Type: "Item[][1]", Value: eth.Array{{Type: "Item[]", Value: eth.Array{{Type: "Item", Value: eth.Struct{
			{Name: "to", Type: "address", Value: to},
			{Name: "ok", Type: "bool", Value: true},
			{Name: "raw", Type: "bytes2", Value: []byte{0xab, 0xcd}},
			{Name: "ids", Type: "uint8[2]", Value: eth.Array{{Type: "uint8", Value: big.NewInt(1)}, {Type: "uint8", Value: big.NewInt(2), Quoted: "2"}}},
		}}}}}},
		{Name: "memo", Type: "string", Value: "7"},
	}
	if diff := cmp.Diff(want, td.Members(), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Error(diff)
	}
	_, td, err = eth.TypedDataDigest([]byte(`{"types":{},"domain":{"name":"x"},"primaryType":"EIP712Domain"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := td.Members(); len(got) != 0 {
		t.Errorf("a domain alone has the members %v", got)
	}
}
