package transfer

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
	"golang.org/x/crypto/sha3"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/tron"
	"latchkey/internal/policy/fact"
)

const (
	usdc  = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	token = "eip155:1/erc20:" + usdc
	ether = "eip155:1/slip44:60"
	// The first 32 characters of the hashes of genesis blocks.
	mainSolana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/"
	devSolana  = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1/"
	usdcMint   = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	usdt       = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
)

// sum is what is moved of one asset, or why that cannot be told.
func sum(t *testing.T, moved *fact.Transfers, name string) string {
	t.Helper()
	asset, err := ParseAsset(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	sums, err := Sum(moved, []fact.Asset{asset})
	if err != nil {
		return "untold"
	}
	return sums[0].String()
}

func want(t *testing.T, what string, moved *fact.Transfers, amounts map[string]string) {
	t.Helper()
	for name, amount := range amounts {
		if got := sum(t, moved, name); got != amount {
			t.Errorf("%s moves %s of %s, want %s", what, got, name, amount)
		}
	}
}

// TestSelectors computes the selectors from what the standards call the functions.
func TestSelectors(t *testing.T) {
	signatures := []string{
		"transfer(address,uint256)", "transferFrom(address,address,uint256)", "approve(address,uint256)", "increaseAllowance(address,uint256)",
		"permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
		"transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		"transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
		"receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		"receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
	}
	for _, signature := range signatures {
		h := sha3.NewLegacyKeccak256()
		h.Write([]byte(signature))
		call, known := tokenCalls[[4]byte(h.Sum(nil))]
		_, arguments, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
		kinds := strings.Split(arguments, ",")
		if !known || call.words != len(kinds) || kinds[call.amount] != "uint256" {
			t.Errorf("%s: %v, known %v", signature, call, known)
		}
	}
	if len(tokenCalls) != len(signatures) {
		t.Errorf("%d functions are known, want %d", len(tokenCalls), len(signatures))
	}
}

func ethereum(change func(*eth.Tx)) *fact.Transfers {
	raw, _ := hex.DecodeString(usdc[2:])
	to := eth.Address(raw)
	tx := &eth.Tx{Type: eth.DynamicFee, ChainID: big.NewInt(1), To: &to, Value: new(big.Int)}
	change(tx)
	return Ethereum(tx)
}

func calldata(selector string, words ...int64) []byte {
	data, _ := hex.DecodeString(selector)
	for _, w := range words {
		data = append(data, big.NewInt(w).FillBytes(make([]byte, 32))...)
	}
	return data
}

func TestEthereum(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*eth.Tx)
		want   map[string]string
	}{
		"ether": {func(tx *eth.Tx) { tx.Value = big.NewInt(7) }, map[string]string{ether: "7", token: "0", "eip155:10/slip44:60": "0"}},
		"a transfer": {
			func(tx *eth.Tx) { tx.Data = calldata("a9059cbb", 1, 5) },
			map[string]string{token: "5", ether: "0", "eip155:1/erc20:0x" + strings.Repeat("1", 40): "0"},
		},
		"a transfer with more data": {func(tx *eth.Tx) { tx.Data = append(calldata("a9059cbb", 1, 5), 9, 9) }, map[string]string{token: "5"}},
		"transferFrom":              {func(tx *eth.Tx) { tx.Data = calldata("23b872dd", 1, 2, 6) }, map[string]string{token: "6"}},
		"an allowance":              {func(tx *eth.Tx) { tx.Data = calldata("095ea7b3", 1, 8) }, map[string]string{token: "8"}},
		"a short call":              {func(tx *eth.Tx) { tx.Data = calldata("a9059cbb", 1) }, map[string]string{token: "untold", ether: "0"}},
		"ether beside an unknown call": {
			func(tx *eth.Tx) { tx.Value, tx.Data = big.NewInt(3), calldata("12345678", 1) },
			map[string]string{ether: "3", token: "untold", "eip155:10/erc20:" + usdc: "0", mainSolana + "slip44:501": "0"},
		},
		"a new contract": {func(tx *eth.Tx) { tx.To, tx.Value, tx.Data = nil, big.NewInt(2), []byte{1} }, map[string]string{ether: "2", token: "untold"}},
		"no chain":       {func(tx *eth.Tx) { tx.Type, tx.ChainID = eth.Legacy, nil }, map[string]string{ether: "untold", token: "untold", "eip155:10/slip44:60": "untold", "tron:728126428/slip44:195": "0"}},
		"new code":       {func(tx *eth.Tx) { tx.Type = eth.SetCode }, map[string]string{ether: "untold", token: "untold", "eip155:10/slip44:60": "0"}},
	} {
		want(t, what, ethereum(c.change), c.want)
	}
	everything := calldata("095ea7b3", 1)
	for range 32 {
		everything = append(everything, 0xff)
	}
	max := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	want(t, "an allowance of everything", ethereum(func(tx *eth.Tx) { tx.Data = everything }), map[string]string{token: max.String()})
}

