package ops

import (
	"context"

	"latchkey/internal/keys/derivation"
	"latchkey/internal/request/activity"
)

// CreateWalletAccounts derives further accounts of a wallet.
var CreateWalletAccounts = activity.Op[CreateWalletAccountsParams, CreateWalletAccountsResult]{
	Spec: activity.Spec{
		Name: "create_wallet_accounts", Version: 1,
		Summary: "Derive further accounts of a wallet.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionCreate},
	},
	Facts: func(f activity.Facts, p *CreateWalletAccountsParams) error { return walletFacts(f, p.WalletID) },
	Exec:  createWalletAccounts,
}

// CreateWalletAccountsParams are the parameters of create_wallet_accounts.
type CreateWalletAccountsParams struct {
	WalletID string          `json:"walletId" check:"required,uuid" doc:"Wallet to derive from."`
	Accounts []AccountParams `json:"accounts" check:"required,min=1,max=100" doc:"Accounts to derive."`
	Persist  *bool           `json:"persist,omitzero" doc:"Whether to keep the accounts; true when absent. false only returns their addresses."`
}

// CreateWalletAccountsResult is the result of create_wallet_accounts.
type CreateWalletAccountsResult struct {
	Addresses []string `json:"addresses" check:"required" doc:"Addresses of the accounts, in the order of the request."`
}

func createWalletAccounts(_ context.Context, e activity.Env, p *CreateWalletAccountsParams) (CreateWalletAccountsResult, error) {
	if _, err := findWallet(e.Tx, p.WalletID); err != nil {
		return CreateWalletAccountsResult{}, err
	}
	if p.Persist == nil || *p.Persist {
		addresses, err := addAccounts(e, p.WalletID, p.Accounts)
		return CreateWalletAccountsResult{Addresses: addresses}, err
	}
	var result CreateWalletAccountsResult
	for _, params := range p.Accounts {
		account, err := derive(params, func(at derivation.Path) ([]byte, error) {
			return e.Vault.Derive(p.WalletID, params.Curve, at)
		})
		if err != nil {
			return CreateWalletAccountsResult{}, err
		}
		result.Addresses = append(result.Addresses, account.address)
	}
	return result, nil
}
