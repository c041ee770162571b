package describe_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mr-tron/base58"
	"pgregory.net/rapid"

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
		return fact.SolanaTransfer{From: payer, To: to, Amount: new(fact.Uint(amount))}
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
			got := describe.Solana(tx, nil)
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

// what an instruction does, as the chain's documents say it.
type does struct {
	name     string
	data     []byte
	accounts []byte
	moves    string // from > to: amount; tokens also "by" the owner and "of" a mint
	effects  string // kind account > authority: amount
	untold   string // instead
}

// check describes a transaction with the instruction alone.
func (c *does) check(t *testing.T, program string) {
	t.Helper()
	got := describe.Solana(calling(t, program, c.data, c.accounts...), nil)
	name := func(key string) string {
		if i := slices.Index(testAccounts, key); i >= 0 {
			return string(rune('A' + i))
		}
		return map[string]string{table: "table", stranger: "stranger", base58.Encode(bytes.Repeat([]byte{8}, 32)): "second", "": "-"}[key]
	}
	amount := func(n *fact.Number) string {
		if n == nil {
			return "?"
		}
		return n.String()
	}
	var moves, effects []string
	for _, m := range got.Transfers {
		moves = append(moves, name(m.From)+" > "+name(m.To)+": "+amount(m.Amount))
	}
	for _, m := range got.SPLTransfers {
		moves = append(moves, name(m.From)+" > "+name(m.To)+": "+amount(m.Amount)+" by "+name(m.Owner)+" of "+name(m.TokenMint))
	}
	for _, e := range got.Effects {
		if e.Program != program || !slices.Contains(fact.SolanaEffectKinds(), e.Kind) {
			t.Errorf("effect %+v", e)
		}
		effects = append(effects, e.Kind+" "+name(e.Account)+" > "+name(e.Authority)+": "+amount(e.Amount))
	}
	if s := strings.Join(moves, ", "); s != c.moves {
		t.Errorf("moves %q, want %q", s, c.moves)
	}
	if s := strings.Join(effects, ", "); s != c.effects {
		t.Errorf("effects %q, want %q", s, c.effects)
	}
	untold, other := got.SystemUntold, got.TokensUntold
	if program != system {
		untold, other = other, untold
	}
	if (untold == "") != (c.untold == "") || !strings.Contains(untold, c.untold) || untold != "" && !strings.HasPrefix(untold, "instruction 0: ") || other != "" {
		t.Errorf("untold %q and %q, want %q", untold, other, c.untold)
	}
	if program == system && got.SPLTransfers != nil || program != system && got.Transfers != nil {
		t.Errorf("listed among the wrong transfers: %+v", got)
	}
}

// stranger is a key that is only in the data of instructions.
var (
	strangerKey = bytes.Repeat([]byte{9}, 32)
	stranger    = base58.Encode(strangerKey)
)

