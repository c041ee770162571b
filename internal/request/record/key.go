package record

import (
	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
)

// PathFormat is the grammar of a derivation path; there is one.
type PathFormat string

// PathBIP32 is the grammar of BIP-32.
const PathBIP32 PathFormat = "PATH_FORMAT_BIP32"

// Enum lists the path formats for the schema.
func (PathFormat) Enum() []string { return []string{string(PathBIP32)} }

// Wallet is a wallet.
type Wallet struct {
	WalletID   string    `json:"walletId" check:"required,uuid" doc:"Id of the wallet."`
	WalletName string    `json:"walletName" check:"required" doc:"Human-readable name."`
	CreatedAt  Timestamp `json:"createdAt" check:"required" doc:"When the wallet was created."`
	UpdatedAt  Timestamp `json:"updatedAt" check:"required" doc:"When the wallet was last changed."`
	Exported   bool      `json:"exported" check:"required" doc:"Whether the wallet has been exported."`
	Imported   bool      `json:"imported" check:"required" doc:"Whether the wallet was imported."`
}

// WalletAccount is an account of a wallet.
type WalletAccount struct {
	WalletAccountID string         `json:"walletAccountId" check:"required,uuid" doc:"Id of the account."`
	OrganizationID  string         `json:"organizationId" check:"required,uuid" doc:"Organization that owns it."`
	WalletID        string         `json:"walletId" check:"required,uuid" doc:"Wallet that it was derived from."`
	Curve           curve.KeyCurve `json:"curve" check:"required" doc:"Curve of the key."`
	PathFormat      PathFormat     `json:"pathFormat" check:"required" doc:"Grammar of the path."`
	Path            string         `json:"path" check:"required" doc:"Derivation path."`
	AddressFormat   address.Format `json:"addressFormat" check:"required" doc:"Format of the address."`
	Address         string         `json:"address" check:"required" doc:"Address of the account."`
	CreatedAt       Timestamp      `json:"createdAt" check:"required" doc:"When the account was created."`
	UpdatedAt       Timestamp      `json:"updatedAt" check:"required" doc:"When the account was last changed."`
	PublicKey       string         `json:"publicKey,omitzero" doc:"Public key as hex, compressed."`
	WalletDetails   *Wallet        `json:"walletDetails,omitzero" doc:"The wallet, when asked for."`
	Name            string         `json:"name,omitzero" doc:"Human-readable name."`
	CAIP2Prefix     string         `json:"caip2Prefix,omitzero" doc:"Namespace of the chain in CAIP-2, such as eip155."`
}

// Address is an address of a private key.
type Address struct {
	Format  address.Format `json:"format" check:"required" doc:"Format of the address."`
	Address string         `json:"address" check:"required" doc:"The address."`
}

// PrivateKey is a private key's public side.
type PrivateKey struct {
	PrivateKeyID   string         `json:"privateKeyId" check:"required,uuid" doc:"Id of the key."`
	PublicKey      string         `json:"publicKey" check:"required" doc:"Public key as hex; uncompressed, except for Ed25519."`
	PrivateKeyName string         `json:"privateKeyName" check:"required" doc:"Human-readable name."`
	Curve          curve.KeyCurve `json:"curve" check:"required" doc:"Curve of the key."`
	Addresses      []Address      `json:"addresses" check:"required" doc:"Addresses of the key."`
	PrivateKeyTags []string       `json:"privateKeyTags" check:"required" doc:"Ids of the key's tags."`
	CreatedAt      Timestamp      `json:"createdAt" check:"required" doc:"When the key was created."`
	UpdatedAt      Timestamp      `json:"updatedAt" check:"required" doc:"When the key was last changed."`
	Exported       bool           `json:"exported" check:"required" doc:"Whether the key has been exported."`
	Imported       bool           `json:"imported" check:"required" doc:"Whether the key was imported."`
}

// OfWallet renders a wallet.
func OfWallet(w *domain.Wallet) Wallet {
	return Wallet{
		WalletID: w.ID, WalletName: w.Name, Exported: w.Exported, Imported: w.Imported,
		CreatedAt: Time(w.CreatedAt), UpdatedAt: Time(w.UpdatedAt),
	}
}

// OfWalletAccount renders an account of an organization.
func OfWalletAccount(org string, a *domain.WalletAccount) WalletAccount {
	return WalletAccount{
		WalletAccountID: a.ID, OrganizationID: org, WalletID: a.WalletID, Curve: a.Curve,
		PathFormat: PathBIP32, Path: a.Path, AddressFormat: a.Format, Address: a.Address, Name: a.Name,
		CAIP2Prefix: a.Format.CAIP2Prefix(),
		PublicKey:   a.PublicKey, CreatedAt: Time(a.CreatedAt), UpdatedAt: Time(a.UpdatedAt),
	}
}

// OfAddress renders an address.
func OfAddress(a domain.Address) Address { return Address(a) }

// OfPrivateKey renders a private key's public side.
func OfPrivateKey(k *domain.PrivateKey) PrivateKey {
	return PrivateKey{
		PrivateKeyID: k.ID, PublicKey: k.FullKey, PrivateKeyName: k.Name, Curve: k.Curve,
		Addresses: Each(k.Addresses, OfAddress), PrivateKeyTags: append([]string{}, k.TagIDs...),
		CreatedAt: Time(k.CreatedAt), UpdatedAt: Time(k.UpdatedAt), Exported: k.Exported, Imported: k.Imported,
	}
}
