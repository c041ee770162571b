package ops_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"

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
