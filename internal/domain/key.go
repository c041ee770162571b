package domain

import (
	"time"

	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
)

// Wallet is a seed from which accounts are derived. The seed itself is in the
// vault, under the wallet's id.
type Wallet struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Exported  bool      `json:"exported"`
	Imported  bool      `json:"imported"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// WalletAccount is a key that was derived from a wallet. The key itself is in
// the vault, under the account's id.
type WalletAccount struct {
	ID        string         `json:"id"`
	WalletID  string         `json:"walletId"`
	Name      string         `json:"name,omitzero"`
	Curve     curve.KeyCurve `json:"curve"`
	Path      string         `json:"path"`    // as it was asked for
	Derived   string         `json:"derived"` // as it was derived: Ed25519 hardens every part
	Format    address.Format `json:"format"`
	Address   string         `json:"address"`
	PublicKey string         `json:"publicKey"` // hex: compressed, or 32 bytes for Ed25519
	FullKey   string         `json:"fullKey"`   // the same, uncompressed
	Exported  bool           `json:"exported"`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// PrivateKey is a key that is not derived from a wallet. The key itself is in the vault, under the
// record's id.
type PrivateKey struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Curve     curve.KeyCurve `json:"curve"`
	PublicKey string         `json:"publicKey"` // hex: compressed, or 32 bytes for Ed25519
	FullKey   string         `json:"fullKey"`   // the same, uncompressed
	Addresses []Address      `json:"addresses"`
	TagIDs    []string       `json:"tagIds"`
	Exported  bool           `json:"exported"`
	Imported  bool           `json:"imported"`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// Address is a public key as one network writes it.
type Address struct {
	Format  address.Format `json:"format"`
	Address string         `json:"address"`
}

// ImportTarget is a one-time key to which a client encrypts what it imports.
// The private half is in the vault, under the target's id.
type ImportTarget struct {
	ID        string     `json:"id"`
	UserID    string     `json:"userId"`
	Kind      ImportKind `json:"kind"`
	PublicKey string     `json:"publicKey,omitzero"` // of a secret's, by which imports name it: uncompressed hex
	CreatedAt time.Time  `json:"createdAt"`
}

// ImportKind says what a target is for.
type ImportKind string

// What can be imported.
const (
	ImportWallet     ImportKind = "wallet"
	ImportPrivateKey ImportKind = "private key"
	ImportSecret     ImportKind = "secret"
)

// importLifetime is how long a client may take to encrypt to a target.
const importLifetime = time.Hour

// SignWith lists the names by which a request may refer to the account.
func (a *WalletAccount) SignWith() []string {
	return []string{address.Key(a.Address), a.PublicKey, a.FullKey}
}

// DirectoryKeys are the keys by which the parent of the account's organization
// finds it.
func (a *WalletAccount) DirectoryKeys() []string {
	return []string{ChildByAddress(address.Key(a.Address))}
}

// SignWith lists the names by which a request may refer to the key, beside its
// id.
func (k *PrivateKey) SignWith() []string {
	names := []string{k.PublicKey, k.FullKey}
	for _, a := range k.Addresses {
		names = append(names, address.Key(a.Address))
	}
	return names
}

// FormatNamed is the format of the address that name is; "" when it is none.
func (a *WalletAccount) FormatNamed(name string) address.Format {
	if address.Key(a.Address) == name {
		return a.Format
	}
	return ""
}

// FormatNamed is the format of the address that name is; "" when it is none.
func (k *PrivateKey) FormatNamed(name string) address.Format {
	for _, a := range k.Addresses {
		if address.Key(a.Address) == name {
			return a.Format
		}
	}
	return ""
}

// Expired reports whether the target is too old to be used.
func (t *ImportTarget) Expired(now time.Time) bool { return now.Sub(t.CreatedAt) > importLifetime }
