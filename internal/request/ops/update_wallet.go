package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// UpdateWallet renames a wallet.
var UpdateWallet = activity.Op[UpdateWalletParams, UpdateWalletResult]{
	Spec: activity.Spec{
		Name: "update_wallet", Version: 1,
		Summary: "Rename a wallet.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionUpdate},
	},
	Facts: func(f activity.Facts, p *UpdateWalletParams) error {
		f.Activity.Params.WalletID = &p.WalletID
		return nil
	},
	Exec: updateWallet,
}

// UpdateWalletParams are the parameters of update_wallet.
type UpdateWalletParams struct {
	WalletID   string `json:"walletId" check:"required,uuid" doc:"Wallet to change."`
	WalletName string `json:"walletName,omitzero" check:"label" doc:"New name; leave out to keep the name."`
}

// UpdateWalletResult is the result of update_wallet.
type UpdateWalletResult struct {
	WalletID string `json:"walletId" check:"required,uuid" doc:"Id of the wallet."`
}

func updateWallet(_ context.Context, e activity.Env, p *UpdateWalletParams) (UpdateWalletResult, error) {
	err := e.Tx.Wallets().Edit(p.WalletID, func(w *domain.Wallet) error {
		if p.WalletName != "" {
			w.Name = p.WalletName
		}
		w.UpdatedAt = e.Now
		return nil
	})
	return UpdateWalletResult{WalletID: p.WalletID}, err
}
