package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// ExportWalletAccount gives out an account's private key, encrypted to the
// caller.
var ExportWalletAccount = activity.Op[ExportWalletAccountParams, ExportWalletAccountResult]{
	Spec: activity.Spec{
		Name: "export_wallet_account", Version: 1,
		Summary: "Export the private key of a wallet account, encrypted to a key of the caller.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionExport},
	},
	Facts: exportAccountFacts,
	Exec:  exportWalletAccount,
}

// ExportWalletAccountParams are the parameters of export_wallet_account.
type ExportWalletAccountParams struct {
	Address         string `json:"address" check:"required,max=200" doc:"Address of the account." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	TargetPublicKey string `json:"targetPublicKey" check:"required,hex,max=130" doc:"P-256 public key to encrypt to, as hex." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
}

// ExportWalletAccountResult is the result of export_wallet_account.
type ExportWalletAccountResult struct {
	Address      string `json:"address" check:"required" doc:"Address of the account."`
	ExportBundle string `json:"exportBundle" check:"required,secret" doc:"Encrypted and signed private key."`
}

func exportWalletAccount(_ context.Context, e activity.Env, p *ExportWalletAccountParams) (ExportWalletAccountResult, error) {
	found, err := e.Tx.WalletAccounts().ListBy(store.BySigner, address.Key(p.Address), "", 1)
	if err != nil {
		return ExportWalletAccountResult{}, err
	}
	if len(found) == 0 {
		return ExportWalletAccountResult{}, fault.Missing("no wallet account with address %s in this organization", p.Address)
	}
	text, err := exportKey(e, found[0].ID, p.TargetPublicKey)
	if err != nil {
		return ExportWalletAccountResult{}, err
	}
	err = e.Tx.WalletAccounts().Edit(found[0].ID, func(a *domain.WalletAccount) error {
		a.Exported, a.UpdatedAt = true, e.Now
		return nil
	})
	return ExportWalletAccountResult{Address: found[0].Address, ExportBundle: text}, err
}
