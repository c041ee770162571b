package transfer

import (
	"crypto/sha256"
	"errors"
	"math/big"

	"filippo.io/edwards25519"
	"github.com/mr-tron/base58"

	"latchkey/internal/policy/fact"
)

// Programs that are read, and those that move nothing by themselves.
const (
	tokenProgram     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
	accountProgram   = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
)

var solanaPrograms = map[string]bool{
	"11111111111111111111111111111111": true,
	tokenProgram:                       true, token2022Program: true, accountProgram: true,
	"ComputeBudget111111111111111111111111111111": true,
	"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr": true,
	"Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo": true,
}

// Solana reads a transaction, which does not name its network. Fees do not count.
// Every transfer counts that the transaction orders, from whichever account: the
// signature is one of those that it needs.
func Solana(tx *fact.SolanaTx) *fact.Transfers {
	t := &fact.Transfers{}
	untold := func(native, tokens bool, why string) {
		t.Untold = append(t.Untold, fact.Untold{Namespace: solana, Native: native, Tokens: tokens, Why: why})
	}
	for _, program := range tx.ProgramKeys {
		switch {
		case !solanaPrograms[program]:
			// It gets the signature, and may order other programs to move what it covers.
			untold(true, true, "the transaction calls the program "+program+", which is not read")
		case program == accountProgram:
			untold(true, false, "the transaction creates a token account, whose rent is not told")
		}
	}
	if tx.SystemUntold != "" {
		untold(true, false, tx.SystemUntold)
	}
	if tx.TokensUntold != "" {
		untold(true, true, tx.TokensUntold)
	}
	for _, moved := range tx.Transfers {
		if moved.Amount == nil {
			untold(true, false, "an instruction gives an account away with all that it holds")
			continue
		}
		add(t, fact.Asset{Namespace: solana}, *moved.Amount)
	}
	for i := range tx.SPLTransfers {
		switch moved := &tx.SPLTransfers[i]; {
		case moved.Amount == nil:
			untold(true, true, "an instruction closes a token account or gives it away, with all that it holds")
		case moved.TokenMint == "" || moved.TokenMint == fact.SolanaTableAccount:
			t.TokenAccounts = append(t.TokenAccounts, fact.TokenAccountTransfer{Account: moved.From, Owner: moved.Owner, Amount: *moved.Amount})
		default:
			add(t, fact.Asset{Namespace: solana, Token: moved.TokenMint}, *moved.Amount)
		}
	}
	return t
}

// addTokenAccounts adds transfers whose instructions name no mint: an account
// that is the owner's associated one of a listed mint holds tokens of that mint.
func addTokenAccounts(moved []fact.TokenAccountTransfer, listed []fact.Asset, sums []*big.Int) error {
	tokens := false
	for _, asset := range listed {
		tokens = tokens || asset.Namespace == solana && asset.Token != ""
	}
	if !tokens {
		return nil
	}
	for i := range moved {
		found := false
		for k, asset := range listed {
			if asset.Namespace == solana && asset.Token != "" && holdsMint(&moved[i], asset.Token) {
				sums[k].Add(sums[k], moved[i].Amount.Magnitude.ToBig())
				found = true
			}
		}
		if !found {
			return errors.New("a token instruction does not name its mint, and its account is not the owner's associated account of a listed one; use TransferChecked or ApproveChecked")
		}
	}
	return nil
}

func holdsMint(t *fact.TokenAccountTransfer, mint string) bool {
	for _, program := range []string{tokenProgram, token2022Program} {
		if account, ok := associatedAccount(t.Owner, program, mint); ok && account == t.Account {
			return true
		}
	}
	return false
}

// associatedAccount is the account in which an owner keeps tokens of a mint by
// default: an address derived from the two that is on no curve.
func associatedAccount(owner, program, mint string) (string, bool) {
	var seed []byte
	for _, key := range []string{owner, program, mint} {
		raw, err := base58.Decode(key)
		if err != nil || len(raw) != 32 {
			return "", false
		}
		seed = append(seed, raw...)
	}
	suffix, _ := base58.Decode(accountProgram)
	suffix = append(suffix, "ProgramDerivedAddress"...)
	for bump := 255; bump >= 0; bump-- {
		h := sha256.New()
		h.Write(seed)
		h.Write([]byte{byte(bump)})
		h.Write(suffix)
		sum := h.Sum(nil)
		if _, err := new(edwards25519.Point).SetBytes(sum); err != nil {
			return base58.Encode(sum), true
		}
	}
	return "", false
}
