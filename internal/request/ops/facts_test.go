package ops_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/mr-tron/base58"

	"latchkey/client"
	"latchkey/internal/chain/sol"
	. "latchkey/internal/test/servertest"
)

// The tests of this file go around the limits of policies: by what a
// transaction does beside what the policy looks at.

const (
	systemProgram = "11111111111111111111111111111111"
	tokenProgram  = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
)

func solanaKey(t testing.TB, text string) sol.Key {
	t.Helper()
	raw, err := base58.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return sol.Key(raw)
}

// solanaCalls calls a program with each of the data. The accounts are the
// signer and two others, three times each, so that every instruction has enough.
func solanaCalls(t testing.TB, signer, program string, data ...[]byte) m {
	t.Helper()
	tx := &sol.Tx{
		Version: sol.Legacy, Signatures: make([][64]byte, 1), Header: sol.Header{RequiredSignatures: 1, ReadonlyUnsigned: 1},
		AccountKeys: []sol.Key{solanaKey(t, signer), {7}, {8}, solanaKey(t, program)},
	}
	for _, d := range data {
		tx.Instructions = append(tx.Instructions, sol.Instruction{ProgramIndex: 3, Accounts: []byte{0, 1, 0, 2}, Data: d})
	}
	return transaction(signer, "SOLANA", hex.EncodeToString(tx.Encode()))
}

// TestSolanaLimits: a limit on transfers holds whatever else a transaction
// orders from the System Program and the token programs.
func TestSolanaLimits(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{
			account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA"),
		}}).Get("result", "createWalletResult", "addresses", 0).Text()
		limit := func(list, program string, most int) m {
			return allowPolicy(list, fmt.Sprintf("solana.tx.%[1]s.count() == 1 && solana.tx.%[1]s.all(t, t.amount < %[3]d) && solana.tx.program_keys.all(p, p == '%[2]s')", list, program, most),
				fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID))
		}
		s.Root.Submit(t, "create_policy", limit("transfers", systemProgram, 1_000_000_000))
		s.Root.Submit(t, "create_policy", limit("spl_transfers", tokenProgram, 100))

		unhex := func(text string) []byte {
			raw, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		const one, all, key, seed = "0100000000000000", "ffffffffffffffff", "0909090909090909090909090909090909090909090909090909090909090909", "010000000000000078"
		for program, c := range map[string]struct {
			transfer string
			attacks  map[string]string
		}{
			systemProgram: {"02000000" + one, map[string]string{
				"a second transfer": "02000000" + one, "CreateAccount": "00000000" + all + one + key, "Assign": "01000000" + key,
				"CreateAccountWithSeed": "03000000" + key + seed + all + one + key, "WithdrawNonceAccount": "05000000" + all,
				"AuthorizeNonceAccount": "07000000" + key, "InitializeNonceAccount": "06000000" + key, "AssignWithSeed": "0a000000" + key + seed + key,
				"AllocateWithSeed": "09000000" + key + seed + one + key, "TransferWithSeed": "0b000000" + all + seed + key,
				"an unknown number": "0d000000" + all + one + key,
			}},
			tokenProgram: {"03" + one, map[string]string{
				"Approve": "04" + all, "ApproveChecked": "0d" + all + "06", "SetAuthority": "060201" + key, "CloseAccount": "09",
				"Burn": "08" + all, "BurnChecked": "0f" + all + "06", "MintTo": "07" + all, "TransferChecked": "0c" + all + "06",
				"an unknown extension": "1b07" + key, "Batch": "ff0309" + "03" + all,
			}},
		} {
			transfer := unhex(c.transfer)
			ada.Submit(t, "sign_transaction", solanaCalls(t, wallet, program, transfer))
			for name, attack := range c.attacks {
				t.Run(name, func(t *testing.T) {
					// Beside a small transfer, and instead of it.
					ada.Refused(t, http.StatusForbidden, "sign_transaction", solanaCalls(t, wallet, program, transfer, unhex(attack)))
					if name != "a second transfer" {
						ada.Refused(t, http.StatusForbidden, "sign_transaction", solanaCalls(t, wallet, program, unhex(attack)))
					}
				})
			}
		}
		// The list of effects says what the amounts do not.
		s.Root.Submit(t, "create_policy", allowPolicy("nothing else", "solana.tx.effects.all(e, e.kind == 'Allocate')", fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)))
		ada.Submit(t, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("08000000"+one)))
		ada.Refused(t, http.StatusForbidden, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("01000000"+key)))
		// What a DENY cannot read it denies.
		s.Root.Submit(t, "create_policy", m{"policyName": "no handing over", "effect": "EFFECT_DENY", "condition": "solana.tx.transfers.any(t, t.amount > 5)", "notes": ""})
		s.Root.Submit(t, "create_policy", allowPolicy("any", "activity.kind == 'SIGN_TRANSACTION'", fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)))
		ada.Submit(t, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("02000000"+one)))
		ada.Refused(t, http.StatusForbidden, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("01000000"+key)))
		ada.Refused(t, http.StatusForbidden, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("0d000000"+key)))
		// The root quorum is not bound by policies and signs what they cannot read.
		s.Root.Submit(t, "sign_transaction", solanaCalls(t, wallet, systemProgram, unhex("0d000000"+key)))
	})
}

