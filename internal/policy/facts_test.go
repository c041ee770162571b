package policy

import (
	"math/big"
	"testing"
	"time"

	"latchkey/internal/policy/fact"
)

// The requests that the tables in testdata speak of, by name. Every field has a
// value of its own, so that reading the wrong one shows.

const (
	contractAddress = "0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D"
	ownerAddress    = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"
	tokenAddress    = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	tronAddress     = "TVj7RNVHy6thbM7BWdSe9G6gXwKhjhdNZS"
)

// maxUint256 is 2^256-1.
var maxUint256 = fact.Number{Magnitude: [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}

func ptr[T any](v T) *T { return &v }

func num(v uint64) fact.Value { return fact.Value{Kind: fact.Num, Number: fact.Uint(v)} }

func str(s string) fact.Value { return fact.Value{Kind: fact.Text, Text: s} }

func addr(s string) fact.Value { return fact.Value{Kind: fact.Text, Text: s, Fold: true} }

func list(all ...fact.Value) fact.Value { return fact.Value{Kind: fact.List, List: all} }

func record(all fact.Map) fact.Value { return fact.Value{Kind: fact.Struct, Fields: all} }

func numbers(all ...uint64) []fact.Number {
	var n []fact.Number
	for _, v := range all {
		n = append(n, fact.Uint(v))
	}
	return n
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) // a Wednesday

// environment returns the named request with two approvers.
func environment(t testing.TB, name string) *Env {
	t.Helper()
	request, found := requests()[name]
	if !found {
		t.Fatalf("there is no request %q in facts_test.go", name)
	}
	return &Env{
		Request: request,
		Consensus: &fact.Consensus{
			Approvers: []fact.User{
				{ID: "alice", Email: "alice@example.com", Alias: "Alice", Tags: []string{"admin", "ops"}},
				{ID: "bob", Alias: "Bob", Tags: []string{"trader"}},
			},
			Credentials: []fact.Credential{
				{ID: "key-a", UserID: "alice", Type: "CREDENTIAL_TYPE_API_KEY_P256", PublicKey: "02aa"},
				{ID: "pass-b", UserID: "bob", Type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR", CredentialID: "raw-b", PublicKey: "03bb"},
			},
		},
		Now: noon,
	}
}

func requests() map[string]*fact.Request {
	sign := fact.Activity{
		Type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", Kind: "SIGN_TRANSACTION", Resource: "PRIVATE_KEY", Action: "SIGN",
		Params: fact.Params{Type: ptr("TRANSACTION_TYPE_ETHEREUM")},
	}
	wallet := &fact.Wallet{ID: "w1", Label: "hot", Imported: true}
	account := &fact.WalletAccount{Address: ownerAddress, Addresses: func() []string { return []string{ownerAddress, tronAddress} }}
	signed := func(change func(*fact.Request)) *fact.Request {
		r := &fact.Request{Activity: sign, Wallet: wallet, WalletAccount: account, Controls: []fact.ControlState{
			{Identifier: "daily", Holds: true}, {Identifier: "full"}, {Identifier: "raw", Unreadable: "a raw payload may be anything"},
		}}
		change(r)
		return r
	}
	params := func(kind string, change func(*fact.Params)) *fact.Request {
		r := &fact.Request{Activity: fact.Activity{Type: "ACTIVITY_TYPE_" + kind, Kind: kind}}
		change(&r.Activity.Params)
		return r
	}
	return map[string]*fact.Request{
		"none": {Activity: fact.Activity{Type: "ACTIVITY_TYPE_CREATE_WALLET", Kind: "CREATE_WALLET", Resource: "WALLET", Action: "CREATE"}},
		"eth": signed(func(r *fact.Request) {
			r.Ethereum = &fact.EthereumTx{
				From: ownerAddress, To: contractAddress, Data: "0x", Type: "TYPE_2",
				Value: fact.Uint(1_000_000_000_000_000_000), Gas: fact.Uint(21000), GasPrice: fact.Uint(31), ChainID: fact.Uint(1), Nonce: fact.Uint(7),
				MaxFeePerGas: fact.Uint(32), MaxPriorityFeePerGas: fact.Uint(2), MaxFeePerBlobGas: fact.Uint(3),
			}
		}),
		"huge": signed(func(r *fact.Request) {
			r.Ethereum = &fact.EthereumTx{To: "", Value: maxUint256, Data: "0xa9059cbb" + pad("AB5801a7d398351b8be11c439e05c5b3259aec9b") + pad("2a"), FunctionSignature: "0xa9059cbb"}
		}),
		"call": signed(func(r *fact.Request) {
			r.Ethereum = &fact.EthereumTx{
				From: ownerAddress, To: contractAddress, Data: "0xa9059cbb00", FunctionName: "transfer", FunctionSignature: "0xa9059cbb",
				ContractCallArgs: &fact.Map{
					{Name: "to", Value: addr("0xab5801a7d398351b8be11c439e05c5b3259aec9b")},
					{Name: "amount", Value: fact.Value{Kind: fact.Num, Number: maxUint256}},
					{Name: "small", Value: num(5)},
					{Name: "negative", Value: fact.Value{Kind: fact.Num, Number: fact.Int(-5)}},
					{Name: "memo", Value: str("Hello")},
					{Name: "flag", Value: fact.Value{Kind: fact.Bool, Bool: true}},
					{Name: "recipients", Value: list(addr(ownerAddress), addr(tokenAddress))},
					{Name: "amounts", Value: list(num(1), num(2), num(3))},
					{Name: "mixed", Value: list(num(1), str("a"))},
					{Name: "calls", Value: list(list(addr(contractAddress), num(0)), list(addr(contractAddress), num(1)))},
					{Name: "empty", Value: list()},
					{Name: "nothing", Value: fact.Value{Kind: fact.Null}},
					{Name: "wide", Value: fact.Value{Kind: fact.Unreadable, Text: "the integer does not fit"}},
				},
			}
		}),
		"eip712": {
			Activity: fact.Activity{
				Type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", Kind: "SIGN_RAW_PAYLOAD", Resource: "PRIVATE_KEY", Action: "SIGN",
				Params: fact.Params{Encoding: ptr("PAYLOAD_ENCODING_EIP712"), HashFunction: ptr("HASH_FUNCTION_NO_OP")},
			},
			PrivateKey: &fact.PrivateKey{ID: "k1", Label: "cold", Tags: []string{"treasury"}, Exported: true},
			EIP712: &fact.EIP712{
				PrimaryType: "PermitBatchTransferFrom",
				Domain:      fact.EIP712Domain{Name: "Permit2", VerifyingContract: contractAddress, ChainID: fact.Uint(8453)},
				Message: fact.Map{
					{Name: "permitted", Value: list(
						record(fact.Map{{Name: "token", Value: addr(tokenAddress)}, {Name: "amount", Value: num(99)}}),
						record(fact.Map{{Name: "token", Value: addr(ownerAddress)}, {Name: "amount", Value: num(101)}}),
					)},
					{Name: "spender", Value: addr(ownerAddress)},
					{Name: "note", Value: str("0xABCDEF")},
					{Name: "uneven", Value: list(record(fact.Map{{Name: "a", Value: num(1)}}), record(fact.Map{{Name: "b", Value: num(2)}}))},
				},
			},
		},
		"authorization": {
			Activity: fact.Activity{Type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", Action: "SIGN"},
			EIP7702:  &fact.EIP7702{Address: contractAddress, ChainID: fact.Uint(10), Nonce: fact.Uint(4)},
		},
		"solana": signed(func(r *fact.Request) { r.Solana = solanaTransaction() }),
		"solana_untold": signed(func(r *fact.Request) {
			r.Solana = &fact.SolanaTx{
				SystemUntold: "instruction 1: number 13 of the System Program is not known",
				SPLTransfers: []fact.SPLTransfer{{From: "ta", To: "thief"}}, Transfers: []fact.SolanaTransfer{{From: "payer", To: "receiver", Amount: ptr(fact.Uint(1))}},
			}
		}),
		"solana_handover": signed(func(r *fact.Request) {
			r.Solana = &fact.SolanaTx{
				Transfers:    []fact.SolanaTransfer{{From: "payer", To: "thief"}},
				Effects:      []fact.SolanaEffect{{Program: "sys", Kind: "Assign", Account: "payer", Authority: "thief"}},
				TokensUntold: "instruction 0: number 255 of a token program is not known",
			}
		}),
		"tron":    signed(func(r *fact.Request) { r.Tron = tronTransaction() }),
		"bitcoin": signed(func(r *fact.Request) { r.Bitcoin = bitcoinTransaction() }),
		"bitcoin_untold": signed(func(r *fact.Request) {
			r.Bitcoin = bitcoinTransaction()
			r.Bitcoin.FeeUntold = "input 0 has no non_witness_utxo"
		}),
		"tempo": signed(func(r *fact.Request) {
			r.Tempo = &fact.TempoTx{
				From: ownerAddress, FeeToken: tokenAddress, ChainID: fact.Uint(42431), Nonce: fact.Uint(1), GasLimit: fact.Uint(2),
				MaxFeePerGas: fact.Uint(3), MaxPriorityFeePerGas: fact.Uint(4), ValidBefore: fact.Uint(5), ValidAfter: fact.Uint(6),
				Calls: []fact.TempoCall{{To: contractAddress, Input: "0xA9059CBB00", FunctionSignature: "0xa9059cbb"}},
			}
		}),
		"export": {
			Activity: fact.Activity{Type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", Kind: "EXPORT_WALLET_ACCOUNT", Resource: "WALLET", Action: "EXPORT", Params: fact.Params{TargetPublicKey: ptr("04ff")}},
			Wallet:   wallet,
			WalletAccount: &fact.WalletAccount{
				Address: ownerAddress, Exporting: true, PathIndexes: numbers(44, 60, 0), PathHardened: []bool{true, true, false},
				WalletID: "w1", Curve: "CURVE_SECP256K1", AddressFormat: "ADDRESS_FORMAT_ETHEREUM",
			},
		},
		"wallets": {Wallets: []fact.Wallet{{ID: "w1", Label: "hot"}, {ID: "w2", Label: "cold", Exported: true}}},
		"secret":  {Secret: &fact.Secret{StaticProperties: fact.Map{{Name: "kind", Value: str("apiKey")}, {Name: "odd", Value: num(1)}}}},

		"delete_users":    params("DELETE_USERS", func(p *fact.Params) { p.UserIDs = []string{"alice"} }),
		"delete_no_users": params("DELETE_USERS", func(p *fact.Params) { p.UserIDs = []string{} }),
		"delete_api_keys": params("DELETE_API_KEYS", func(p *fact.Params) { p.UserID, p.APIKeyIDs = ptr("alice"), []string{"key-a", "key-b"} }),
		"update_wallet":   params("UPDATE_WALLET", func(p *fact.Params) { p.WalletID = ptr("w9") }),
		"otp":             params("INIT_OTP_AUTH_V3", func(p *fact.Params) { p.OTPLength = ptr(fact.Uint(6)) }),
		"login":           params("STAMP_LOGIN", func(p *fact.Params) { p.SessionProfileID = ptr("") }),
		"webhook":         params("UPDATE_WEBHOOK_ENDPOINT", func(p *fact.Params) { p.EndpointID = ptr("e1") }),
		"update_user":     params("UPDATE_USER", func(p *fact.Params) { p.TagsGiven, p.TagsTaken = []string{"approvers"}, []string{} }),
		"update_user_tag": params("UPDATE_USER_TAG", func(p *fact.Params) { p.TagsGiven, p.TagsTaken = []string{}, []string{"approvers"} }),
		"spark":           params("SPARK", sparkParams),
	}
}

func pad(hex string) string {
	return "0000000000000000000000000000000000000000000000000000000000000000"[len(hex):] + hex
}

func solanaTransaction() *fact.SolanaTx {
	reference := fact.AddressTableReference{TableKey: "table", Index: fact.Uint(3), Writable: true}
	return &fact.SolanaTx{
		AccountKeys: []string{"payer", "receiver"}, ProgramKeys: []string{"11111111111111111111111111111111", "jup"}, RecentBlockhash: "hash",
		Instructions: []fact.SolanaInstruction{
			{
				ProgramKey: "jup", DataHex: "e517", Accounts: []fact.SolanaAccount{{Key: "payer", Signer: true}, {Key: "receiver", Writable: true}},
				AddressTableLookups: []fact.AddressTableReference{reference},
				Parsed: &fact.ParsedInstruction{
					Name: "route", Discriminator: "e517", NamedAccounts: fact.Map{{Name: "user", Value: str("payer")}},
					Args: fact.Map{{Name: "in_amount", Value: num(995500000)}, {Name: "fee", Value: fact.Value{Kind: fact.Null}}},
				},
			},
			{ProgramKey: "11111111111111111111111111111111", DataHex: "02"},
		},
		Transfers:                    []fact.SolanaTransfer{{From: "payer", To: "receiver", Amount: ptr(fact.Uint(5000))}},
		SPLTransfers:                 []fact.SPLTransfer{{From: "ta", To: "tb", Owner: "payer", TokenMint: "mint", Amount: ptr(fact.Uint(12)), Signers: []string{"s1", "s2"}}},
		Effects:                      []fact.SolanaEffect{{Program: "tok", Kind: "Approve", Account: "ta", Authority: "spender", Amount: ptr(fact.Uint(13))}},
		AddressTableLookups:          []fact.AddressTableLookup{{TableKey: "table", WritableIndexes: numbers(3), ReadonlyIndexes: numbers(1, 2)}},
		AddressTableLookupReferences: []fact.AddressTableReference{reference},
	}
}

func tronTransaction() *fact.TronTx {
	permission := func(kind string, id uint64) fact.TronPermission {
		return fact.TronPermission{
			Type: kind, Name: kind + "-name", Operations: "7fff", ID: fact.Uint(id), Threshold: fact.Uint(2), ParentID: fact.Uint(9),
			Keys: []fact.TronKey{{Address: "TK", Weight: fact.Uint(1)}},
		}
	}
	return &fact.TronTx{
		RefBlockBytes: "ab", RefBlockHash: "cd", Data: "memo", Expiration: fact.Uint(100), Timestamp: fact.Uint(90), FeeLimit: fact.Uint(80),
		Contracts: []fact.TronContract{
			{Type: "TransferContract", OwnerAddress: "TO", PermissionID: fact.Uint(2), ToAddress: ptr("TR"), Amount: ptr(fact.Uint(11))},
			{
				Type: "TriggerSmartContract", ContractAddress: ptr("TC"), Data: ptr("a9059cbb00"), CallValue: ptr(fact.Uint(12)),
				CallTokenValue: ptr(fact.Uint(13)), TokenID: ptr(fact.Uint(14)),
			},
			{
				Type: "DelegateResourceContract", Resource: ptr("ENERGY"), Balance: ptr(fact.Uint(15)), ReceiverAddress: ptr("TD"),
				Lock: ptr(true), LockPeriod: ptr(fact.Uint(16)),
			},
			{Type: "FreezeBalanceV2Contract", Resource: ptr("BANDWIDTH"), FrozenBalance: ptr(fact.Uint(17))},
			{Type: "UnfreezeBalanceV2Contract", Resource: ptr("BANDWIDTH"), UnfreezeBalance: ptr(fact.Uint(18))},
			{
				Type: "AccountPermissionUpdateContract", Owner: ptr(permission("Owner", 0)), Witness: ptr(permission("Witness", 1)),
				Actives: []fact.TronPermission{permission("Active", 2)},
			},
		},
	}
}

func bitcoinTransaction() *fact.BitcoinTx {
	return &fact.BitcoinTx{
		Version: "2", LocktimeAmount: fact.Uint(840000), LocktimeType: "Blocks", Fee: fact.Uint(700),
		Inputs:  []fact.BitcoinInput{{TxID: "aa", Vout: fact.Uint(1), Sequence: fact.Uint(4294967293)}},
		Outputs: []fact.BitcoinOutput{{Value: fact.Uint(1000), ScriptPubkey: "0014", Address: "bc1q", AddressType: "P2WPKH"}, {Value: fact.Uint(2000), Address: "bc1p", AddressType: "p2tr"}},
	}
}

func sparkParams(p *fact.Params) {
	leaf := fact.SparkDerivation{Type: "signing_leaf", LeafID: "leaf1"}
	deposit := fact.SparkDerivation{Type: "static_deposit", Index: fact.Uint(3)}
	operators := []fact.SparkOperator{{OperatorID: "op1", EncryptionPublicKey: "02ee"}}
	p.Spark = fact.SparkParams{
		SignWith: ptr("sp1"),
		Signatures: []fact.SparkSignature{{
			Derivation: leaf, Message: "m", VerifyingKey: "v", AdaptorPublicKey: "a",
			OperatorCommitments: []fact.SparkCommitment{{ID: "c", Hiding: "h", Binding: "b"}},
		}},
		Transfer: &fact.SparkTransfer{
			TransferID: "t1", Threshold: fact.Uint(2), OperatorRecipients: operators, ReceiverPublicKey: "02rr",
			Leaves: []fact.SparkTransferLeaf{{
				LeafID: "leaf1", OldDerivation: leaf, NewDerivation: deposit,
				RefundSignature: "r1", DirectRefundSignature: "r2", DirectFromCPFPRefundSignature: "r3",
			}},
		},
		Claim: &fact.SparkClaim{
			Leaves: []fact.SparkClaimLeaf{{LeafID: "leaf2", Ciphertext: "ct", SenderSignature: "ss"}}, Threshold: fact.Uint(3),
			OperatorRecipients: operators, TransferID: "t2", SenderIdentityPublicKey: "02ii",
		},
		LightningReceive: &fact.SparkLightningReceive{Threshold: fact.Uint(4), OperatorRecipients: operators},
	}
}

// TestNumberFixture guards the constant that others rest on.
func TestNumberFixture(t *testing.T) {
	want := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	if got := maxUint256.String(); got != want.String() {
		t.Errorf("maxUint256 is %s, want %s", got, want)
	}
}