func typed(t *testing.T, domain, primary, types, message string) *fact.Transfers {
	t.Helper()
	doc := fmt.Sprintf(`{"domain":%s,"primaryType":%q,"types":%s,"message":%s}`, domain, primary, types, message)
	_, data, err := eth.TypedDataDigest([]byte(doc))
	if err != nil {
		t.Fatalf("%s: %v", primary, err)
	}
	return TypedData(data)
}

func TestTypedData(t *testing.T) {
	const (
		someone = `"0x1111111111111111111111111111111111111111"`
		zero    = `"0x0000000000000000000000000000000000000000000000000000000000000000"`
	)
	atToken := `{"name":"USD Coin","version":"2","chainId":1,"verifyingContract":"` + usdc + `"}`
	atPermit2 := `{"name":"Permit2","chainId":1,"verifyingContract":"0x000000000022D473030F116dDEE9F6B43aC78BA3"}`
	authorization := `[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]`
	pay := `{"from":` + someone + `,"to":` + someone + `,"value":"2500000","validAfter":0,"validBefore":9,"nonce":` + zero + `}`
	permit := `[{"name":"owner","type":"address"},{"name":"spender","type":"address"},{"name":"value","type":"uint256"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"}]`
	details := `"PermitDetails":[{"name":"token","type":"address"},{"name":"amount","type":"uint160"},{"name":"expiration","type":"uint48"},{"name":"nonce","type":"uint48"}]`
	permissions := `"TokenPermissions":[{"name":"token","type":"address"},{"name":"amount","type":"uint256"}]`
	usdcDetails := `{"token":"` + usdc + `","amount":"4","expiration":1,"nonce":1}`
	usdcPermission := `{"token":"` + usdc + `","amount":"5"}`
	for what, c := range map[string]struct {
		domain, primary, types, message string
		want                            map[string]string
	}{
		"EIP-3009": {
			atToken, "TransferWithAuthorization", `{"TransferWithAuthorization":` + authorization + `}`, pay,
			map[string]string{token: "2500000", ether: "0"},
		},
		"EIP-3009, received": {atToken, "ReceiveWithAuthorization", `{"ReceiveWithAuthorization":` + authorization + `}`, pay, map[string]string{token: "2500000"}},
		"EIP-3009 without a chain": {
			`{"name":"USD Coin","verifyingContract":"` + usdc + `"}`, "TransferWithAuthorization", `{"TransferWithAuthorization":` + authorization + `}`, pay,
			map[string]string{token: "untold"},
		},
		"EIP-3009 of other types": {
			atToken, "TransferWithAuthorization", `{"TransferWithAuthorization":` + strings.Replace(authorization, "uint256", "uint128", 1) + `}`, pay,
			map[string]string{token: "untold"},
		},
		"EIP-2612": {
			atToken, "Permit", `{"Permit":` + permit + `}`, `{"owner":` + someone + `,"spender":` + someone + `,"value":3,"nonce":0,"deadline":1}`,
			map[string]string{token: "3"},
		},
		"DAI's permit": {
			atToken, "Permit", `{"Permit":[{"name":"holder","type":"address"},{"name":"spender","type":"address"},{"name":"nonce","type":"uint256"},{"name":"expiry","type":"uint256"},{"name":"allowed","type":"bool"}]}`,
			`{"holder":` + someone + `,"spender":` + someone + `,"nonce":0,"expiry":1,"allowed":true}`,
			map[string]string{token: "untold", "eip155:10/slip44:60": "0"},
		},
		"Permit2, single": {
			atPermit2, "PermitSingle", `{"PermitSingle":[{"name":"details","type":"PermitDetails"},{"name":"spender","type":"address"},{"name":"sigDeadline","type":"uint256"}],` + details + `}`,
			`{"details":` + usdcDetails + `,"spender":` + someone + `,"sigDeadline":1}`,
			map[string]string{token: "4"},
		},
		"Permit2, batch": {
			atPermit2, "PermitBatch", `{"PermitBatch":[{"name":"details","type":"PermitDetails[]"},{"name":"spender","type":"address"},{"name":"sigDeadline","type":"uint256"}],` + details + `}`,
			`{"details":[` + usdcDetails + `,` + usdcDetails + `],"spender":` + someone + `,"sigDeadline":1}`,
			map[string]string{token: "8"},
		},
		"Permit2, transfer with witness": {
			atPermit2, "PermitWitnessTransferFrom", `{"PermitWitnessTransferFrom":[{"name":"permitted","type":"TokenPermissions"},{"name":"spender","type":"address"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"},{"name":"order","type":"Order"}],"Order":[{"name":"id","type":"uint256"}],` + permissions + `}`,
			`{"permitted":` + usdcPermission + `,"spender":` + someone + `,"nonce":1,"deadline":1,"order":{"id":1}}`,
			map[string]string{token: "5"},
		},
		"Permit2's types elsewhere": {
			atToken, "PermitTransferFrom", `{"PermitTransferFrom":[{"name":"permitted","type":"TokenPermissions"},{"name":"spender","type":"address"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"}],` + permissions + `}`,
			`{"permitted":` + usdcPermission + `,"spender":` + someone + `,"nonce":1,"deadline":1}`,
			map[string]string{token: "untold"},
		},
	} {
		want(t, what, typed(t, c.domain, c.primary, c.types, c.message), c.want)
	}
	for chain, amounts := range map[int64]map[string]string{0: {ether: "untold"}, 1: {ether: "untold", "eip155:10/slip44:60": "0"}, 10: {ether: "0"}} {
		want(t, "an authorization", Authorization(&eth.Authorization{ChainID: big.NewInt(chain)}), amounts)
	}
}