// coin is an output that is spent: what it holds, what the PSBT claims that it
// holds, and whether the PSBT has the transaction that it is from.
type coin struct {
	address      string
	holds, claim int64
	whole        bool
}

// spend is a PSBT that spends coins for an output of so much to a stranger.
func spend(t testing.TB, output int64, coins ...coin) string {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxOut(wire.NewTxOut(output, append([]byte{txscript.OP_0, txscript.OP_DATA_20}, make([]byte, 20)...)))
	previous := make([]*wire.MsgTx, len(coins))
	for i, c := range coins {
		to, err := btcutil.DecodeAddress(c.address, &chaincfg.TestNet3Params)
		if err != nil {
			t.Fatal(err)
		}
		script, err := txscript.PayToAddrScript(to)
		if err != nil {
			t.Fatal(err)
		}
		previous[i] = wire.NewMsgTx(2)
		previous[i].AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
		previous[i].AddTxOut(wire.NewTxOut(c.holds, script))
		hash := previous[i].TxHash()
		tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, 0), nil, nil))
	}
	packet, err := psbt.NewFromUnsignedTx(tx)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range coins {
		packet.Inputs[i].WitnessUtxo = wire.NewTxOut(c.claim, previous[i].TxOut[0].PkScript)
		if c.whole {
			packet.Inputs[i].NonWitnessUtxo = previous[i]
		}
	}
	var b bytes.Buffer
	if err := packet.Serialize(&b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b.Bytes())
}

// TestBitcoinFeeLimit: two signatures, each over its own input, must not make up
// a transaction with a fee that neither request showed.
func TestBitcoinFeeLimit(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		addresses := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{
			account("CURVE_SECP256K1", "m/84'/1'/0'/0/0", "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH"),
			account("CURVE_SECP256K1", "m/84'/1'/0'/0/1", "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH"),
			account("CURVE_SECP256K1", "m/86'/1'/0'/0/0", "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR"),
			account("CURVE_SECP256K1", "m/86'/1'/0'/0/1", "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR"),
		}}).Get("result", "createWalletResult", "addresses")
		one, two, taproot, taproot2 := addresses.Get(0).Text(), addresses.Get(1).Text(), addresses.Get(2).Text(), addresses.Get(3).Text()
		consensus := fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)
		limit := s.Root.Submit(t, "create_policy", allowPolicy("fee", "bitcoin.tx.fee <= 10000", consensus)).Get("result", "createPolicyResult", "policyId").Text()
		const ten = 10 * 100_000_000
		honest := spend(t, 2*ten-1000, coin{one, ten, ten, true}, coin{two, ten, ten, true})
		for _, signer := range []string{one, two} {
			ada.Submit(t, "sign_transaction", transaction(signer, "BITCOIN", honest))
		}
		// Each request tells the truth about the input that it signs.
		for signer, tx := range map[string]string{
			one: spend(t, ten-1000, coin{one, ten, ten, false}, coin{two, ten, 0, false}),
			two: spend(t, ten-1000, coin{one, ten, 0, false}, coin{two, ten, ten, false}),
		} {
			ada.Refused(t, http.StatusForbidden, "sign_transaction", transaction(signer, "BITCOIN", tx))
		}
		for name, c := range map[string]struct {
			signer, tx string
			status     int // 0: signed
		}{
			"a true fee above the limit":               {one, spend(t, ten, coin{one, ten, ten, true}, coin{two, ten, ten, true}), 403},
			"one input, claimed":                       {one, spend(t, ten-1000, coin{one, ten, ten, false}), 403},
			"the other input claimed":                  {one, spend(t, ten-1000, coin{one, ten, ten, true}, coin{two, ten, 0, false}), 403},
			"a claim that the transaction contradicts": {one, spend(t, ten-1000, coin{one, ten, ten, true}, coin{two, ten, 0, true}), 400},
			"taproot":                            {taproot, spend(t, 2*ten-1000, coin{taproot, ten, ten, false}, coin{taproot2, ten, ten, false}), 0},
			"taproot beside segwit v0":           {taproot, spend(t, 2*ten-1000, coin{taproot, ten, ten, false}, coin{one, ten, ten, false}), 0},
			"segwit v0 beside taproot":           {one, spend(t, 2*ten-1000, coin{taproot, ten, ten, false}, coin{one, ten, ten, true}), 403},
			"taproot with a fee above the limit": {taproot, spend(t, ten, coin{taproot, ten, ten, false}, coin{taproot2, ten, ten, false}), 403},
		} {
			t.Run(name, func(t *testing.T) {
				if c.status == 0 {
					ada.Submit(t, "sign_transaction", transaction(c.signer, "BITCOIN", c.tx))
				} else {
					ada.Refused(t, c.status, "sign_transaction", transaction(c.signer, "BITCOIN", c.tx))
				}
			})
		}
		// What is about outputs only needs no amounts of inputs; a DENY about the
		// fee denies what it cannot read.
		s.Root.Submit(t, "delete_policy", m{"policyId": limit})
		s.Root.Submit(t, "create_policy", allowPolicy("outputs", "bitcoin.tx.outputs.all(o, o.value <= 1000000000)", consensus))
		claimed := spend(t, ten-1000, coin{one, ten, ten, false})
		ada.Submit(t, "sign_transaction", transaction(one, "BITCOIN", claimed))
		s.Root.Submit(t, "create_policy", m{"policyName": "no waste", "effect": "EFFECT_DENY", "condition": "bitcoin.tx.fee > 10000", "notes": ""})
		ada.Refused(t, http.StatusForbidden, "sign_transaction", transaction(one, "BITCOIN", claimed))
		ada.Submit(t, "sign_transaction", transaction(one, "BITCOIN", spend(t, ten-1000, coin{one, ten, ten, true})))
	})
}

