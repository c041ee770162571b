package tron_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"google.golang.org/protobuf/encoding/protowire"

	"latchkey/internal/chain/tron"
	"latchkey/testvectors"
)

type vector struct {
	Name, PrivateKeyHex, From, RawDataHex, TxID, R, S, SignatureHex, SignedTransactionHex string

	RawData struct {
		Contract []struct {
			Type      string
			Parameter struct{ Value json.RawMessage }
		}
		RefBlockBytes string `json:"ref_block_bytes"`
		RefBlockHash  string `json:"ref_block_hash"`
		Expiration    int64
		Timestamp     int64
		FeeLimit      int64 `json:"fee_limit"`
	} `json:"rawData"`
}

func TestVectors(t *testing.T) {
	for _, v := range testvectors.Section[vector](t, "signing", "tron") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := tron.Parse(testvectors.Hex(t, v.RawDataHex))
			if err != nil {
				t.Fatal(err)
			}
			digest := tx.Digest()
			if got := hex.EncodeToString(digest[:]); got != v.TxID {
				t.Fatalf("digest %s, want %s", got, v.TxID)
			}
			key := secp256k1.PrivKeyFromBytes(testvectors.Hex(t, v.PrivateKeyHex))
			compact := ecdsa.SignCompact(key, digest[:], false)
			signed := tx.Signed([32]byte(compact[1:33]), [32]byte(compact[33:]), compact[0]-27)
			if got := hex.EncodeToString(signed); got != v.SignedTransactionHex {
				t.Errorf("signed\n %s, want\n %s", got, v.SignedTransactionHex)
			}
			if _, err := tron.Parse(signed); err == nil {
				t.Error("the signed transaction is accepted as raw_data")
			}
			checkFields(t, tx, v)
		})
	}
}

// checkFields compares what a policy will read with what the vector was made of.
func checkFields(t *testing.T, tx *tron.Tx, v vector) {
	t.Helper()
	want := v.RawData
	for _, c := range []struct{ name, got, want string }{
		{"ref_block_bytes", hex.EncodeToString(tx.RefBlockBytes), want.RefBlockBytes},
		{"ref_block_hash", hex.EncodeToString(tx.RefBlockHash), want.RefBlockHash},
		{"expiration", fmt.Sprint(tx.Expiration), fmt.Sprint(want.Expiration)},
		{"timestamp", fmt.Sprint(tx.Timestamp), fmt.Sprint(want.Timestamp)},
		{"fee_limit", fmt.Sprint(tx.FeeLimit), fmt.Sprint(want.FeeLimit)},
		{"type", tx.Contract.Type.String(), want.Contract[0].Type},
		{"owner", tx.Contract.Owner.String(), v.From},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	fields := map[string]any{"owner_address": hex.EncodeToString(tx.Contract.Owner[:])}
	switch c := tx.Contract; {
	case c.Transfer != nil:
		fields["to_address"] = hex.EncodeToString(c.Transfer.To[:])
		fields["amount"] = c.Transfer.Amount
	case c.Trigger != nil:
		fields["contract_address"] = hex.EncodeToString(c.Trigger.ContractAddress[:])
		fields["data"] = hex.EncodeToString(c.Trigger.Data)
	case c.Freeze != nil:
		fields["frozen_balance"] = c.Freeze.Balance
		fields["resource"] = c.Freeze.Resource.String()
	case c.Delegate != nil:
		fields["receiver_address"] = hex.EncodeToString(c.Delegate.Receiver[:])
		fields["balance"] = c.Delegate.Balance
	default:
		t.Errorf("the parameter of %s is not read", c.Type)
	}
	got, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var sorted map[string]any
	if err := json.Unmarshal(want.Contract[0].Parameter.Value, &sorted); err != nil {
		t.Fatal(err)
	}
	for name, value := range sorted {
		if n, ok := value.(float64); ok {
			sorted[name] = int64(n)
		}
	}
	expected, err := json.Marshal(sorted)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, expected) {
		t.Errorf("parameter %s, want %s", got, expected)
	}
}

// The tests below write protobuf by hand: num and str are one field each.
func num(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

func str(number protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(parts, nil))
}

func address(b byte) []byte { return append([]byte{0x41}, bytes.Repeat([]byte{b}, 20)...) }

// raw wraps a parameter of a contract type in raw_data.
func raw(kind uint64, name string, parameter ...[]byte) []byte {
	wrapped := str(2, str(1, []byte("type.googleapis.com/protocol."+name)), str(2, parameter...))
	var contract []byte
	if kind != 0 {
		contract = num(1, kind)
	}
	return bytes.Join([][]byte{str(1, []byte{1, 2}), str(11, contract, wrapped), num(14, 5)}, nil)
}

