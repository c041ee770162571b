package ops

import (
	"encoding/hex"
	"strings"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/sol"
	"latchkey/internal/chain/transfer"
	"latchkey/internal/chain/tron"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/derivation"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// This file holds what operations tell policies about themselves. A target
// that does not exist is left out: the policies that need it do not apply, and
// a caller who is allowed all the same learns from the executor that it is
// missing.

// signFacts sets which key signs. The key is found as the executor finds it.
func signFacts(f activity.Facts, signWith string) (*signer, error) {
	key, err := findSigner(f.Tx, signWith)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	f.SignsFor = key.owner()
	if key.account == nil {
		f.PrivateKey = privateKeyFact(key.privateKey)
		return key, nil
	}
	f.WalletAccount = &fact.WalletAccount{Address: key.account.Address, Addresses: key.addresses}
	f.Wallet = walletFact(key.wallet)
	return key, nil
}

// ignoreMissing drops the error that a target is missing.
func ignoreMissing(err error) error {
	if refusal, ok := fault.As(err); ok && refusal.Code == fault.NotFound {
		return nil
	}
	return err
}

func walletFacts(f activity.Facts, id string) error {
	wallet, err := f.Tx.Wallets().Lookup(id)
	if wallet != nil {
		f.Wallet = walletFact(wallet)
	}
	return err
}

func walletFact(w *domain.Wallet) *fact.Wallet {
	return &fact.Wallet{ID: w.ID, Label: w.Name, Imported: w.Imported, Exported: w.Exported}
}

func privateKeyFact(k *domain.PrivateKey) *fact.PrivateKey {
	return &fact.PrivateKey{ID: k.ID, Label: k.Name, Tags: k.TagIDs, Imported: k.Imported, Exported: k.Exported}
}

func rawPayloadFacts(f activity.Facts, p *SignRawPayloadParamsV2) error {
	f.Activity.Params.HashFunction = text(p.HashFunction)
	f.Activity.Params.Encoding = text(p.Encoding)
	if _, err := signFacts(f, p.SignWith); err != nil {
		return err
	}
	switch p.Encoding {
	case encodingEIP712:
		_, data, err := eth.TypedDataDigest([]byte(p.Payload))
		if err != nil {
			return fault.Invalid("payload: %v", err)
		}
		f.EIP712 = describe.EIP712(data)
		moves(f, func() *fact.Transfers { return transfer.TypedData(data) })
	case encodingEIP7702:
		_, authorization, err := eth.AuthorizationDigest([]byte(p.Payload))
		if err != nil {
			return fault.Invalid("payload: %v", err)
		}
		f.EIP7702 = describe.EIP7702(authorization)
		moves(f, func() *fact.Transfers { return transfer.Authorization(authorization) })
	default:
		moves(f, rawPayload)
	}
	return nil
}

// moves sets what the signature moves, which is read when a control asks.
func moves(f activity.Facts, read func() *fact.Transfers) {
	f.Transfers = func() (*fact.Transfers, error) { return read(), nil }
}

func rawPayload() *fact.Transfers {
	return transfer.Unreadable("a raw payload may be a transaction of any chain; use sign_transaction, or sign_raw_payload with PAYLOAD_ENCODING_EIP712")
}

func rawPayloadsFacts(f activity.Facts, p *SignRawPayloadsParams) error {
	f.Activity.Params.HashFunction = text(p.HashFunction)
	f.Activity.Params.Encoding = text(p.Encoding)
	moves(f, rawPayload)
	_, err := signFacts(f, p.SignWith)
	return err
}

func transactionFacts(f activity.Facts, p *SignTransactionParamsV2) error {
	f.Activity.Params.Type = text(p.Type)
	key, err := signFacts(f, p.SignWith)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(p.UnsignedTransaction, "0x"))
	if err != nil {
		return unparsable(errNotHex)
	}
	switch p.Type {
	case transactionEthereum:
		tx, err := eth.Parse(raw)
		if err != nil {
			return unparsable(err)
		}
		known := &contracts{tx: f.Tx}
		f.Ethereum = describe.Ethereum(tx, key.ethereum(), known)
		moves(f, func() *fact.Transfers { return transfer.Ethereum(tx) })
		return known.err
	case transactionSolana:
		tx, err := sol.Parse(raw)
		if err != nil {
			return unparsable(err)
		}
		known := &contracts{tx: f.Tx}
		f.Solana = describe.Solana(tx, known)
		moves(f, func() *fact.Transfers { return transfer.Solana(f.Solana) })
		return known.err
	case transactionTron:
		tx, err := tron.Parse(raw)
		if err != nil {
			return unparsable(err)
		}
		f.Tron = describe.Tron(tx)
		moves(f, func() *fact.Transfers { return transfer.Tron(tx) })
	case transactionBitcoin:
		tx, err := btc.Parse(raw)
		if err != nil {
			return unparsable(err)
		}
		if key == nil {
			return nil
		}
		if f.Bitcoin, err = describe.Bitcoin(tx, key.format); err != nil {
			return unparsable(err)
		}
		f.Transfers = func() (*fact.Transfers, error) {
			return transfer.Bitcoin(tx, f.Bitcoin.FeeUntold, key.owns(f.Tx))
		}
	}
	return nil
}

func exportWalletFacts(f activity.Facts, p *ExportWalletParams) error {
	f.Activity.Params.TargetPublicKey = &p.TargetPublicKey
	return walletFacts(f, p.WalletID)
}

func exportAccountFacts(f activity.Facts, p *ExportWalletAccountParams) error {
	f.Activity.Params.TargetPublicKey = &p.TargetPublicKey
	found, err := f.Tx.WalletAccounts().ListBy(store.BySigner, address.Key(p.Address), "", 1)
	if err != nil || len(found) == 0 {
		return err
	}
	a := found[0]
	parsed, err := derivation.Parse(a.Path)
	if err != nil {
		return err
	}
	public, err := hex.DecodeString(a.PublicKey)
	if err != nil {
		return err
	}
	f.WalletAccount = &fact.WalletAccount{
		Address: a.Address, Addresses: allAddresses(a.Curve, public), Exporting: true,
		WalletID: a.WalletID, Curve: string(a.Curve), AddressFormat: string(a.Format),
	}
	f.WalletAccount.PathIndexes, f.WalletAccount.PathHardened = describe.Path(parsed)
	return walletFacts(f, a.WalletID)
}

func exportKeyFacts(f activity.Facts, p *ExportPrivateKeyParams) error {
	f.Activity.Params.TargetPublicKey = &p.TargetPublicKey
	key, err := f.Tx.PrivateKeys().Lookup(p.PrivateKeyID)
	if key != nil {
		f.PrivateKey = privateKeyFact(key)
	}
	return err
}

func deleteWalletsFacts(f activity.Facts, p *DeleteWalletsParams) error {
	f.Wallets = []fact.Wallet{}
	for _, id := range p.WalletIDs {
		wallet, err := f.Tx.Wallets().Lookup(id)
		if err != nil {
			return err
		}
		if wallet != nil {
			f.Wallets = append(f.Wallets, *walletFact(wallet))
		}
	}
	return nil
}

// sessionFacts sets which profile a login asks for.
func (p *SessionProfile) sessionFacts(f activity.Facts) error {
	f.Activity.Params.SessionProfileID = &p.SessionProfileID
	return nil
}

func text[T ~string](value T) *string {
	s := string(value)
	return &s
}
