package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// CreateWallet makes a wallet from a fresh seed.
var CreateWallet = activity.Op[CreateWalletParams, CreateWalletResult]{
	Spec: activity.Spec{
		Name: "create_wallet", Version: 1,
		Summary: "Create a wallet from a fresh seed, with any first accounts.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionCreate},
	},
	Exec: createWallet,
}

// CreateWalletParams are the parameters of create_wallet.
type CreateWalletParams struct {
	WalletName     string          `json:"walletName" check:"required,label" doc:"Name, unique in the organization."`
	Accounts       []AccountParams `json:"accounts" check:"required,max=100" doc:"First accounts; may be empty."`
	MnemonicLength int32           `json:"mnemonicLength,omitzero" check:"oneof=12 15 18 21 24" doc:"Words in the seed phrase; 12 when absent."`
}

// CreateWalletResult is the result of create_wallet.
type CreateWalletResult struct {
	WalletID  string   `json:"walletId" check:"required,uuid" doc:"Id of the new wallet."`
	Addresses []string `json:"addresses" check:"required" doc:"Addresses of its accounts, in the order of the request."`
}

const defaultWords = 12

func createWallet(_ context.Context, e activity.Env, p *CreateWalletParams) (CreateWalletResult, error) {
	wallet := &domain.Wallet{ID: e.NewID(), Name: p.WalletName}
	if err := newWallet(e, wallet); err != nil {
		return CreateWalletResult{}, err
	}
	if err := e.Vault.CreateSeed(wallet.ID, int(cmp.Or(p.MnemonicLength, defaultWords))); err != nil {
		return CreateWalletResult{}, err
	}
	addresses, err := addAccounts(e, wallet.ID, p.Accounts)
	return CreateWalletResult{WalletID: wallet.ID, Addresses: addresses}, err
}