// TestOneKeyTwoAddresses: a policy about an address is about its key, by which
// of its addresses a request may name it.
func TestOneKeyTwoAddresses(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		const path = "m/44'/60'/0'/0/0"
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{
			account("CURVE_SECP256K1", path, "ADDRESS_FORMAT_ETHEREUM"), account("CURVE_SECP256K1", path, "ADDRESS_FORMAT_TRON"),
			account("CURVE_SECP256K1", path, "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH"), account("CURVE_SECP256K1", path, "ADDRESS_FORMAT_COMPRESSED"),
			account("CURVE_SECP256K1", "m/44'/60'/0'/0/1", "ADDRESS_FORMAT_TRON"),
		}}).Get("result", "createWalletResult")
		cold, free := wallet.Get("addresses", 0).Text(), wallet.Get("addresses", 4).Text()
		consensus := fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)
		target := NewRecipient(t).PublicKey()
		uses := func(name string) map[string]m {
			return map[string]m{
				"sign_transaction":      transaction(name, "ETHEREUM", unsignedTransfer(t, "0x1111111111111111111111111111111111111111")),
				"sign_raw_payload":      rawPayload(name, "11", "HEXADECIMAL", "SHA256"),
				"sign_raw_payloads":     {"signWith": name, "payloads": []any{"11"}, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_SHA256"},
				"export_wallet_account": {"address": name, "targetPublicKey": target},
			}
		}
		for name, policies := range map[string][]m{
			"a DENY on the address": {
				{"policyName": "not the cold one", "effect": "EFFECT_DENY", "condition": fmt.Sprintf("wallet_account.address == '%s'", cold), "notes": ""},
				allowPolicy("all others", "activity.action in ['SIGN', 'EXPORT']", consensus),
			},
			"an ALLOW of all others":       {allowPolicy("not it", fmt.Sprintf("wallet_account.address != '%s'", cold), consensus)},
			"an ALLOW of those not listed": {allowPolicy("not in", fmt.Sprintf("!(wallet_account.address in ['%s'])", cold), consensus)},
			"an ALLOW by all addresses":    {allowPolicy("not among", fmt.Sprintf("!wallet_account.addresses.contains('%s')", cold), consensus)},
		} {
			t.Run(name, func(t *testing.T) {
				var ids []any
				for _, p := range policies {
					ids = append(ids, s.Root.Submit(t, "create_policy", p).Get("result", "createPolicyResult", "policyId").Text())
				}
				for i := range 4 {
					for operation, params := range uses(wallet.Get("addresses", i).Text()) {
						ada.Refused(t, http.StatusForbidden, operation, params)
					}
				}
				for operation, params := range uses(free) {
					ada.Submit(t, operation, params)
				}
				s.Root.Submit(t, "delete_policies", m{"policyIds": ids})
			})
		}
		// An ALLOW of the key holds by whichever name.
		s.Root.Submit(t, "create_policy", allowPolicy("it", fmt.Sprintf("wallet_account.address == '%s' && eth.tx.from == wallet_account.address", cold), consensus))
		for i := range 4 {
			ada.Submit(t, "sign_transaction", uses(wallet.Get("addresses", i).Text())["sign_transaction"])
		}
		ada.Refused(t, http.StatusForbidden, "sign_transaction", uses(free)["sign_transaction"])
	})
}

