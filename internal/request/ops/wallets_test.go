package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "latchkey/internal/test/servertest"
	"latchkey/testvectors"
)

func account(curve, path, format string) m {
	return m{"curve": curve, "pathFormat": "PATH_FORMAT_BIP32", "path": path, "addressFormat": format}
}

var ethereumAccount = account("CURVE_SECP256K1", "m/44'/60'/0'/0/0", "ADDRESS_FORMAT_ETHEREUM")

// TestAddressVectors imports wallets and keys of the vectors and compares the
// addresses, for every format.
func TestAddressVectors(t *testing.T) {
	type record struct {
		Mnemonic, Passphrase, Curve, Path, PrivateKeyHex, AddressFormat, Address string
	}
	Each(t, func(t *testing.T, s *Server) {
		each := 3 // of a format
		if s.Kind != "sqlite" {
			each = 1 // no store has a part in it
		}
		type seed struct{ mnemonic, passphrase string }
		wallets, seen := map[seed][]record{}, map[string]int{}
		for _, r := range testvectors.Section[record](t, "addresses", "hd") {
			if key := (seed{r.Mnemonic, r.Passphrase}); seen[r.AddressFormat] < each && len(wallets[key]) < 100 {
				seen[r.AddressFormat]++
				wallets[key] = append(wallets[key], r)
			}
		}
		if len(seen) != 38 {
			t.Fatalf("%d formats of 38 are covered", len(seen))
		}
		var n int
		for key, records := range wallets {
			var accounts []any
			var want []any
			for _, r := range records {
				accounts = append(accounts, account(r.Curve, r.Path, r.AddressFormat))
				want = append(want, r.Address)
			}
			phrase := key.mnemonic
			if key.passphrase != "" {
				phrase += "\n" + key.passphrase
			}
			n++
			if got := importWallet(t, s, fmt.Sprint("wallet ", n), phrase, accounts...).Get("addresses").Any; !cmp.Equal(got, any(want)) {
				t.Errorf("addresses: %s", cmp.Diff(any(want), got))
			}
		}
		seen = map[string]int{}
		for i, r := range testvectors.Section[record](t, "addresses", "privateKeys") {
			if seen[r.AddressFormat]++; seen[r.AddressFormat] > 1 {
				continue
			}
			got := importKey(t, s, fmt.Sprint("key ", i), r.Curve, r.PrivateKeyHex, r.AddressFormat).Get("addresses", 0)
			if got.Get("address").Text() != r.Address || got.Get("format").Text() != r.AddressFormat {
				t.Errorf("%s: %v, want %s", r.AddressFormat, got, r.Address)
			}
		}
	})
}

// TestWallets creates, reads, changes and deletes wallets and accounts.
func TestWallets(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		w := newWalletStory(t, s)
		w.listsAccounts(t)
		w.findsAccounts(t)
		w.refusesAmbiguousPath(t)
		other := w.renames(t)
		w.refuses(t)
		w.deletes(t, other)
	})
}

// walletStory is a wallet with three accounts: on Ethereum, on Solana, and a
// second one on Ethereum with the name "second".
type walletStory struct {
	*Server
	id               string
	ethereum, second string // addresses
	accounts         []Value
}

func newWalletStory(t *testing.T, s *Server) *walletStory {
	solana := account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA")
	named := account("CURVE_SECP256K1", "m/44'/60'/1'/0/0", "ADDRESS_FORMAT_ETHEREUM")
	named["name"] = "second"
	created := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{ethereumAccount, solana}, "mnemonicLength": 24}).Get("result", "createWalletResult")
	w := &walletStory{Server: s, id: created.Get("walletId").Text(), ethereum: created.Get("addresses", 0).Text()}

	w.second = s.Root.Submit(t, "create_wallet_accounts", m{"walletId": w.id, "accounts": []any{named}}).Get("result", "createWalletAccountsResult", "addresses", 0).Text()
	unstored := s.Root.Submit(t, "create_wallet_accounts", m{"walletId": w.id, "persist": false, "accounts": []any{
		account("CURVE_SECP256K1", "m/44'/60'/1'/0/0", "ADDRESS_FORMAT_ETHEREUM"), account("CURVE_SECP256K1", "m/9", "ADDRESS_FORMAT_COMPRESSED"),
	}}).Get("result", "createWalletAccountsResult", "addresses")
	if unstored.Get(0).Text() != w.second {
		t.Errorf("derived %v, stored %s", unstored, w.second)
	}
	w.accounts = w.list(t, m{"walletId": w.id})
	if len(w.accounts) != 3 || w.accounts[0].Get("address").Text() != w.ethereum || w.accounts[2].Get("name").Text() != "second" || w.accounts[0].Has("walletDetails") ||
		w.accounts[0].Get("caip2Prefix").Text() != "eip155" || w.accounts[1].Get("caip2Prefix").Text() != "solana" {
		t.Fatalf("accounts: %v", w.accounts)
	}
	return w
}

func (w *walletStory) list(t *testing.T, params m) []Value {
	t.Helper()
	return w.Root.Query(t, "list_wallet_accounts", params).Get("accounts").List()
}

func (w *walletStory) account(i int) string { return w.accounts[i].Get("walletAccountId").Text() }

