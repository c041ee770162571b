package ops

import (
	"encoding/hex"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/derivation"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// This file holds what several operations say about wallets.

// AccountParams describes an account to derive.
type AccountParams struct {
	Curve         curve.KeyCurve    `json:"curve" check:"required" doc:"Curve of the key."`
	PathFormat    record.PathFormat `json:"pathFormat" check:"required" doc:"Grammar of the path."`
	Path          string            `json:"path" check:"required,max=255" doc:"Derivation path." example:"m/44'/60'/0'/0/0"`
	AddressFormat address.Format    `json:"addressFormat" check:"required" doc:"Format of the address." example:"ADDRESS_FORMAT_ETHEREUM"`
	Name          string            `json:"name,omitzero" check:"label" doc:"Human-readable name, unique in the wallet."`
}

// Check refuses an invalid path, and a format that does not exist on the curve.
func (p *AccountParams) Check(problems *schema.Problems) {
	if _, err := derivation.Parse(p.Path); err != nil {
		problems.Add("path", "%v", err)
	}
	checkFormat(problems, "addressFormat", p.AddressFormat, p.Curve)
}

func checkFormat(problems *schema.Problems, at string, f address.Format, c curve.KeyCurve) {
	for _, allowed := range f.Curves() {
		if allowed == c {
			return
		}
	}
	problems.Add(at, "%s needs a key on %v", f, f.Curves())
}

// derived is an account with its public key.
type derived struct {
	params    AccountParams
	path      derivation.Path
	publicKey []byte
	full      []byte
	address   string
}

// newWallet records a wallet whose seed is in the vault already.
func newWallet(e activity.Env, w *domain.Wallet) error {
	if err := checkLimit(e.Limits.Wallets, "wallets", func(n int) (int, error) {
		list, err := e.Tx.Wallets().List("", n)
		return len(list), err
	}); err != nil {
		return err
	}
	w.CreatedAt, w.UpdatedAt = e.Now, e.Now
	return e.Tx.Wallets().Insert(w)
}

// checkLimit refuses one more of things of which there are limit already. count
// returns how many there are, counting no further than most.
func checkLimit(limit int, things string, count func(most int) (int, error)) error {
	if limit == 0 {
		return nil
	}
	n, err := count(limit)
	if err == nil && n >= limit {
		err = fault.Exhausted("the organization has reached its maximum of %d %s", limit, things)
	}
	return err
}

// checkText refuses a change after which the texts of all things of a kind would
// have more than most bytes: they are read, and listed, together.
func checkText[T any](things string, most int, all []*T, size func(*T) int) error {
	total := 0
	for _, one := range all {
		total += size(one)
	}
	if total > most {
		return fault.Exhausted("the texts of the organization's %s would have %d bytes together, and may have at most %d; delete one first",
			things, total, most)
	}
	return nil
}

// findWallet finds a wallet once for all requests that use it, until it is changed.
func findWallet(tx *store.Tx, id string) (*domain.Wallet, error) {
	return store.Derived(tx, "wallet "+id, func() (*domain.Wallet, error) { return tx.Wallets().Get(id) })
}

// addAccounts derives accounts, stores them, and returns their addresses.
func addAccounts(e activity.Env, walletID string, accounts []AccountParams) ([]string, error) {
	addresses := make([]string, len(accounts))
	for i, params := range accounts {
		id := e.NewID()
		account, err := derive(params, func(p derivation.Path) ([]byte, error) {
			return e.Vault.StoreDerived(id, walletID, params.Curve, p)
		})
		if err != nil {
			return nil, err
		}
		if err := e.Tx.WalletAccounts().Insert(account.record(id, walletID, e)); err != nil {
			return nil, err
		}
		addresses[i] = account.address
	}
	return addresses, nil
}

func derive(params AccountParams, key func(derivation.Path) ([]byte, error)) (*derived, error) {
	parsed, err := derivation.Parse(params.Path)
	if err != nil {
		return nil, err
	}
	d := &derived{params: params, path: parsed.Normal(params.Curve)}
	if d.publicKey, err = key(d.path); err != nil {
		return nil, err
	}
	d.address, d.full, err = address.WithFull(params.AddressFormat, params.Curve, d.publicKey)
	return d, err
}

func (d *derived) record(id, walletID string, e activity.Env) *domain.WalletAccount {
	return &domain.WalletAccount{
		ID: id, WalletID: walletID, Name: d.params.Name, Curve: d.params.Curve,
		Path: d.params.Path, Derived: d.path.String(), Format: d.params.AddressFormat, Address: d.address,
		PublicKey: hex.EncodeToString(d.publicKey), FullKey: hex.EncodeToString(d.full),
		CreatedAt: e.Now, UpdatedAt: e.Now,
	}
}

// notExported refuses to destroy the only copy of a key by accident.
func notExported(what, id string) error {
	return fault.Invalid("%s has not been exported: %s; export it first, or set deleteWithoutExport to lose its keys for good", what, id)
}