func TestParameters(t *testing.T) {
	t.Run("TransferAsset", func(t *testing.T) {
		tx := parse(t, raw(2, "TransferAssetContract", str(1, []byte("1000001")), str(2, address(1)), str(3, address(2)), num(4, 9)))
		p := tx.Contract.TransferAsset
		if string(p.AssetName) != "1000001" || p.To[1] != 2 || p.Amount != 9 || tx.Contract.Owner[1] != 1 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Trigger", func(t *testing.T) {
		p := parse(t, raw(31, "TriggerSmartContract", str(1, address(1)), str(2, address(2)), num(3, 4), str(4, []byte{7}), num(5, 6), num(6, 8))).Contract.Trigger
		if p.ContractAddress[1] != 2 || p.CallValue != 4 || p.Data[0] != 7 || p.CallTokenValue != 6 || p.TokenID != 8 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Unfreeze", func(t *testing.T) {
		p := parse(t, raw(55, "UnfreezeBalanceV2Contract", str(1, address(1)), num(2, 4), num(3, 2))).Contract.Unfreeze
		if p.Balance != 4 || p.Resource != tron.TronPower {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Delegate", func(t *testing.T) {
		p := parse(t, raw(57, "DelegateResourceContract", str(1, address(1)), num(2, 1), num(3, 4), str(4, address(2)), num(5, 1), num(6, 99))).Contract.Delegate
		if p.Resource.String() != "ENERGY" || p.Balance != 4 || p.Receiver[1] != 2 || !p.Lock || p.LockPeriod != 99 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Undelegate", func(t *testing.T) {
		p := parse(t, raw(58, "UnDelegateResourceContract", str(1, address(1)), num(3, 4), str(4, address(2)))).Contract.Undelegate
		if p.Resource.String() != "BANDWIDTH" || p.Balance != 4 || p.Receiver[1] != 2 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("UpdatePermission", func(t *testing.T) {
		keys := bytes.Join([][]byte{str(7, str(1, address(3)), num(2, 1)), str(7, str(1, address(4)), num(2, 2))}, nil)
		p := parse(t, raw(46, "AccountPermissionUpdateContract", str(1, address(1)),
			str(2, str(3, []byte("owner")), num(4, 2), keys),
			str(4, num(1, 2), num(2, 2), str(3, []byte("a")), num(4, 1), str(6, bytes.Repeat([]byte{0x7f}, 32)), keys),
			str(4, num(1, 2), num(2, 3), keys))).Contract.UpdatePermission
		if p.Owner.Name != "owner" || p.Owner.Threshold != 2 || len(p.Owner.Keys) != 2 || p.Owner.Keys[1].Weight != 2 || p.Owner.Keys[1].Address[1] != 4 || p.Witness != nil {
			t.Errorf("%+v", p.Owner)
		}
		if len(p.Actives) != 2 || p.Actives[0].Type.String() != "Active" || p.Actives[1].ID != 3 || len(p.Actives[0].Operations) != 32 {
			t.Errorf("%+v", p.Actives)
		}
	})
	t.Run("owner of other types", func(t *testing.T) {
		for _, tx := range []*tron.Tx{
			parse(t, raw(0, "AccountCreateContract", str(1, address(1)), str(2, address(2)))),
			parse(t, raw(10, "AccountUpdateContract", str(1, []byte("name")), str(2, address(1)))),
			parse(t, raw(13, "WithdrawBalanceContract", str(1, address(1)))),
		} {
			if tx.Contract.Owner == nil || tx.Contract.Owner[1] != 1 || len(tx.Contract.Parameter) == 0 {
				t.Errorf("%s: owner %v", tx.Contract.Type, tx.Contract.Owner)
			}
		}
	})
}

func parse(t *testing.T, b []byte) *tron.Tx {
	t.Helper()
	tx, err := tron.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := tx.Encode(); !bytes.Equal(got, b) {
		t.Fatalf("%x is written again as %x", b, got)
	}
	return tx
}

func TestRefusals(t *testing.T) {
	const transfer = "TransferContract"
	good := raw(1, transfer, str(1, address(1)), str(2, address(2)), num(3, 7))
	if _, err := tron.Parse(good); err != nil {
		t.Fatal(err)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	contract := good[4 : len(good)-2]
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"no contract", num(14, 5), "no contract"},
		{"two contracts", join(contract, contract), "exactly one contract"},
		{"unknown field", join(contract, num(19, 1)), "field 19 is not known"},
		{"auths", join(str(9, []byte{1}), contract), "field 9 is not known"},
		{"fields out of order", join(num(14, 5), contract), "ascending order"},
		{"field repeated", join(contract, num(14, 5), num(14, 5)), "ascending order"},
		{"zero written out", join(contract, num(14, 0)), "default value"},
		{"empty bytes written out", join(str(1, nil), contract), "default value"},
		{"negative", join(contract, num(18, 1<<63)), "negative"},
		{"wrong wire type", join(num(1, 5), contract), "wrong wire type"},
		{"group", join([]byte{0x0b, 0x0c}, contract), "wrong wire type"},
		{"long varint", join(contract, []byte{0x70, 0x85, 0x00}), "shortest form"},
		{"long tag", join(contract, []byte{0xf0, 0x00, 0x05}), "shortest form"},
		{"varint of 11 bytes", join(contract, []byte{0x70}, bytes.Repeat([]byte{0xff}, 10), []byte{1}), "truncated"},
		{"huge length", join([]byte{0x0a}, bytes.Repeat([]byte{0xff}, 9), []byte{1}), "truncated"},
		{"huge field number", join([]byte{0xf8}, bytes.Repeat([]byte{0xff}, 8), []byte{1}), "truncated"},
		{"unknown contract type", raw(7, "x"), "unknown contract type 7"},
		{"contract type above 32 bits", raw(1<<32+1, transfer), "unknown contract type"},
		{"parameter of another type", raw(1, "TriggerSmartContract", str(1, address(1)), str(2, address(2))), "has another type"},
		{"no owner", raw(1, transfer, str(2, address(2)), num(3, 7)), "owner_address is missing"},
		{"no recipient", raw(1, transfer, str(1, address(1)), num(3, 7)), "to_address is missing"},
		{"no contract address", raw(31, "TriggerSmartContract", str(1, address(1))), "contract_address is missing"},
		{"address of 20 bytes", raw(1, transfer, str(1, address(1)[1:]), str(2, address(2))), "21 bytes"},
		{"address of a test network", raw(1, transfer, str(1, append([]byte{0xa0}, address(1)[1:]...)), str(2, address(2))), "starts with 0x41"},
		{"unknown parameter field", raw(1, transfer, str(1, address(1)), str(2, address(2)), num(4, 7)), "field 4 is not known"},
		{"negative amount", raw(1, transfer, str(1, address(1)), str(2, address(2)), num(3, 1<<64-1)), "negative"},
		{"amount zero written out", raw(1, transfer, str(1, address(1)), str(2, address(2)), num(3, 0)), "default value"},
		{"unknown resource", raw(54, "FreezeBalanceV2Contract", str(1, address(1)), num(2, 4), num(3, 3)), "out of range"},
		{"lock is 2", raw(57, "DelegateResourceContract", str(1, address(1)), num(3, 4), str(4, address(2)), num(5, 2)), "out of range"},
		{"two owner permissions", raw(46, "AccountPermissionUpdateContract", str(1, address(1)), str(2, num(4, 1)), str(2, num(4, 1))), "ascending order"},
		{"key without address", raw(46, "AccountPermissionUpdateContract", str(1, address(1)), str(2, str(7, num(2, 1)))), "address is missing"},
		{"name that is not UTF-8", raw(46, "AccountPermissionUpdateContract", str(1, address(1)), str(2, str(3, []byte{0xff}))), "not UTF-8"},
		{"other type without owner", raw(13, "WithdrawBalanceContract", num(2, 1)), "owner_address is missing"},
		{"other type with two owners", raw(13, "WithdrawBalanceContract", str(1, address(1)), str(1, address(2))), "repeated"},
		{"other type, malformed", raw(13, "WithdrawBalanceContract", []byte{0xff}), "malformed"},
		{"too large", make([]byte, tron.MaxSize+1), "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := tron.Parse(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// A prefix may be a whole transaction when it ends between two fields, so only
// those that end inside the contract are always refused.
func TestTruncations(t *testing.T) {
	good := raw(1, "TransferContract", str(1, address(1)), str(2, address(2)), num(3, 7))
	for n := range len(good) - 2 {
		if _, err := tron.Parse(good[:n]); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
	if _, err := tron.Parse(append(good, 0)); err == nil {
		t.Error("a trailing byte is accepted")
	}
}

// FuzzParse: never a panic, and what parses is written again byte for byte.
func FuzzParse(f *testing.F) {
	for _, v := range testvectors.Section[vector](f, "signing", "tron") {
		f.Add(testvectors.Hex(f, v.RawDataHex))
		f.Add(testvectors.Hex(f, v.SignedTransactionHex))
	}
	f.Add(raw(46, "AccountPermissionUpdateContract", str(1, address(1)), str(2, str(3, []byte("owner")), num(4, 2), str(7, str(1, address(3)), num(2, 1))), str(4, num(1, 2))))
	f.Add(raw(2, "TransferAssetContract", str(1, []byte("1000001")), str(2, address(1)), str(3, address(2)), num(4, 9)))
	f.Add(raw(10, "AccountUpdateContract", str(1, []byte("name")), str(2, address(1))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := tron.Parse(raw)
		if err != nil {
			return
		}
		if got := tx.Encode(); !bytes.Equal(got, raw) {
			t.Fatalf("%x is written again as %x", raw, got)
		}
		if signed := tx.Signed([32]byte{}, [32]byte{}, 0); !bytes.Contains(signed, raw) || len(signed) > len(raw)+80 {
			t.Errorf("the signed form of %x is %x", raw, signed)
		}
	})
}