// TestSystemProgram goes through all instructions of the System Program.
func TestSystemProgram(t *testing.T) {
	key := func(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }
	seed := join(u64(4), []byte("seed"))
	number := func(n byte, fields ...[]byte) []byte { return join([]byte{n, 0, 0, 0}, join(fields...)) }
	for _, c := range []does{
		{"CreateAccount", number(0, u64(5), u64(2), strangerKey), []byte{0, 1}, "A > B: 5", "CreateAccount B > stranger: 5", ""},
		{"CreateAccount cut", number(0, u64(5), u64(2), strangerKey[1:]), []byte{0, 1}, "", "", "CreateAccount is cut short"},
		{"CreateAccount with one account", number(0, u64(5), u64(2), strangerKey), []byte{0}, "", "", "CreateAccount has too few accounts"},
		{"Assign", number(1, strangerKey), []byte{0}, "A > stranger: ?", "Assign A > stranger: ?", ""},
		{"Assign of no account", number(1, strangerKey), nil, "", "", "too few accounts"},
		{"Transfer", number(2, u64(7)), []byte{0, 1}, "A > B: 7", "", ""},
		{"Transfer of everything", number(2, u64(1<<64-1)), []byte{0, 1}, "A > B: 18446744073709551615", "", ""},
		{"Transfer with more accounts", number(2, u64(7)), []byte{0, 1, 2}, "A > B: 7", "", ""},
		{"Transfer with bytes behind it", number(2, u64(7), []byte{1}), []byte{0, 1}, "A > B: 7", "", ""},
		{"Transfer from and to a table", number(2, u64(7)), []byte{5, 6}, "table > table: 7", "", ""},
		{"Transfer with one account", number(2, u64(7)), []byte{0}, "", "", "Transfer has too few accounts"},
		{"Transfer cut", number(2, u64(7)[1:]), []byte{0, 1}, "", "", "Transfer is cut short"},
		{"CreateAccountWithSeed", number(3, key(8), seed, u64(5), u64(2), strangerKey), []byte{0, 1, 2}, "A > B: 5", "CreateAccountWithSeed B > stranger: 5", ""},
		{"a seed too long", number(3, key(8), u64(1<<63), u64(5), u64(2), strangerKey), []byte{0, 1}, "", "", "malformed"},
		{"a seed cut", number(3, key(8), u64(1)[1:]), []byte{0, 1}, "", "", "malformed"},
		{"a seed that is no text", number(3, key(8), u64(1), []byte{0xff}, u64(5), u64(2), strangerKey), []byte{0, 1}, "", "", "malformed"},
		{"nothing after the seed", number(3, key(8), seed), []byte{0, 1}, "", "", "cut short"},
		{"AdvanceNonceAccount", number(4), []byte{0, 1, 2}, "", "", ""},
		{"WithdrawNonceAccount", number(5, u64(6)), []byte{0, 1, 2, 3, 0}, "A > B: 6", "", ""},
		{"InitializeNonceAccount", number(6, strangerKey), []byte{0, 1, 2}, "A > stranger: ?", "InitializeNonceAccount A > stranger: ?", ""},
		{"AuthorizeNonceAccount", number(7, strangerKey), []byte{0, 1}, "A > stranger: ?", "AuthorizeNonceAccount A > stranger: ?", ""},
		{"Allocate", number(8, u64(1)), []byte{0}, "", "Allocate A > -: ?", ""},
		{"AllocateWithSeed", number(9, key(8), seed, u64(1), strangerKey), []byte{0, 1}, "A > stranger: ?", "AllocateWithSeed A > stranger: ?", ""},
		{"AssignWithSeed", number(10, key(8), seed, strangerKey), []byte{0, 1}, "A > stranger: ?", "AssignWithSeed A > stranger: ?", ""},
		{"TransferWithSeed", number(11, u64(8), seed, key(8)), []byte{0, 1, 2}, "A > C: 8", "", ""},
		{"TransferWithSeed with two accounts", number(11, u64(8), seed, key(8)), []byte{0, 1}, "", "", "too few accounts"},
		{"UpgradeNonceAccount", number(12), []byte{0}, "", "", ""},
		{"CreateAccountAllowPrefund", number(13, u64(5), u64(2), strangerKey), []byte{0, 1}, "", "", "number 13 of the System Program is not known"},
		{"a great number", []byte{0, 0, 0, 1}, nil, "", "", "number 16777216 "},
		{"a number of one byte", []byte{2}, []byte{0, 1}, "", "", "cut short"},
		{"no data", nil, []byte{0, 1}, "", "", "cut short"},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, system) })
	}
}

