package ops

import (
	"context"
	"encoding/hex"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/request/activity"
)

// ExportWallet gives out a wallet's seed phrase, encrypted to the caller.
var ExportWallet = activity.Op[ExportWalletParams, ExportWalletResult]{
	Spec: activity.Spec{
		Name: "export_wallet", Version: 1,
		Summary: "Export a wallet's seed phrase, encrypted to a key of the caller.",
		Govern:  activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionExport},
	},
	Facts: exportWalletFacts,
	Exec:  exportWallet,
}

// ExportWalletParams are the parameters of export_wallet.
type ExportWalletParams struct {
	WalletID        string   `json:"walletId" check:"required,uuid" doc:"Wallet to export."`
	TargetPublicKey string   `json:"targetPublicKey" check:"required,hex,max=130" doc:"P-256 public key to encrypt to, as hex." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	Language        Language `json:"language,omitzero" doc:"Language of the words; the one in which the wallet was created or imported when absent. Only in that one do the words lead other software to the same keys."`
}

// Language is a word list of BIP-39.
type Language string

// Enum lists the languages for the schema.
func (Language) Enum() []string {
	return []string{
		"MNEMONIC_LANGUAGE_ENGLISH", "MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE", "MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE",
		"MNEMONIC_LANGUAGE_CZECH", "MNEMONIC_LANGUAGE_FRENCH", "MNEMONIC_LANGUAGE_ITALIAN",
		"MNEMONIC_LANGUAGE_JAPANESE", "MNEMONIC_LANGUAGE_KOREAN", "MNEMONIC_LANGUAGE_SPANISH",
	}
}

// ExportWalletResult is the result of export_wallet.
type ExportWalletResult struct {
	WalletID     string `json:"walletId" check:"required,uuid" doc:"Wallet that was exported."`
	ExportBundle string `json:"exportBundle" check:"required,secret" doc:"Encrypted and signed seed phrase."`
}

func exportWallet(_ context.Context, e activity.Env, p *ExportWalletParams) (ExportWalletResult, error) {
	err := e.Tx.Wallets().Edit(p.WalletID, func(w *domain.Wallet) error {
		w.Exported, w.UpdatedAt = true, e.Now
		return nil
	})
	if err != nil {
		return ExportWalletResult{}, err
	}
	recipient, err := recipientKey(p.TargetPublicKey)
	if err != nil {
		return ExportWalletResult{}, err
	}
	enc, ciphertext, err := e.Vault.ExportSeed(p.WalletID, string(p.Language), recipient)
	if err != nil {
		return ExportWalletResult{}, err
	}
	text, err := bundle.Export(e.ServerKeys, enc, ciphertext, e.Tx.Org())
	return ExportWalletResult{WalletID: p.WalletID, ExportBundle: text}, err
}

// exportKey encrypts one private key to a key of the caller.
func exportKey(e activity.Env, keyID, targetPublicKey string) (string, error) {
	recipient, err := recipientKey(targetPublicKey)
	if err != nil {
		return "", err
	}
	enc, ciphertext, err := e.Vault.ExportKey(keyID, recipient)
	if err != nil {
		return "", err
	}
	return bundle.Export(e.ServerKeys, enc, ciphertext, e.Tx.Org())
}

func recipientKey(text string) ([]byte, error) {
	key, err := hex.DecodeString(text)
	if err != nil {
		return nil, fault.Invalid("targetPublicKey must be hex")
	}
	return key, nil
}