// TestAssociatedAccount compares with what @solana/web3.js derives, for owners of 32
// equal bytes; some of them need several attempts to leave the curve.
func TestAssociatedAccount(t *testing.T) {
	for program, accounts := range map[string][]string{
		tokenProgram: {
			"Gs6NxmndAL3PULGZeYUHCknpMdDVbL46eFCBh856p5z6", "8Ae4vjYTZ5Z8mq2GJMUXpU2LDKMsqDaA7Tg7sZ85Gz9T", "GewoiTtgmMFV5vERJqe64UJXUW2ygmxtAxZ8mhpju1dH",
			"DhscvS2mfxadjGkSvoGxKzgEi6ZnuLunmFEjcZ5sd5u1", "9mXjp24PXrRbfBJL6eQySAHjkvTF9XedbS3Mre8XTS5g", "9EqLqKVRabLwTdaX8L3xXtvF2PkTPrUCWt6tsU1ce2q",
		},
		token2022Program: {
			"6mjL8U6ekDjfwKRWGfpkDov39u9UgqKwpPZVBkCzWKLC", "ByEK9K1SCnnkRobPxgLNAkkcrRd5GyJRzyqXiWNzHGfu", "6c6xvGnXXWEmsknTEPRRVca8FyJLFL41P6e1CenPABWh",
			"3RJc86FzSCuKAzWgUBpae9116W5xZncEvedsi3KCF45x", "67XbdnTwEwtVnouRuLcYqKdacQVBpWucEXUS64WRHv4m", "8j6Zq3HWD2sjBcNoXCrq3wAFfLXUiLjUoaz526zknMUo",
		},
	} {
		for i, account := range accounts {
			owner := base58.Encode(bytes.Repeat([]byte{byte(i + 1)}, 32))
			if got, ok := associatedAccount(owner, program, usdcMint); !ok || got != account {
				t.Errorf("the account of %s is %s, want %s", owner, got, account)
			}
		}
	}
}

