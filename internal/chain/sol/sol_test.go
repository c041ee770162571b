package sol_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/chain/sol"
	"latchkey/testvectors"
)

type vector struct {
	Name, UnsignedHex, MessageHex, SignedHex string
	Version                                  any
	Signers                                  []struct{ Signer, PrivateKeyHex, SignatureHex string }
	Complete                                 bool
}

func TestVectors(t *testing.T) {
	for _, v := range testvectors.Section[vector](t, "signing", "solana") {
		t.Run(v.Name, func(t *testing.T) {
			raw := testvectors.Hex(t, v.UnsignedHex)
			for _, s := range v.Signers {
				tx, err := sol.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				if got := hex.EncodeToString(tx.Message()); got != v.MessageHex {
					t.Fatalf("message %s, want %s", got, v.MessageHex)
				}
				if want := map[any]int{"legacy": sol.Legacy, 0.0: 0}[v.Version]; tx.Version != want {
					t.Errorf("version %d, want %d", tx.Version, want)
				}
				key := ed25519.NewKeyFromSeed(testvectors.Hex(t, s.PrivateKeyHex))
				public := [32]byte(key.Public().(ed25519.PublicKey))
				if got := sol.Key(public).String(); got != s.Signer {
					t.Fatalf("signer %s, want %s", got, s.Signer)
				}
				index, ok := tx.SignerIndex(public)
				if !ok || !tx.IsSigner(index) {
					t.Fatalf("%s is not found among the signers", s.Signer)
				}
				sig := [64]byte(ed25519.Sign(key, tx.Message()))
				if got := hex.EncodeToString(sig[:]); got != s.SignatureHex {
					t.Errorf("signature %s, want %s", got, s.SignatureHex)
				}
				raw = tx.Signed(index, sig)
			}
			if got := hex.EncodeToString(raw); got != v.SignedHex {
				t.Errorf("signed\n %s, want\n %s", got, v.SignedHex)
			}
			tx, err := sol.Parse(raw)
			if err != nil {
				t.Fatalf("the signed transaction is refused: %v", err)
			}
			if tx.Signed(-1, [64]byte{}) != nil || tx.Signed(len(tx.Signatures), [64]byte{}) != nil {
				t.Error("a slot that is not there is filled")
			}
			if _, ok := tx.SignerIndex([32]byte{1}); ok {
				t.Error("an unknown key is found among the signers")
			}
			if _, ok := tx.SignerIndex(tx.AccountKeys[len(tx.AccountKeys)-1]); ok {
				t.Error("an account that does not sign is found among the signers")
			}
		})
	}
}

// TestFields looks at the vector with a lookup table: two transfers from the
// only signer to accounts of the table.
func TestFields(t *testing.T) {
	vectors := testvectors.Section[vector](t, "signing", "solana")
	tx, err := sol.Parse(testvectors.Hex(t, vectors[len(vectors)-1].UnsignedHex))
	if err != nil {
		t.Fatal(err)
	}
	if len(tx.Lookups) != 1 || len(tx.AccountKeys) != 2 || len(tx.Instructions) != 2 {
		t.Fatalf("%+v", tx)
	}
	in := tx.Instructions[0]
	if tx.AccountKeys[in.ProgramIndex] != (sol.Key{}) || len(in.Accounts) != 2 || len(in.Data) != 12 {
		t.Errorf("not a transfer: %+v", in)
	}
	from, to := int(in.Accounts[0]), int(in.Accounts[1])
	if !tx.IsSigner(from) || !tx.IsWritable(from) || tx.IsSigner(to) || !tx.IsWritable(to) || tx.IsWritable(int(in.ProgramIndex)) {
		t.Error("signers or writable accounts are wrong")
	}
	lookup, index, ok := tx.LookupOf(to)
	if !ok || lookup != 0 || index != tx.Lookups[0].Writable[0] {
		t.Errorf("lookup %d index %d %v", lookup, index, ok)
	}
	if _, _, ok := tx.LookupOf(from); ok {
		t.Error("an account key is taken for a lookup")
	}
	if _, _, ok := tx.LookupOf(256); ok {
		t.Error("an account that is not there is found in a lookup")
	}
}

