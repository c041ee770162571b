package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListWallets reads all wallets.
var ListWallets = activity.Query[InOrganization, ListWalletsReply]{
	Name:    "list_wallets",
	Summary: "Read all wallets of the organization.",
	Read:    listWallets,
}

// ListWalletsReply is the reply of list_wallets.
type ListWalletsReply struct {
	Wallets []record.Wallet `json:"wallets" check:"required" doc:"Wallets in the order of creation."`
}

func listWallets(_ context.Context, r activity.Reader, _ *InOrganization) (ListWalletsReply, error) {
	wallets, err := r.Tx.Wallets().List("", 0)
	return ListWalletsReply{Wallets: record.Each(wallets, record.OfWallet)}, err
}
