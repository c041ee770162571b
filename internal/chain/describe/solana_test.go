package describe_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mr-tron/base58"

	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/idl"
	"latchkey/internal/chain/sol"
	"latchkey/internal/policy/fact"
	"latchkey/testvectors"
)

const (
	system    = "11111111111111111111111111111111"
	token     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
	memo      = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
	compute   = "ComputeBudget111111111111111111111111111111"
	table     = "ADDRESS_TABLE_LOOKUP"
)

// TestSolanaVectors describes the transactions of @solana/web3.js. The
// expectations are what they were made of.
func TestSolanaVectors(t *testing.T) {
	const (
		payer    = "BYdEC8PgN9efDX5tNTn51fK95TzvWzw8L3uogdb9EKYq"
		second   = "J9z5pPp6ydUsgy8xDPgxYu1ioRGGJRhSVxFNsHcettnT"
		receiver = "5zVu4RtvQrsY7Tc1A2myzFDrseNLddQMX55fi5JXeZaU"
		hash     = "EETubP5AKHgjPAhzPAFcb8BAY1hMH639CWCFTqi3hq1k"
	)
	pays := fact.SolanaAccount{Key: payer, Signer: true, Writable: true}
	signs := fact.SolanaAccount{Key: second, Signer: true}
	gets := func(key string) fact.SolanaAccount { return fact.SolanaAccount{Key: key, Writable: true} }
	call := func(program, data string, accounts ...fact.SolanaAccount) fact.SolanaInstruction {
		return fact.SolanaInstruction{ProgramKey: program, DataHex: data, Accounts: accounts}
	}
	sent := func(to string, amount uint64) fact.SolanaTransfer {
		return fact.SolanaTransfer{From: payer, To: to, Amount: fact.Uint(amount)}
	}
	withMemo := func(data string, amount uint64) *fact.SolanaTx {
		return &fact.SolanaTx{
			AccountKeys:  []string{payer, second, receiver, system, memo},
			ProgramKeys:  []string{system, memo},
			Instructions: []fact.SolanaInstruction{call(system, data, pays, gets(receiver)), call(memo, "68656c6c6f206d656d6f", signs)},
			Transfers:    []fact.SolanaTransfer{sent(receiver, amount)},
		}
	}
	nines := base58.Encode(bytes.Repeat([]byte{9}, 32))
	reference := func(index uint64) fact.AddressTableReference {
		return fact.AddressTableReference{TableKey: nines, Index: fact.Uint(index), Writable: true}
	}
	fromTable := func(data string, index uint64) fact.SolanaInstruction {
		in := call(system, data, pays)
		in.AddressTableLookups = []fact.AddressTableReference{reference(index)}
		return in
	}
	want := map[string]*fact.SolanaTx{
		"legacy transfer": {
			AccountKeys:  []string{payer, second, system},
			ProgramKeys:  []string{system},
			Instructions: []fact.SolanaInstruction{call(system, "0200000040420f0000000000", pays, gets(second))},
			Transfers:    []fact.SolanaTransfer{sent(second, 1_000_000)},
		},
		"legacy two signers: compute budget + transfer + memo": {
			AccountKeys: []string{payer, second, receiver, system, compute, memo},
			ProgramKeys: []string{system, compute, memo},
			Instructions: []fact.SolanaInstruction{
				call(compute, "02400d0300"),
				call(compute, "038813000000000000"),
				call(system, "020000002a00000000000000", pays, gets(receiver)),
				call(memo, "68656c6c6f206d656d6f", signs),
			},
			Transfers: []fact.SolanaTransfer{sent(receiver, 42)},
		},
		"legacy two signers, partial (fee payer only)":     withMemo("020000002a00000000000000", 42),
		"legacy two signers, partial (second signer only)": withMemo("020000002a00000000000000", 42),
		"v0 transfer without lookup tables": {
			AccountKeys:  []string{payer, second, system},
			ProgramKeys:  []string{system},
			Instructions: []fact.SolanaInstruction{call(system, "020000000903000000000000", pays, gets(second))},
			Transfers:    []fact.SolanaTransfer{sent(second, 777)},
		},
		"v0 two signers with memo": withMemo("020000000100000000000000", 1),
		"v0 with address lookup table": {
			AccountKeys:                  []string{payer, system},
			ProgramKeys:                  []string{system},
			Instructions:                 []fact.SolanaInstruction{fromTable("020000000500000000000000", 0), fromTable("020000000600000000000000", 1)},
			Transfers:                    []fact.SolanaTransfer{sent(table, 5), sent(table, 6)},
			AddressTableLookups:          []fact.AddressTableLookup{{TableKey: nines, WritableIndexes: []fact.Number{fact.Uint(0), fact.Uint(1)}, ReadonlyIndexes: []fact.Number{}}},
			AddressTableLookupReferences: []fact.AddressTableReference{reference(0), reference(1)},
		},
	}
	for _, v := range testvectors.Section[struct{ Name, UnsignedHex string }](t, "signing", "solana") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := sol.Parse(testvectors.Hex(t, v.UnsignedHex))
			if err != nil {
				t.Fatal(err)
			}
			got, err := describe.Solana(tx, nil)
			if err != nil {
				t.Fatal(err)
			}
			w := want[v.Name]
			if w == nil {
				t.Fatal("no expectation")
			}
			w.RecentBlockhash = hash
			if diff := cmp.Diff(w, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func key(text string) sol.Key {
	b, err := base58.Decode(text)
	if err != nil {
		panic(err)
	}
	return sol.Key(b)
}

// Accounts of the transactions below; 5 and 6 are from a table.
var testAccounts = []string{
	base58.Encode(bytes.Repeat([]byte{1}, 32)),
	base58.Encode(bytes.Repeat([]byte{2}, 32)),
	base58.Encode(bytes.Repeat([]byte{3}, 32)),
	base58.Encode(bytes.Repeat([]byte{4}, 32)),
}

// calling is a transaction with one instruction. The accounts are testAccounts, then
// the program, then two from a table.
func calling(tb testing.TB, program string, data []byte, accounts ...byte) *sol.Tx {
	tb.Helper()
	tx := &sol.Tx{
		Signatures:   make([][64]byte, 2),
		Header:       sol.Header{RequiredSignatures: 2, ReadonlySigned: 1, ReadonlyUnsigned: 1},
		Instructions: []sol.Instruction{{ProgramIndex: 4, Accounts: accounts, Data: data}},
		Lookups:      []sol.Lookup{{Table: sol.Key{7}, Writable: []byte{20}}, {Table: sol.Key{8}, Readonly: []byte{30}}},
	}
	for _, p := range testAccounts {
		tx.AccountKeys = append(tx.AccountKeys, key(p))
	}
	tx.AccountKeys = append(tx.AccountKeys, key(program))
	parsed, err := sol.Parse(tx.Encode())
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestSystemProgram(t *testing.T) {
	who := make([]byte, 32)
	seed := join(u64(4), []byte("seed"))
	for _, c := range []struct {
		name     string
		data     []byte
		accounts []byte
		want     []fact.SolanaTransfer
		err      string
	}{
		{"CreateAccount", join([]byte{0, 0, 0, 0}, u64(1), u64(2), who), nil, nil, ""},
		{"CreateAccount cut", join([]byte{0, 0, 0, 0}, u64(1), u64(2), who[1:]), nil, nil, "no such instruction"},
		{"Assign", join([]byte{1, 0, 0, 0}, who), nil, nil, ""},
		{"Transfer", join([]byte{2, 0, 0, 0}, u64(7)), []byte{0, 1}, []fact.SolanaTransfer{{From: testAccounts[0], To: testAccounts[1], Amount: fact.Uint(7)}}, ""},
		{"Transfer of everything", join([]byte{2, 0, 0, 0}, u64(1<<64-1)), []byte{0, 1}, []fact.SolanaTransfer{{From: testAccounts[0], To: testAccounts[1], Amount: fact.Uint(1<<64 - 1)}}, ""},
		{"Transfer with more accounts", join([]byte{2, 0, 0, 0}, u64(7)), []byte{0, 1, 2}, []fact.SolanaTransfer{{From: testAccounts[0], To: testAccounts[1], Amount: fact.Uint(7)}}, ""},
		{"Transfer with bytes behind it", join([]byte{2, 0, 0, 0}, u64(7), []byte{1}), []byte{0, 1}, []fact.SolanaTransfer{{From: testAccounts[0], To: testAccounts[1], Amount: fact.Uint(7)}}, ""},
		{"Transfer from and to a table", join([]byte{2, 0, 0, 0}, u64(7)), []byte{5, 6}, []fact.SolanaTransfer{{From: table, To: table, Amount: fact.Uint(7)}}, ""},
		{"Transfer with one account", join([]byte{2, 0, 0, 0}, u64(7)), []byte{0}, nil, "has two accounts"},
		{"Transfer cut", join([]byte{2, 0, 0, 0}, u64(7)[1:]), []byte{0, 1}, nil, "no such instruction"},
		{"CreateAccountWithSeed", join([]byte{3, 0, 0, 0}, who, seed, u64(1), u64(2), who), nil, nil, ""},
		{"a seed too long", join([]byte{3, 0, 0, 0}, who, u64(1<<63), u64(1), u64(2), who), nil, nil, "no such instruction"},
		{"a seed cut", join([]byte{3, 0, 0, 0}, who, u64(1)[1:]), nil, nil, "no such instruction"},
		{"a seed that is no text", join([]byte{3, 0, 0, 0}, who, u64(1), []byte{0xff}, u64(1), u64(2), who), nil, nil, "no such instruction"},
		{"nothing after the seed", join([]byte{3, 0, 0, 0}, who, seed), nil, nil, "no such instruction"},
		{"AdvanceNonceAccount", []byte{4, 0, 0, 0}, nil, nil, ""},
		{"WithdrawNonceAccount", join([]byte{5, 0, 0, 0}, u64(1)), nil, nil, ""},
		{"InitializeNonceAccount", join([]byte{6, 0, 0, 0}, who), nil, nil, ""},
		{"AuthorizeNonceAccount", join([]byte{7, 0, 0, 0}, who), nil, nil, ""},
		{"Allocate", join([]byte{8, 0, 0, 0}, u64(1)), nil, nil, ""},
		{"AllocateWithSeed", join([]byte{9, 0, 0, 0}, who, seed, u64(1), who), nil, nil, ""},
		{"AssignWithSeed", join([]byte{10, 0, 0, 0}, who, seed, who), nil, nil, ""},
		{"TransferWithSeed", join([]byte{11, 0, 0, 0}, u64(1), seed, who), []byte{0, 1}, nil, ""},
		{"UpgradeNonceAccount", []byte{12, 0, 0, 0}, nil, nil, ""},
		{"number 13", []byte{13, 0, 0, 0}, nil, nil, "no such instruction"},
		{"a number of one byte", []byte{2}, []byte{0, 1}, nil, "no such instruction"},
		{"no data", nil, []byte{0, 1}, nil, "no such instruction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := describe.Solana(calling(t, system, c.data, c.accounts...), nil)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), "instruction 0: ") || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Transfers); diff != "" || got.SPLTransfers != nil {
				t.Error(diff, got.SPLTransfers)
			}
		})
	}
}

func TestTokenPrograms(t *testing.T) {
	for _, c := range []struct {
		name     string
		data     []byte
		accounts []byte
		want     *fact.SPLTransfer
		err      string
	}{
		{"Transfer", join([]byte{3}, u64(9)), []byte{0, 1, 2}, &fact.SPLTransfer{From: testAccounts[0], To: testAccounts[1], Owner: testAccounts[2], Amount: fact.Uint(9), Signers: []string{}}, ""},
		{"Transfer by many", join([]byte{3}, u64(9)), []byte{5, 1, 2, 3, 6}, &fact.SPLTransfer{From: table, To: testAccounts[1], Owner: testAccounts[2], Amount: fact.Uint(9), Signers: []string{testAccounts[3], table}}, ""},
		{"Transfer with bytes behind it", join([]byte{3}, u64(9), []byte{1}), []byte{0, 1, 2}, &fact.SPLTransfer{From: testAccounts[0], To: testAccounts[1], Owner: testAccounts[2], Amount: fact.Uint(9), Signers: []string{}}, ""},
		{"Transfer with two accounts", join([]byte{3}, u64(9)), []byte{0, 1}, nil, "too few accounts"},
		{"Transfer cut", join([]byte{3}, u64(9)[1:]), []byte{0, 1, 2}, nil, "cut short"},
		{"TransferChecked", join([]byte{12}, u64(9), []byte{6}), []byte{0, 1, 2, 3}, &fact.SPLTransfer{From: testAccounts[0], TokenMint: testAccounts[1], To: testAccounts[2], Owner: testAccounts[3], Amount: fact.Uint(9), Signers: []string{}}, ""},
		{"TransferChecked by many", join([]byte{12}, u64(9), []byte{6}), []byte{0, 5, 6, 3, 1}, &fact.SPLTransfer{From: testAccounts[0], TokenMint: table, To: table, Owner: testAccounts[3], Amount: fact.Uint(9), Signers: []string{testAccounts[1]}}, ""},
		{"TransferChecked without decimals", join([]byte{12}, u64(9)), []byte{0, 1, 2, 3}, nil, "cut short"},
		{"TransferChecked with three accounts", join([]byte{12}, u64(9), []byte{6}), []byte{0, 1, 2}, nil, "too few accounts"},
		{"TransferCheckedWithFee", join([]byte{26, 1}, u64(9), []byte{6}, u64(1)), []byte{0, 1, 2, 3}, &fact.SPLTransfer{From: testAccounts[0], TokenMint: testAccounts[1], To: testAccounts[2], Owner: testAccounts[3], Amount: fact.Uint(9), Signers: []string{}}, ""},
		{"TransferCheckedWithFee without fee", join([]byte{26, 1}, u64(9), []byte{6}), []byte{0, 1, 2, 3}, nil, "cut short"},
		{"another extension of fees", []byte{26, 0}, nil, nil, ""},
		{"an extension cut", []byte{26}, nil, nil, "cut short"},
		{"Approve", join([]byte{4}, u64(9)), []byte{0, 1, 2}, nil, ""},
		{"no data", nil, []byte{0, 1, 2}, nil, "cut short"},
	} {
		for _, program := range []string{token, token2022} {
			t.Run(c.name+" of "+program, func(t *testing.T) {
				got, err := describe.Solana(calling(t, program, c.data, c.accounts...), nil)
				if c.err != "" {
					if err == nil || !strings.Contains(err.Error(), c.err) {
						t.Errorf("%v, want %q", err, c.err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var want []fact.SPLTransfer
				if c.want != nil {
					want = append(want, *c.want)
				}
				if diff := cmp.Diff(want, got.SPLTransfers); diff != "" || got.Transfers != nil {
					t.Error(diff, got.Transfers)
				}
			})
		}
	}
}

// TestSolanaInstruction looks at one call with accounts of all sorts.
func TestSolanaInstruction(t *testing.T) {
	text := `{"instructions":[{"name":"pay","discriminator":[1],"accounts":[{"name":"from"},{"name":"to"},{"name":"pool"}],"args":[{"name":"amount","type":"u64"}]}],"types":[]}`
	program, err := idl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	interfaces := known{programs: map[string]*idl.Interface{memo: program}}
	tx := calling(t, memo, join([]byte{1}, u64(7)), 0, 5, 6, 3, 1)
	got, err := describe.Solana(tx, interfaces)
	if err != nil {
		t.Fatal(err)
	}
	tableOf := func(b byte) string { return base58.Encode(append([]byte{b}, make([]byte, 31)...)) }
	writable := fact.AddressTableReference{TableKey: tableOf(7), Index: fact.Uint(20), Writable: true}
	readonly := fact.AddressTableReference{TableKey: tableOf(8), Index: fact.Uint(30)}
	want := &fact.SolanaTx{
		AccountKeys: append(slices.Clone(testAccounts), memo),
		ProgramKeys: []string{memo},
		Instructions: []fact.SolanaInstruction{{
			ProgramKey:          memo,
			DataHex:             "010700000000000000",
			Accounts:            []fact.SolanaAccount{{Key: testAccounts[0], Signer: true, Writable: true}, {Key: testAccounts[3], Writable: true}, {Key: testAccounts[1], Signer: true}},
			AddressTableLookups: []fact.AddressTableReference{writable, readonly},
			Parsed: &fact.ParsedInstruction{
				Name: "pay", Discriminator: "01",
				NamedAccounts: fact.Map{{Name: "from", Value: fact.String(testAccounts[0])}, {Name: "to", Value: fact.String(table)}, {Name: "pool", Value: fact.String(table)}},
				Args:          fact.Map{{Name: "amount", Value: fact.Unsigned(fact.Uint(7))}},
			},
		}},
		RecentBlockhash: system, // 32 zeros
		AddressTableLookups: []fact.AddressTableLookup{
			{TableKey: tableOf(7), WritableIndexes: []fact.Number{fact.Uint(20)}, ReadonlyIndexes: []fact.Number{}},
			{TableKey: tableOf(8), WritableIndexes: []fact.Number{}, ReadonlyIndexes: []fact.Number{fact.Uint(30)}},
		},
		AddressTableLookupReferences: []fact.AddressTableReference{writable, readonly},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Whatever the interface does not fit is described without it.
	for name, tx := range map[string]*sol.Tx{
		"another program": calling(t, compute, join([]byte{1}, u64(7)), 0, 1, 2),
		"other data":      calling(t, memo, join([]byte{2}, u64(7)), 0, 1, 2),
		"few accounts":    calling(t, memo, join([]byte{1}, u64(7)), 0, 1),
	} {
		if got, err := describe.Solana(tx, interfaces); err != nil || got.Instructions[0].Parsed != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
