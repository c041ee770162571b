package describe_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/tron"
	"latchkey/internal/policy/fact"
	"latchkey/testvectors"
)

type tronVector struct {
	Name, From, RawDataHex string
	RawData                struct {
		Contract []struct {
			Type      string
			Parameter struct{ Value map[string]json.RawMessage }
		}
		RefBlockBytes string `json:"ref_block_bytes"`
		RefBlockHash  string `json:"ref_block_hash"`
		Expiration    int64
		Timestamp     int64
		FeeLimit      int64 `json:"fee_limit"`
	} `json:"rawData"`
}

// TestTronVectors compares with what TronWeb shows of the transactions.
func TestTronVectors(t *testing.T) {
	for _, v := range testvectors.Section[tronVector](t, "signing", "tron") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := tron.Parse(testvectors.Hex(t, v.RawDataHex))
			if err != nil {
				t.Fatal(err)
			}
			c := fact.TronContract{Type: v.RawData.Contract[0].Type, OwnerAddress: v.From}
			in := v.RawData.Contract[0].Parameter.Value
			number := func(name string) *fact.Number {
				var n int64
				if raw, ok := in[name]; ok {
					if err := json.Unmarshal(raw, &n); err != nil {
						t.Fatal(err)
					}
				}
				return new(fact.Int(n))
			}
			word := func(name, fallback string) *string {
				if raw, ok := in[name]; ok {
					if err := json.Unmarshal(raw, &fallback); err != nil {
						t.Fatal(err)
					}
				}
				return &fallback
			}
			account := func(name string) *string {
				raw := testvectors.Hex(t, *word(name, ""))
				return new(base58.CheckEncode(raw[1:], raw[0]))
			}
			switch c.Type {
			case "TransferContract":
				c.ToAddress, c.Amount = account("to_address"), number("amount")
			case "TriggerSmartContract":
				c.ContractAddress, c.Data = account("contract_address"), word("data", "")
				c.CallValue, c.CallTokenValue, c.TokenID = number("call_value"), number("call_token_value"), number("token_id")
			case "FreezeBalanceV2Contract":
				c.Resource, c.FrozenBalance = word("resource", "BANDWIDTH"), number("frozen_balance")
			case "DelegateResourceContract":
				c.Resource, c.Balance, c.ReceiverAddress = word("resource", "BANDWIDTH"), number("balance"), account("receiver_address")
				c.Lock, c.LockPeriod = new(false), number("lock_period")
			default:
				t.Fatalf("no expectation for %s", c.Type)
			}
			want := &fact.TronTx{
				RefBlockBytes: v.RawData.RefBlockBytes, RefBlockHash: v.RawData.RefBlockHash,
				Expiration: fact.Int(v.RawData.Expiration), Timestamp: fact.Int(v.RawData.Timestamp), FeeLimit: fact.Int(v.RawData.FeeLimit),
				Contracts: []fact.TronContract{c},
			}
			if diff := cmp.Diff(want, describe.Tron(tx)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTronContracts(t *testing.T) {
	a := func(b byte) tron.Address { return tron.Address(append([]byte{0x41}, bytes.Repeat([]byte{b}, 20)...)) }
	one, two := a(1), a(2)
	str := func(s string) *string { return &s }
	n := func(n int64) *fact.Number { return new(fact.Int(n)) }
	permission := &tron.Permission{Type: tron.ActivePermission, ID: 2, Name: "active", Threshold: 3, ParentID: 4, Operations: []byte{0x7f, 0xff}, Keys: []*tron.Key{{Address: two, Weight: 5}}}
	described := fact.TronPermission{Type: "Active", Name: "active", Operations: "7fff", ID: fact.Int(2), Threshold: fact.Int(3), ParentID: fact.Int(4), Keys: []fact.TronKey{{Address: two.String(), Weight: fact.Int(5)}}}
	for _, c := range []struct {
		name string
		in   tron.Contract
		want fact.TronContract
	}{
		{
			"unfreeze",
			tron.Contract{Type: tron.UnfreezeBalanceV2Contract, Owner: &one, Unfreeze: &tron.Freeze{Balance: 7, Resource: tron.TronPower}},
			fact.TronContract{Type: "UnfreezeBalanceV2Contract", OwnerAddress: one.String(), Resource: str("TRON_POWER"), UnfreezeBalance: n(7)},
		},
		{
			"delegate",
			tron.Contract{Type: tron.DelegateResourceContract, Owner: &one, Delegate: &tron.Delegate{Balance: 7, Resource: tron.Energy, Receiver: two, Lock: true, LockPeriod: 9}},
			fact.TronContract{Type: "DelegateResourceContract", OwnerAddress: one.String(), Resource: str("ENERGY"), Balance: n(7), ReceiverAddress: str(two.String()), Lock: new(true), LockPeriod: n(9)},
		},
		{
			"undelegate",
			tron.Contract{Type: tron.UnDelegateResourceContract, Owner: &one, Undelegate: &tron.Delegate{Balance: 7, Receiver: two}},
			fact.TronContract{Type: "UnDelegateResourceContract", OwnerAddress: one.String(), Resource: str("BANDWIDTH"), Balance: n(7), ReceiverAddress: str(two.String())},
		},
		{
			"trigger",
			tron.Contract{Type: tron.TriggerSmartContract, PermissionID: 2, Owner: &one, Trigger: &tron.Trigger{ContractAddress: two, CallValue: 1, Data: []byte{0xab}, CallTokenValue: 2, TokenID: 3}},
			fact.TronContract{Type: "TriggerSmartContract", PermissionID: fact.Int(2), OwnerAddress: one.String(), ContractAddress: str(two.String()), CallValue: n(1), Data: str("ab"), CallTokenValue: n(2), TokenID: n(3)},
		},
		{
			"permissions",
			tron.Contract{Type: tron.AccountPermissionUpdateContract, Owner: &one, UpdatePermission: &tron.UpdatePermission{Owner: permission, Witness: permission, Actives: []*tron.Permission{permission}}},
			fact.TronContract{Type: "AccountPermissionUpdateContract", OwnerAddress: one.String(), Owner: &described, Witness: &described, Actives: []fact.TronPermission{described}},
		},
		{
			"no permissions",
			tron.Contract{Type: tron.AccountPermissionUpdateContract, Owner: &one, UpdatePermission: &tron.UpdatePermission{}},
			fact.TronContract{Type: "AccountPermissionUpdateContract", OwnerAddress: one.String(), Actives: []fact.TronPermission{}},
		},
		{
			"a token, whose amount is not TRX",
			tron.Contract{Type: tron.TransferAssetContract, Owner: &one, TransferAsset: &tron.TransferAsset{To: two, Amount: 1}},
			fact.TronContract{Type: "TransferAssetContract", OwnerAddress: one.String()},
		},
		{"a type without owner", tron.Contract{Type: 51}, fact.TronContract{Type: "ShieldedTransferContract"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := describe.Tron(&tron.Tx{Data: []byte("memo"), Contract: c.in})
			if diff := cmp.Diff([]fact.TronContract{c.want}, got.Contracts); diff != "" {
				t.Error(diff)
			}
			if got.Data != "6d656d6f" {
				t.Errorf("the memo is %q", got.Data)
			}
		})
	}
}
