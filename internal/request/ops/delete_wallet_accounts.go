package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeleteWalletAccounts deletes accounts of wallets.
var DeleteWalletAccounts = activity.Op[DeleteWalletAccountsParams, DeleteWalletAccountsResult]{
	Spec: activity.Spec{
		Name: "delete_wallet_accounts", Version: 1,
		Summary: "Delete accounts of wallets. They can be derived again while the wallet exists.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionDelete},
	},
	Exec: deleteWalletAccounts,
}

// DeleteWalletAccountsParams are the parameters of delete_wallet_accounts.
type DeleteWalletAccountsParams struct {
	WalletAccountIDs    []string `json:"walletAccountIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Accounts to delete."`
	DeleteWithoutExport bool     `json:"deleteWithoutExport,omitzero" doc:"Delete also accounts that were never exported, themselves or with their wallet."`
}

// DeleteWalletAccountsResult is the result of delete_wallet_accounts.
type DeleteWalletAccountsResult struct {
	WalletAccountIDs []string `json:"walletAccountIds" check:"required,each=uuid" doc:"Accounts that were deleted."`
}

func deleteWalletAccounts(_ context.Context, e activity.Env, p *DeleteWalletAccountsParams) (DeleteWalletAccountsResult, error) {
	for _, id := range p.WalletAccountIDs {
		account, err := e.Tx.WalletAccounts().Get(id)
		if err != nil {
			return DeleteWalletAccountsResult{}, err
		}
		wallet, err := e.Tx.Wallets().Get(account.WalletID)
		if err != nil {
			return DeleteWalletAccountsResult{}, err
		}
		if !account.Exported && !wallet.Exported && !p.DeleteWithoutExport {
			return DeleteWalletAccountsResult{}, notExported("wallet account", id)
		}
		if err := e.Vault.Destroy(id); err != nil {
			return DeleteWalletAccountsResult{}, err
		}
		if err := e.Tx.WalletAccounts().Delete(id); err != nil {
			return DeleteWalletAccountsResult{}, err
		}
	}
	return DeleteWalletAccountsResult{WalletAccountIDs: p.WalletAccountIDs}, nil
}