func TestSolana(t *testing.T) {
	n := func(v uint64) *fact.Number { number := fact.Uint(v); return &number }
	const owner = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g"
	account, ok := associatedAccount(owner, tokenProgram, usdcMint)
	if !ok {
		t.Fatal("the owner has no associated account")
	}
	native, mint, devMint := mainSolana+"slip44:501", mainSolana+"token:"+usdcMint, devSolana+"token:"+usdcMint
	system := []string{"11111111111111111111111111111111"}
	for what, c := range map[string]struct {
		tx   fact.SolanaTx
		want map[string]string
	}{
		"lamports": {fact.SolanaTx{ProgramKeys: system, Transfers: []fact.SolanaTransfer{{Amount: n(5)}, {Amount: n(6)}}}, map[string]string{native: "11", devSolana + "slip44:501": "11", mint: "0", ether: "0"}},
		"a checked transfer": {
			fact.SolanaTx{ProgramKeys: []string{tokenProgram}, SPLTransfers: []fact.SPLTransfer{{TokenMint: usdcMint, Amount: n(7)}}},
			map[string]string{mint: "7", devMint: "7", native: "0"},
		},
		"from the associated account": {fact.SolanaTx{SPLTransfers: []fact.SPLTransfer{{From: account, Owner: owner, Amount: n(8)}}}, map[string]string{mint: "8", native: "0"}},
		"from another account":        {fact.SolanaTx{SPLTransfers: []fact.SPLTransfer{{From: owner, Owner: owner, Amount: n(8)}}}, map[string]string{mint: "untold", native: "0", ether: "0"}},
		"an account given away":       {fact.SolanaTx{Transfers: []fact.SolanaTransfer{{From: owner}}}, map[string]string{native: "untold", mint: "0"}},
		"a closed token account":      {fact.SolanaTx{SPLTransfers: []fact.SPLTransfer{{From: account}}}, map[string]string{native: "untold", mint: "untold"}},
		"an unknown program":          {fact.SolanaTx{ProgramKeys: []string{owner}}, map[string]string{native: "untold", mint: "untold", ether: "0"}},
		"a new token account":         {fact.SolanaTx{ProgramKeys: []string{accountProgram}}, map[string]string{native: "untold", mint: "0"}},
		"an unknown instruction":      {fact.SolanaTx{TokensUntold: "instruction 0"}, map[string]string{native: "untold", mint: "untold"}},
	} {
		want(t, what, Solana(&c.tx), c.want)
	}
}

