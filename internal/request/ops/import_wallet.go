package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// ImportWallet imports a wallet that its owner encrypted to the server.
var ImportWallet = activity.Op[ImportWalletParams, CreateWalletResult]{
	Spec: activity.Spec{
		Name: "import_wallet", Version: 1,
		Summary: "Import a wallet from its seed phrase, encrypted to the key of init_import_wallet.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionImport},
	},
	Exec: importWallet,
}

// ImportWalletParams are the parameters of import_wallet.
type ImportWalletParams struct {
	UserID          string          `json:"userId" check:"required,uuid" doc:"User who imports; must be the caller."`
	WalletName      string          `json:"walletName" check:"required,label" doc:"Name, unique in the organization."`
	EncryptedBundle string          `json:"encryptedBundle" check:"required,max=20000" doc:"Encrypted seed phrase."`
	Accounts        []AccountParams `json:"accounts" check:"required,max=100" doc:"First accounts; may be empty."`
}

func importWallet(_ context.Context, e activity.Env, p *ImportWalletParams) (CreateWalletResult, error) {
	target, err := importTarget(e, p.UserID, domain.ImportWallet)
	if err != nil {
		return CreateWalletResult{}, err
	}
	wallet := &domain.Wallet{ID: e.NewID(), Name: p.WalletName, Imported: true}
	if err := newWallet(e, wallet); err != nil {
		return CreateWalletResult{}, err
	}
	if err := e.Vault.ImportSeed(wallet.ID, target, []byte(p.EncryptedBundle)); err != nil {
		return CreateWalletResult{}, err
	}
	addresses, err := addAccounts(e, wallet.ID, p.Accounts)
	return CreateWalletResult{WalletID: wallet.ID, Addresses: addresses}, err
}