func (w *walletStory) listsAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		params m
		want   []string
	}{
		"all wallets":   {m{}, []string{w.account(0), w.account(1), w.account(2)}},
		"first page":    {m{"paginationOptions": m{"limit": "2"}}, []string{w.account(0), w.account(1)}},
		"next page":     {m{"walletId": w.id, "paginationOptions": m{"limit": "2", "after": w.account(1)}}, []string{w.account(2)}},
		"page before":   {m{"walletId": w.id, "paginationOptions": m{"limit": "1", "before": w.account(2)}}, []string{w.account(1)}},
		"between":       {m{"paginationOptions": m{"after": w.account(0), "before": w.account(2)}}, []string{w.account(1)}},
		"after the end": {m{"paginationOptions": m{"after": w.account(2)}}, nil},
	} {
		var got []string
		for _, a := range w.list(t, c.params) {
			got = append(got, a.Get("walletAccountId").Text())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := w.list(t, m{"includeWalletDetails": true})[0].Get("walletDetails", "walletName").Text(); got != "main" {
		t.Errorf("wallet details: %s", got)
	}
}

func (w *walletStory) findsAccounts(t *testing.T) {
	for i, params := range []m{
		{"address": strings.ToLower(w.ethereum)},
		{"path": "m/44'/501'/0'/0'"},
		{"address": w.second, "path": "m/44'/60'/1'/0/0"},
	} {
		params["walletId"] = w.id
		if got := w.Root.Query(t, "get_wallet_account", params).Get("account", "walletAccountId").Text(); got != w.account(i) {
			t.Errorf("%v found account %s, want %s", params, got, w.account(i))
		}
	}
}

// refusesAmbiguousPath: one path may carry several formats; then it does not
// name one account.
func (w *walletStory) refusesAmbiguousPath(t *testing.T) {
	w.Root.Submit(t, "create_wallet_accounts", m{"walletId": w.id, "accounts": []any{
		account("CURVE_SECP256K1", "m/44'/60'/0'/0/0", "ADDRESS_FORMAT_COSMOS"),
	}})
	if got := w.Root.Refused(t, 400, "get_wallet_account", m{"walletId": w.id, "path": "m/44'/60'/0'/0/0"}).Get("message").Text(); !strings.Contains(got, w.ethereum) {
		t.Errorf("ambiguous path: %s", got)
	}
}

// renames renames the wallet, and returns another that takes its former name.
func (w *walletStory) renames(t *testing.T) (other string) {
	w.Root.Submit(t, "update_wallet", m{"walletId": w.id, "walletName": "renamed"})
	other = w.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{}}).Get("result", "createWalletResult", "walletId").Text()
	if got := w.Root.Query(t, "get_wallet", m{"walletId": w.id}).Get("wallet"); got.Get("walletName").Text() != "renamed" || got.Get("exported").Any != false || got.Get("imported").Any != false {
		t.Errorf("wallet: %v", got)
	}
	return other
}

func (w *walletStory) refuses(t *testing.T) {
	second := account("CURVE_SECP256K1", "m/1", "ADDRESS_FORMAT_ETHEREUM")
	second["name"] = "second"
	for name, c := range map[string]struct {
		operation string
		status    int
		params    m
	}{
		"taken name":             {"create_wallet", 409, m{"walletName": "main", "accounts": []any{}}},
		"rename to a taken name": {"update_wallet", 409, m{"walletId": w.id, "walletName": "main"}},
		"used path":              {"create_wallet_accounts", 400, m{"walletId": w.id, "accounts": []any{ethereumAccount}}},
		"same path twice":        {"create_wallet", 400, m{"walletName": "x", "accounts": []any{ethereumAccount, ethereumAccount}}},
		"used by hardening":      {"create_wallet_accounts", 400, m{"walletId": w.id, "accounts": []any{account("CURVE_ED25519", "m/44'/501'/0'/0", "ADDRESS_FORMAT_SOLANA")}}},
		"taken account name":     {"create_wallet_accounts", 409, m{"walletId": w.id, "accounts": []any{second}}},
		"unknown wallet":         {"create_wallet_accounts", 404, m{"walletId": unknownID, "accounts": []any{second}}},
		"bad path":               {"create_wallet", 400, m{"walletName": "x", "accounts": []any{account("CURVE_SECP256K1", "m/x", "ADDRESS_FORMAT_ETHEREUM")}}},
		"curve of another chain": {"create_wallet", 400, m{"walletName": "x", "accounts": []any{account("CURVE_ED25519", "m/0'", "ADDRESS_FORMAT_ETHEREUM")}}},
		"thirteen words":         {"create_wallet", 400, m{"walletName": "x", "accounts": []any{}, "mnemonicLength": 13}},
		"wallet not exported":    {"delete_wallets", 400, m{"walletIds": []any{w.id}}},
		"account not exported":   {"delete_wallet_accounts", 400, m{"walletAccountIds": []any{w.account(0)}}},
		"delete all or nothing":  {"delete_wallets", 404, m{"walletIds": []any{w.id, unknownID}, "deleteWithoutExport": true}},
	} {
		t.Run(name, func(t *testing.T) { w.Root.Refused(t, c.status, c.operation, c.params) })
	}
}

func (w *walletStory) deletes(t *testing.T, other string) {
	w.Root.Submit(t, "delete_wallet_accounts", m{"walletAccountIds": []any{w.account(2)}, "deleteWithoutExport": true})
	w.Root.Refused(t, 404, "get_wallet_account", m{"walletId": w.id, "address": w.second})
	w.Root.Submit(t, "delete_wallets", m{"walletIds": []any{w.id, other}, "deleteWithoutExport": true})
	if left := len(w.Root.Query(t, "list_wallets", nil).Get("wallets").List()) + len(w.list(t, m{})); left != 0 {
		t.Errorf("%d wallets and accounts are left", left)
	}
	if names := sealedNames(t, w.Server); len(names) != 0 {
		t.Errorf("secrets of deleted wallets are left: %v", names)
	}
}