func TestTron(t *testing.T) {
	native, dollars := "tron:728126428/slip44:195", "tron:0x2b6653dc/trc20:"+usdt
	raw := [21]byte{0x41, 0xa6, 0x14, 0xf8, 0x03, 0xb6, 0xfd, 0x78, 0x09, 0x86, 0xa4, 0x2c, 0x78, 0xec, 0x9c, 0x7f, 0x77, 0xe6, 0xde, 0xd1, 0x3c}
	if got := tron.Address(raw).String(); got != usdt {
		t.Fatalf("the token is %s", got)
	}
	for what, c := range map[string]struct {
		contract tron.Contract
		want     map[string]string
	}{
		"TRX":             {tron.Contract{Transfer: &tron.Transfer{Amount: 9}}, map[string]string{native: "9", "tron:2494104990/slip44:195": "9", dollars: "0"}},
		"a token":         {tron.Contract{Trigger: &tron.Trigger{ContractAddress: raw, Data: calldata("a9059cbb", 1, 4)}}, map[string]string{dollars: "4", native: "0"}},
		"an unknown call": {tron.Contract{Trigger: &tron.Trigger{ContractAddress: raw, CallValue: 3, Data: []byte{1, 2, 3, 4}}}, map[string]string{dollars: "untold", native: "3"}},
		"a stake":         {tron.Contract{Freeze: &tron.Freeze{Balance: 5}}, map[string]string{native: "0", dollars: "0"}},
		"new owners":      {tron.Contract{Type: tron.AccountPermissionUpdateContract, UpdatePermission: &tron.UpdatePermission{}}, map[string]string{native: "untold", dollars: "untold"}},
	} {
		want(t, what, Tron(&tron.Tx{Contract: c.contract}), c.want)
	}
}

func TestBitcoin(t *testing.T) {
	mine, other := []byte{1}, []byte{2}
	own := func(o *btc.Output) (bool, error) { return o.Script[0] == 1, nil }
	main, test := "bip122:000000000019d6689c085ae165831e93/slip44:0", "bip122:000000000933ea01ad0ee984209779ba/slip44:0"
	tx := &btc.Tx{
		Inputs:  []btc.Input{{Amount: 100, Script: mine}, {Amount: 50, Script: other}, {Amount: 20, Script: mine}},
		Outputs: []btc.Output{{Value: 90, Script: other}, {Value: 30, Script: mine}},
	}
	for untold, amount := range map[string]string{"": "90", "input 0 is not proven": "untold"} {
		moved, err := Bitcoin(tx, untold, own)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "a spend", moved, map[string]string{main: amount, test: amount, ether: "0"})
	}
	tx.Outputs[1].Value = 130 // others pay in
	moved, err := Bitcoin(tx, "", own)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "a receipt", moved, map[string]string{main: "0"})
}

func TestParseAsset(t *testing.T) {
	for name, same := range map[string]string{
		"eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48": token,
		"tron:0x2b6653dc/slip44:195":                                "tron:728126428/slip44:195",
	} {
		a, err := ParseAsset(name)
		b, err2 := ParseAsset(same)
		if err != nil || err2 != nil || a != b {
			t.Errorf("%s is %v %v, and %s is %v %v", name, a, err, same, b, err2)
		}
	}
	for _, name := range []string{
		"", "eip155:1", "eip155:1/slip44:61", "eip155:0/slip44:60", "eip155:01/slip44:60", "eip155:-1/slip44:60", "eip155:x/slip44:60",
		"eip155:1/erc20:" + usdc[2:], "eip155:1/erc20:0x12", "eip155:1/erc721:" + usdc, "eip155:1/erc20:" + usdc + "00",
		"solana:main/slip44:501", mainSolana + "token:abc", mainSolana + "spl:" + usdcMint,
		"tron:728126428/trc20:" + usdt[:len(usdt)-1] + "u", "tron:728126428/trc10:1000001",
		"bip122:12a765e31ffd4059bada1e25190f6e98/slip44:2", "bip122:000000000019d6689c085ae165831e93/slip44:1", "cosmos:cosmoshub-4/slip44:118", "/:", ":/:",
	} {
		if a, err := ParseAsset(name); err == nil {
			t.Errorf("%q is accepted: %v", name, a)
		}
	}
}
