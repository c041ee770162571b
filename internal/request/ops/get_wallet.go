package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetWallet reads one wallet.
var GetWallet = activity.Query[GetWalletParams, GetWalletReply]{
	Name:    "get_wallet",
	Summary: "Read one wallet.",
	Read:    getWallet,
}

// GetWalletParams are the parameters of get_wallet.
type GetWalletParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	WalletID       string `json:"walletId" check:"required,uuid" doc:"Wallet to read."`
}

// GetWalletReply is the reply of get_wallet.
type GetWalletReply struct {
	Wallet record.Wallet `json:"wallet" check:"required" doc:"The wallet."`
}

func getWallet(_ context.Context, r activity.Reader, p *GetWalletParams) (GetWalletReply, error) {
	wallet, err := findWallet(r.Tx, p.WalletID)
	if err != nil {
		return GetWalletReply{}, err
	}
	return GetWalletReply{Wallet: record.OfWallet(wallet)}, nil
}
