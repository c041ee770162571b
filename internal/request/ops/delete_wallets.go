package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// DeleteWallets deletes wallets with their accounts and seeds.
var DeleteWallets = activity.Op[DeleteWalletsParams, DeleteWalletsResult]{
	Spec: activity.Spec{
		Name: "delete_wallets", Version: 1,
		Summary: "Delete wallets with all their accounts. Their seeds are gone for good.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionDelete},
	},
	Facts: deleteWalletsFacts,
	Exec:  deleteWallets,
}

// DeleteWalletsParams are the parameters of delete_wallets.
type DeleteWalletsParams struct {
	WalletIDs           []string `json:"walletIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Wallets to delete."`
	DeleteWithoutExport bool     `json:"deleteWithoutExport,omitzero" doc:"Delete also wallets that were never exported."`
}

// DeleteWalletsResult is the result of delete_wallets.
type DeleteWalletsResult struct {
	WalletIDs []string `json:"walletIds" check:"required,each=uuid" doc:"Wallets that were deleted."`
}

func deleteWallets(_ context.Context, e activity.Env, p *DeleteWalletsParams) (DeleteWalletsResult, error) {
	for _, id := range p.WalletIDs {
		wallet, err := e.Tx.Wallets().Get(id)
		if err != nil {
			return DeleteWalletsResult{}, err
		}
		if !wallet.Exported && !p.DeleteWithoutExport {
			return DeleteWalletsResult{}, notExported("wallet", id)
		}
		accounts, err := e.Tx.WalletAccounts().ListBy(store.ByWallet, id, "", 0)
		if err != nil {
			return DeleteWalletsResult{}, err
		}
		secrets := []string{id}
		for _, account := range accounts {
			if err := e.Tx.WalletAccounts().Delete(account.ID); err != nil {
				return DeleteWalletsResult{}, err
			}
			secrets = append(secrets, account.ID)
		}
		if err := e.Vault.Destroy(secrets...); err != nil {
			return DeleteWalletsResult{}, err
		}
		if err := e.Tx.Wallets().Delete(id); err != nil {
			return DeleteWalletsResult{}, err
		}
	}
	return DeleteWalletsResult{WalletIDs: p.WalletIDs}, nil
}