// TestTokenPrograms goes through all instructions of the token programs: what
// is not in the table is not told.
func TestTokenPrograms(t *testing.T) {
	number := func(n byte, fields ...[]byte) []byte { return join([]byte{n}, join(fields...)) }
	six, no, some := []byte{6}, []byte{0}, join([]byte{1}, strangerKey)
	second := bytes.Repeat([]byte{8}, 32)
	cases := []does{
		{"InitializeMint", number(0, six, second, some), []byte{0, 1}, "", "InitializeMint A > second: ?, InitializeMint A > stranger: ?", ""},
		{"InitializeMint that none freezes", number(0, six, second, no), []byte{0, 1}, "", "InitializeMint A > second: ?", ""},
		{"InitializeMint cut", number(0, six, second), []byte{0, 1}, "", "", "InitializeMint is cut short"},
		{"InitializeAccount", number(1), []byte{0, 1, 2, 3}, "", "InitializeAccount A > C: ?", ""},
		{"InitializeMultisig", number(2, []byte{2}), []byte{0, 3, 1, 2}, "", "InitializeMultisig A > B: ?, InitializeMultisig A > C: ?", ""},
		{"InitializeMultisig of none", number(2, []byte{2}), []byte{0, 3}, "", "InitializeMultisig A > -: ?", ""},
		{"Transfer", number(3, u64(9)), []byte{0, 1, 2}, "A > B: 9 by C of -", "", ""},
		{"Transfer by many", number(3, u64(9)), []byte{5, 1, 2, 3, 6}, "table > B: 9 by C of -", "", ""},
		{"Transfer with bytes behind it", number(3, u64(9), six), []byte{0, 1, 2}, "A > B: 9 by C of -", "", ""},
		{"Transfer with two accounts", number(3, u64(9)), []byte{0, 1}, "", "", "too few accounts"},
		{"Transfer cut", number(3, u64(9)[1:]), []byte{0, 1, 2}, "", "", "cut short"},
		{"Approve", number(4, u64(1<<64-1)), []byte{0, 1, 2}, "A > B: 18446744073709551615 by C of -", "Approve A > B: 18446744073709551615", ""},
		{"Revoke", number(5), []byte{0, 1}, "", "Revoke A > -: ?", ""},
		{"SetAuthority", number(6, []byte{2}, some), []byte{0, 1}, "A > stranger: ? by B of -", "SetAuthority A > stranger: ?", ""},
		{"SetAuthority to none", number(6, []byte{2}, no), []byte{0, 1}, "A > -: ? by B of -", "SetAuthority A > -: ?", ""},
		{"SetAuthority malformed", number(6, []byte{2, 2}, strangerKey), []byte{0, 1}, "", "", "malformed"},
		{"SetAuthority cut", number(6, []byte{2}), []byte{0, 1}, "", "", "cut short"},
		{"MintTo", number(7, u64(9)), []byte{0, 1, 2}, "- > B: 9 by C of A", "MintTo A > B: 9", ""},
		{"Burn", number(8, u64(9)), []byte{0, 1, 2}, "A > -: 9 by C of B", "Burn A > -: 9", ""},
		{"CloseAccount", number(9), []byte{0, 1, 2}, "A > B: ? by C of -", "CloseAccount A > B: ?", ""},
		{"FreezeAccount", number(10), []byte{0, 1, 2}, "", "FreezeAccount A > -: ?", ""},
		{"ThawAccount", number(11), []byte{0, 1, 2}, "", "ThawAccount A > -: ?", ""},
		{"TransferChecked", number(12, u64(9), six), []byte{0, 1, 2, 3}, "A > C: 9 by D of B", "", ""},
		{"TransferChecked by many", number(12, u64(9), six), []byte{0, 5, 6, 3, 1}, "A > table: 9 by D of table", "", ""},
		{"TransferChecked without decimals", number(12, u64(9)), []byte{0, 1, 2, 3}, "", "", "cut short"},
		{"TransferChecked with three accounts", number(12, u64(9), six), []byte{0, 1, 2}, "", "", "too few accounts"},
		{"ApproveChecked", number(13, u64(9), six), []byte{0, 1, 2, 3}, "A > C: 9 by D of B", "ApproveChecked A > C: 9", ""},
		{"MintToChecked", number(14, u64(9), six), []byte{0, 1, 2}, "- > B: 9 by C of A", "MintToChecked A > B: 9", ""},
		{"BurnChecked", number(15, u64(9), six), []byte{0, 1, 2}, "A > -: 9 by C of B", "BurnChecked A > -: 9", ""},
		{"InitializeAccount2", number(16, strangerKey), []byte{0, 1, 2}, "", "InitializeAccount2 A > stranger: ?", ""},
		{"SyncNative", number(17), []byte{0}, "", "", ""},
		{"InitializeAccount3", number(18, strangerKey), []byte{0, 1}, "", "InitializeAccount3 A > stranger: ?", ""},
		{"InitializeMultisig2", number(19, []byte{1}), []byte{0, 1}, "", "InitializeMultisig2 A > B: ?", ""},
		{"InitializeMint2", number(20, six, second, some), []byte{0}, "", "InitializeMint2 A > second: ?, InitializeMint2 A > stranger: ?", ""},
		{"GetAccountDataSize", number(21), []byte{0}, "", "", ""},
		{"InitializeImmutableOwner", number(22), []byte{0}, "", "InitializeImmutableOwner A > -: ?", ""},
		{"AmountToUiAmount", number(23, u64(9)), []byte{0}, "", "", ""},
		{"UiAmountToAmount", number(24, []byte("9")), []byte{0}, "", "", ""},
		{"InitializeMintCloseAuthority", number(25, some), []byte{0}, "", "InitializeMintCloseAuthority A > stranger: ?", ""},
		{"TransferCheckedWithFee", number(26, []byte{1}, u64(9), six, u64(1)), []byte{0, 1, 2, 3}, "A > C: 9 by D of B", "", ""},
		{"TransferCheckedWithFee without fee", number(26, []byte{1}, u64(9), six), []byte{0, 1, 2, 3}, "", "", "cut short"},
		{"WithdrawWithheldTokensFromMint", number(26, []byte{2}), []byte{0, 1, 2}, "", "", "number 26 of a token program is not known"},
		{"an extension cut", number(26), nil, "", "", "number 26 "},
		{"InitializePermanentDelegate", number(35, strangerKey), []byte{0}, "", "InitializePermanentDelegate A > stranger: ?", ""},
		{"no data", nil, []byte{0, 1, 2}, "", "", "cut short"},
	}
	known := map[byte]bool{}
	for _, c := range cases {
		if len(c.data) > 0 {
			known[c.data[0]] = true
		}
	}
	for n := range 256 {
		if !known[byte(n)] { // confidential transfers (27), excess lamports (38), batches (255) among them
			cases = append(cases, does{fmt.Sprint("number ", n), join([]byte{byte(n), 1}, u64(9), u64(9), u64(9), u64(9)), []byte{0, 1, 2, 3}, "", "", fmt.Sprintf("number %d of a token program is not known", n)})
		}
	}
	for _, c := range cases {
		for _, program := range []string{token, token2022} {
			t.Run(c.name+" of "+program, func(t *testing.T) { c.check(t, program) })
		}
	}
	signers := describe.Solana(calling(t, token, number(3, u64(9)), 5, 1, 2, 3, 6), nil).SPLTransfers[0].Signers
	if want := []string{testAccounts[3], table}; !slices.Equal(signers, want) {
		t.Errorf("signers %v, want %v", signers, want)
	}
}