// TestTagFacts: a user may create and change users and keys, but not who has the
// tag that other policies ask for.
func TestTagFacts(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		tag := func(kind, name string, ids ...any) string {
			if kind == "key" {
				return s.Root.Submit(t, "create_private_key_tag", m{"privateKeyTagName": name, "privateKeyIds": append([]any{}, ids...)}).Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
			}
			return s.Root.Submit(t, "create_user_tag", m{"userTagName": name, "userIds": append([]any{}, ids...)}).Get("result", "createUserTagResult", "userTagId").Text()
		}
		approvers, plain := tag("user", "approvers", bob.UserID), tag("user", "plain")
		treasury := tag("key", "treasury")
		s.Root.Submit(t, "create_policy", allowPolicy("users and keys", "activity.resource in ['USER', 'PRIVATE_KEY'] && "+
			fmt.Sprintf("!(activity.params.tags_given.any(t, t in ['%[1]s', '%[2]s']) || activity.params.tags_taken.any(t, t in ['%[1]s', '%[2]s']))", approvers, treasury),
			fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID)))
		user := func(name string, tags ...any) m {
			return m{"users": []any{
				m{"userName": name, "userEmail": name + "@example.com", "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}, "userTags": []any{}},
				m{"userName": name + " too", "userEmail": name + "-too@example.com", "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}, "userTags": append([]any{}, tags...)},
			}}
		}
		key := func(name string, tags ...any) m {
			return m{"privateKeys": []any{m{"privateKeyName": name, "curve": "CURVE_ED25519", "addressFormats": []any{}, "privateKeyTags": append([]any{}, tags...)}}}
		}
		move := func(id string, add, remove []any) m {
			return m{"userTagId": id, "addUserIds": add, "removeUserIds": remove}
		}
		none := []any{}
		for name, c := range map[string]struct {
			operation       string
			allowed, denied m
		}{
			"create users":    {"create_users", user("one", plain), user("two", plain, approvers)},
			"update a user":   {"update_user", m{"userId": ada.UserID, "userTagIds": []any{plain}}, m{"userId": ada.UserID, "userTagIds": []any{plain, approvers}}},
			"a user's tag":    {"update_user", m{"userId": bob.UserID, "userName": "Robert"}, m{"userId": bob.UserID, "userTagIds": []any{plain}}},
			"keep the tags":   {"update_user", m{"userId": bob.UserID, "userTagIds": []any{approvers, plain}}, m{"userId": bob.UserID, "userTagIds": []any{plain}}},
			"give a tag":      {"update_user_tag", move(plain, []any{ada.UserID}, none), move(approvers, []any{ada.UserID}, none)},
			"take a tag":      {"update_user_tag", move(plain, none, []any{s.Root.UserID}), move(approvers, none, []any{bob.UserID})},
			"rename a tag":    {"update_user_tag", m{"userTagId": approvers, "newUserTagName": "approvers of payments", "addUserIds": none, "removeUserIds": none}, move(approvers, []any{ada.UserID}, none)},
			"delete tags":     {"delete_user_tags", m{"userTagIds": []any{tag("user", "unused")}}, m{"userTagIds": []any{approvers}}},
			"create keys":     {"create_private_keys", key("one"), key("two", treasury)},
			"delete key tags": {"delete_private_key_tags", m{"privateKeyTagIds": []any{tag("key", "unused")}}, m{"privateKeyTagIds": []any{treasury}}},
		} {
			t.Run(name, func(t *testing.T) {
				ada.Refused(t, http.StatusForbidden, c.operation, c.denied)
				ada.Submit(t, c.operation, c.allowed)
			})
		}
		ada.Submit(t, "create_user_tag", m{"userTagName": "new", "userIds": []any{ada.UserID}})
		// An activity that gives and takes none has no such facts.
		ada.Refused(t, http.StatusForbidden, "delete_users", m{"userIds": []any{bob.UserID}})
	})
}
