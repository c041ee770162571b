package ops

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// GetWalletAccount reads one account of a wallet.
var GetWalletAccount = activity.Query[GetWalletAccountParams, GetWalletAccountReply]{
	Name:    "get_wallet_account",
	Summary: "Read one account of a wallet, by its address or its path.",
	Read:    getWalletAccount,
}

// GetWalletAccountParams are the parameters of get_wallet_account.
type GetWalletAccountParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	WalletID       string `json:"walletId" check:"required,uuid" doc:"Wallet of the account."`
	Address        string `json:"address,omitzero" check:"sampled,max=200" doc:"Address of the account."`
	Path           string `json:"path,omitzero" check:"max=255" doc:"Derivation path of the account."`
}

// Check wants something to find the account by.
func (p *GetWalletAccountParams) Check(problems *schema.Problems) {
	if p.Address == "" && p.Path == "" {
		problems.Add("address", "give the account's address or its path")
	}
}

// GetWalletAccountReply is the reply of get_wallet_account.
type GetWalletAccountReply struct {
	Account record.WalletAccount `json:"account" check:"required" doc:"The account."`
}

func getWalletAccount(_ context.Context, r activity.Reader, p *GetWalletAccountParams) (GetWalletAccountReply, error) {
	// Asked for again and again, by clients that look before they sign.
	name := "wallet account " + p.WalletID + " " + strconv.Quote(p.Path) + p.Address
	found, err := store.Derived(r.Tx, name, func() (*domain.WalletAccount, error) { return lookUpWalletAccount(r.Tx, p) })
	if err != nil {
		return GetWalletAccountReply{}, err
	}
	return GetWalletAccountReply{Account: record.OfWalletAccount(r.Tx.Org(), found)}, nil
}

func lookUpWalletAccount(tx *store.Tx, p *GetWalletAccountParams) (*domain.WalletAccount, error) {
	if _, err := findWallet(tx, p.WalletID); err != nil {
		return nil, err
	}
	index, key := store.ByGivenPath, p.WalletID+" "+p.Path
	if p.Address != "" {
		index, key = store.BySigner, address.Key(p.Address)
	}
	candidates, err := tx.WalletAccounts().ListBy(index, key, "", 0)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(candidates, func(a *domain.WalletAccount) bool {
		return a.WalletID != p.WalletID || (p.Path != "" && a.Path != p.Path) ||
			(p.Address != "" && !address.Equal(a.Format, a.Address, p.Address))
	})
	switch {
	case len(found) == 0:
		return nil, fault.Missing("no such account in wallet %s", p.WalletID)
	case len(found) > 1 && p.Address == "":
		return nil, ambiguous(found)
	}
	return found[0], nil
}

// ambiguous refuses to choose between accounts that share a path.
func ambiguous(accounts []*domain.WalletAccount) error {
	var choices []string
	for _, a := range accounts {
		choices = append(choices, string(a.Format)+" "+a.Address)
	}
	return fault.Invalid("several accounts have this path; give the address of one: %s", strings.Join(choices, ", "))
}
