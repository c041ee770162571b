package ops

import (
	"context"
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
	if _, err := r.Tx.Wallets().Get(p.WalletID); err != nil {
		return GetWalletAccountReply{}, err
	}
	index, key := store.ByGivenPath, p.WalletID+" "+p.Path
	if p.Address != "" {
		index, key = store.BySigner, address.Key(p.Address)
	}
	candidates, err := r.Tx.WalletAccounts().ListBy(index, key, "", 0)
	if err != nil {
		return GetWalletAccountReply{}, err
	}
	var found []*domain.WalletAccount
	for _, a := range candidates {
		if a.WalletID == p.WalletID && (p.Path == "" || a.Path == p.Path) &&
			(p.Address == "" || address.Equal(a.Format, a.Address, p.Address)) {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0:
		return GetWalletAccountReply{}, fault.Missing("no such account in wallet %s", p.WalletID)
	case len(found) > 1 && p.Address == "":
		return GetWalletAccountReply{}, ambiguous(found)
	}
	return GetWalletAccountReply{Account: record.OfWalletAccount(r.Tx.Org(), found[0])}, nil
}

// ambiguous refuses to choose between accounts that share a path.
func ambiguous(accounts []*domain.WalletAccount) error {
	var choices []string
	for _, a := range accounts {
		choices = append(choices, string(a.Format)+" "+a.Address)
	}
	return fault.Invalid("several accounts have this path; give the address of one: %s", strings.Join(choices, ", "))
}