func TestLookupOrder(t *testing.T) {
	tx := base()
	tx.Lookups = []sol.Lookup{{Table: sol.Key{8}, Writable: []byte{10}, Readonly: []byte{11}}, {Table: sol.Key{9}, Writable: []byte{20}, Readonly: []byte{21}}}
	var got []string
	for i := 2; i < 7; i++ {
		lookup, index, ok := tx.LookupOf(i)
		got = append(got, fmt.Sprint(lookup, index, ok, tx.IsWritable(i)))
	}
	want := "0 10 true true, 1 20 true true, 0 11 true false, 1 21 true false, 0 0 false false"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// base is a v0 transaction of one signer that calls a program.
func base() *sol.Tx {
	return &sol.Tx{
		Signatures:   make([][64]byte, 1),
		Header:       sol.Header{RequiredSignatures: 1, ReadonlyUnsigned: 1},
		AccountKeys:  []sol.Key{{1}, {2}},
		Instructions: []sol.Instruction{{ProgramIndex: 1, Accounts: []byte{0}, Data: []byte{7}}},
		Lookups:      []sol.Lookup{{Table: sol.Key{9}, Writable: []byte{3}}},
	}
}

func TestRefusals(t *testing.T) {
	if _, err := sol.Parse(base().Encode()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*sol.Tx)
		want   string
	}{
		{"version 1", func(tx *sol.Tx) { tx.Version = 1 }, "version 1 is not supported"},
		{"version 127", func(tx *sol.Tx) { tx.Version = 127 }, "version 127 is not supported"},
		{"no required signature", func(tx *sol.Tx) { tx.Header.RequiredSignatures = 0 }, "requires no signature"},
		{"no writable signer", func(tx *sol.Tx) { tx.Header.ReadonlySigned = 1 }, "no writable signer"},
		{"header beyond the keys", func(tx *sol.Tx) { tx.Header.ReadonlyUnsigned = 2 }, "more accounts than"},
		{"too many slots", func(tx *sol.Tx) { tx.Signatures = make([][64]byte, 2) }, "2 signature slots for 1"},
		{"too few slots", func(tx *sol.Tx) { tx.Signatures = nil }, "0 signature slots for 1"},
		{"no account keys", func(tx *sol.Tx) { tx.AccountKeys = nil }, "more accounts than"},
		{"an account key twice", func(tx *sol.Tx) { tx.AccountKeys[1] = tx.AccountKeys[0] }, "listed twice"},
		{"program is the fee payer", func(tx *sol.Tx) { tx.Instructions[0].ProgramIndex = 0 }, "calls the fee payer"},
		{"program from a table", func(tx *sol.Tx) { tx.Instructions[0].ProgramIndex = 2 }, "not among the account keys"},
		{"account out of range", func(tx *sol.Tx) { tx.Instructions[0].Accounts = []byte{3} }, "uses account 3 of 3"},
		{"empty lookup", func(tx *sol.Tx) { tx.Lookups[0].Writable = nil }, "loads no account"},
		{"too many accounts", func(tx *sol.Tx) { tx.Lookups[0].Writable = make([]byte, 255) }, "more than 256"},
		{"too large", func(tx *sol.Tx) { tx.Instructions[0].Data = make([]byte, 1232) }, "at most 1232"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx := base()
			c.change(tx)
			if _, err := sol.Parse(tx.Encode()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestCompactCounts(t *testing.T) {
	tail := base().Encode()[1:]
	for _, c := range []struct{ name, count, want string }{
		{"one in two bytes", "8100", "shortest form"},
		{"one in three bytes", "818000", "shortest form"},
		{"zero in two bytes", "8000", "shortest form"},
		{"above 65535", "808004", "shortest form"},
		{"four bytes", "80808001", "shortest form"},
		{"65535", "ffff03", "ends inside"},
		{"cut short", "80", "ends inside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := testvectors.Hex(t, c.count)
			if c.name != "cut short" {
				raw = append(raw, tail...)
			}
			if _, err := sol.Parse(raw); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// Every prefix of a good transaction is refused, and so is every extension.
func TestTruncations(t *testing.T) {
	for _, v := range testvectors.Section[vector](t, "signing", "solana") {
		raw := testvectors.Hex(t, v.UnsignedHex)
		for n := range raw {
			if _, err := sol.Parse(raw[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are accepted", v.Name, n)
			}
		}
		if _, err := sol.Parse(append(raw, 0)); err == nil {
			t.Errorf("%s: a trailing byte is accepted", v.Name)
		}
	}
}

// FuzzParse: never a panic, and what parses is written again byte for byte.
func FuzzParse(f *testing.F) {
	f.Add(base().Encode())
	for _, v := range testvectors.Section[vector](f, "signing", "solana") {
		f.Add(testvectors.Hex(f, v.UnsignedHex))
		f.Add(testvectors.Hex(f, v.SignedHex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := sol.Parse(raw)
		if err != nil {
			return
		}
		if got := tx.Encode(); !bytes.Equal(got, raw) {
			t.Fatalf("%x is written again as %x", raw, got)
		}
		sig := [64]byte{1, 2, 3}
		signed := tx.Signed(len(tx.Signatures)-1, sig)
		again, err := sol.Parse(signed)
		if err != nil || again.Signatures[len(tx.Signatures)-1] != sig || !bytes.Equal(again.Message(), tx.Message()) {
			t.Errorf("%x does not come back from %x: %v", raw, signed, err)
		}
		for i := range 300 {
			tx.IsWritable(i)
			tx.LookupOf(i)
		}
	})
}
