package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/store"
)

// ListWalletAccounts reads accounts, a page at a time.
var ListWalletAccounts = activity.Query[ListWalletAccountsParams, ListWalletAccountsReply]{
	Name:    "list_wallet_accounts",
	Summary: "Read the accounts of one wallet or of all, a page at a time.",
	Read:    listWalletAccounts,
}

// ListWalletAccountsParams are the parameters of list_wallet_accounts.
type ListWalletAccountsParams struct {
	OrganizationID       string     `json:"organizationId" check:"required" doc:"Organization to read."`
	WalletID             string     `json:"walletId,omitzero" check:"uuid" doc:"Wallet whose accounts to read; leave out for all wallets."`
	IncludeWalletDetails bool       `json:"includeWalletDetails,omitzero" doc:"Whether each account comes with its wallet."`
	PaginationOptions    Pagination `json:"paginationOptions,omitzero" doc:"Which page."`
}

// ListWalletAccountsReply is the reply of list_wallet_accounts.
type ListWalletAccountsReply struct {
	Accounts []record.WalletAccount `json:"accounts" check:"required" doc:"Accounts in the order of creation."`
}

func listWalletAccounts(_ context.Context, r activity.Reader, p *ListWalletAccountsParams) (ListWalletAccountsReply, error) {
	if p.WalletID != "" {
		if _, err := r.Tx.Wallets().Get(p.WalletID); err != nil {
			return ListWalletAccountsReply{}, err
		}
	}
	accounts, err := accountPage(r, p)
	if err != nil {
		return ListWalletAccountsReply{}, err
	}
	var reply ListWalletAccountsReply
	for _, a := range accounts {
		account := record.OfWalletAccount(r.Tx.Org(), a)
		if p.IncludeWalletDetails {
			wallet, err := r.Tx.Wallets().Get(a.WalletID)
			if err != nil {
				return ListWalletAccountsReply{}, err
			}
			details := record.OfWallet(wallet)
			account.WalletDetails = &details
		}
		reply.Accounts = append(reply.Accounts, account)
	}
	return reply, nil
}

func accountPage(r activity.Reader, p *ListWalletAccountsParams) ([]*domain.WalletAccount, error) {
	page := p.PaginationOptions
	list := func(after string, limit int) ([]*domain.WalletAccount, error) {
		if p.WalletID == "" {
			return r.Tx.WalletAccounts().List(after, limit)
		}
		return r.Tx.WalletAccounts().ListBy(store.ByWallet, p.WalletID, after, limit)
	}
	if page.Before == "" {
		return list(page.After, page.size())
	}
	// Tables are read forward: the page before an id is the end of everything
	// before it.
	const piece = 100
	var before []*domain.WalletAccount
	for after := page.After; ; {
		accounts, err := list(after, piece)
		if err != nil {
			return nil, err
		}
		end := slices.IndexFunc(accounts, func(a *domain.WalletAccount) bool { return a.ID >= page.Before })
		last := end >= 0 || len(accounts) < piece
		if end < 0 {
			end = len(accounts)
		}
		before = append(before, accounts[:end]...)
		before = slices.Clone(before[max(0, len(before)-page.size()):])
		if last {
			return before, nil
		}
		after = accounts[len(accounts)-1].ID
	}
}