// TestUntoldBesideTold: one instruction that is not known is enough, and the
// first of them is named.
func TestUntoldBesideTold(t *testing.T) {
	tx := calling(t, system, join([]byte{2, 0, 0, 0}, u64(7)), 0, 1)
	tx.Instructions = append(tx.Instructions, sol.Instruction{ProgramIndex: 4, Data: []byte{99, 0, 0, 0}}, sol.Instruction{ProgramIndex: 4})
	got := describe.Solana(tx, nil)
	if !strings.HasPrefix(got.SystemUntold, "instruction 1: number 99 ") || got.TokensUntold != "" {
		t.Errorf("untold: %q and %q", got.SystemUntold, got.TokensUntold)
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
	got := describe.Solana(tx, interfaces)
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
		if got := describe.Solana(tx, interfaces); got.Instructions[0].Parsed != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSolanaCompletely builds transactions from what they shall do, and compares
// with what is described: nothing is left out, whatever stands beside it.
func TestSolanaCompletely(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tx := &sol.Tx{Version: sol.Legacy, Signatures: make([][64]byte, 1), Header: sol.Header{RequiredSignatures: 1, ReadonlyUnsigned: 4}}
		var names []string
		for i := range byte(6) {
			tx.AccountKeys = append(tx.AccountKeys, sol.Key(bytes.Repeat([]byte{i + 1}, 32)))
			names = append(names, tx.AccountKeys[i].String())
		}
		for _, program := range []string{system, token, token2022, memo} { // 6 to 9
			tx.AccountKeys = append(tx.AccountKeys, key(program))
		}
		var lamports, tokens uint64 // that leave, by amounts that are told
		leaves := map[string]bool{} // accounts that lose something
		gets := map[string]bool{}   // keys that get control
		unknown := map[byte]bool{}  // programs
		for range rapid.IntRange(0, 8).Draw(r, "instructions") {
			account := func() byte { return byte(rapid.IntRange(0, 5).Draw(r, "account")) }
			from, to, third, other := account(), account(), account(), bytes.Repeat([]byte{byte(rapid.IntRange(20, 99).Draw(r, "key"))}, 32)
			n := rapid.Uint64Range(0, 1<<32).Draw(r, "amount")
			in := sol.Instruction{ProgramIndex: 6, Accounts: []byte{from, to, third, third}}
			control := base58.Encode(other)
			switch rapid.IntRange(0, 11).Draw(r, "what") {
			case 0: // Transfer, WithdrawNonceAccount
				in.Data = join([]byte{rapid.SampledFrom([]byte{2, 5}).Draw(r, "number"), 0, 0, 0}, u64(n))
				lamports += n
				leaves[names[from]] = true
			case 1: // CreateAccount
				in.Data = join(make([]byte, 4), u64(n), u64(0), other)
				lamports += n
				leaves[names[from]], gets[control] = true, true
			case 2: // Assign, InitializeNonceAccount, AuthorizeNonceAccount
				in.Data = join([]byte{rapid.SampledFrom([]byte{1, 6, 7}).Draw(r, "number"), 0, 0, 0}, other)
				leaves[names[from]], gets[control] = true, true
			case 3: // TransferWithSeed
				in.Data = join([]byte{11, 0, 0, 0}, u64(n), u64(1), []byte("s"), other)
				lamports += n
				leaves[names[from]] = true
			case 4: // a number that the System Program does not have here
				in.Data = join([]byte{rapid.Byte().Draw(r, "number"), 1, 0, 0}, other)
				unknown[6] = true
			case 5: // a memo
				in.ProgramIndex, in.Data = 9, other
			case 6: // Transfer, Burn
				in.ProgramIndex, in.Data = 7, join([]byte{rapid.SampledFrom([]byte{3, 8}).Draw(r, "number")}, u64(n))
				tokens += n
				leaves[names[from]] = true
			case 7: // TransferChecked, BurnChecked of Token-2022
				in.ProgramIndex, in.Data = 8, join([]byte{rapid.SampledFrom([]byte{12, 15}).Draw(r, "number")}, u64(n), []byte{6})
				tokens += n
				leaves[names[from]] = true
			case 8: // Approve
				in.ProgramIndex, in.Data = 7, join([]byte{4}, u64(n))
				tokens += n
				leaves[names[from]], gets[names[to]] = true, true
			case 9: // SetAuthority
				in.ProgramIndex, in.Data = 8, join([]byte{6, 2, 1}, other)
				leaves[names[from]], gets[control] = true, true
			case 10: // CloseAccount
				in.ProgramIndex, in.Data = 7, []byte{9}
				leaves[names[from]], gets[names[to]] = true, true
			case 11: // an extension
				in.ProgramIndex, in.Data = 8, join([]byte{byte(rapid.IntRange(36, 255).Draw(r, "number"))}, other)
				unknown[8] = true
			}
			tx.Instructions = append(tx.Instructions, in)
		}
		parsed, err := sol.Parse(tx.Encode())
		if err != nil {
			r.Fatal(err)
		}
		got := describe.Solana(parsed, nil)
		if (got.SystemUntold != "") != unknown[6] || (got.TokensUntold != "") != unknown[8] {
			r.Fatalf("untold %q and %q, want %v", got.SystemUntold, got.TokensUntold, unknown)
		}
		sum := func(total *uint64, amount *fact.Number, from string) {
			if amount != nil {
				*total -= amount.Magnitude.Uint64()
			}
			if !leaves[from] {
				r.Errorf("%s loses something", from)
			}
		}
		lost := map[string]bool{}
		for _, m := range got.Transfers {
			sum(&lamports, m.Amount, m.From)
			lost[m.From] = true
		}
		for _, m := range got.SPLTransfers {
			sum(&tokens, m.Amount, m.From)
			lost[m.From] = true
		}
		if lamports != 0 || tokens != 0 || len(lost) != len(leaves) {
			r.Errorf("%d lamports and %d tokens are left out; %v lose something, want %v", lamports, tokens, lost, leaves)
		}
		for _, e := range got.Effects {
			if e.Authority != "" && !gets[e.Authority] {
				r.Errorf("effect %+v", e)
			}
		}
		for control := range gets {
			if !slices.ContainsFunc(got.Effects, func(e fact.SolanaEffect) bool { return e.Authority == control }) {
				r.Errorf("%s gets control, and no effect says so", control)
			}
		}
	})
}
