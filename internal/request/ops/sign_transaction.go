package ops

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/sol"
	"latchkey/internal/chain/tron"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
)

// The versions of sign_transaction. Both answer with the first one's result.
var (
	SignTransaction = activity.Older(signTransactionSpec(1), SignTransactionV2,
		func(p *SignTransactionParams) *SignTransactionParamsV2 {
			return &SignTransactionParamsV2{SignWith: p.PrivateKeyID, UnsignedTransaction: p.UnsignedTransaction, Type: p.Type}
		})
	SignTransactionV2 = activity.Op[SignTransactionParamsV2, SignTransactionResult]{
		Spec:  signTransactionSpec(2),
		Facts: transactionFacts,
		Exec:  signTransaction,
	}
)

func signTransactionSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "sign_transaction", Version: version, ResultKey: "signTransactionResult",
		Summary: "Sign a transaction.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionSign},
	}
}

// SignTransactionParamsV2 are the parameters of sign_transaction.
type SignTransactionParamsV2 struct {
	SignWith            string          `json:"signWith" check:"required,max=200" doc:"Address, private key id or public key to sign with." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	UnsignedTransaction string          `json:"unsignedTransaction" check:"required" doc:"Transaction as hex."`
	Type                TransactionType `json:"type" check:"required" doc:"Network that the transaction is for."`
}

// SignTransactionParams are the parameters of version 1.
type SignTransactionParams struct {
	PrivateKeyID        string          `json:"privateKeyId" check:"required,max=200" doc:"Private key to sign with." example:"0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f"`
	UnsignedTransaction string          `json:"unsignedTransaction" check:"required" doc:"Transaction as hex."`
	Type                TransactionType `json:"type" check:"required" doc:"Network that the transaction is for."`
}

// SignTransactionResult is the result of sign_transaction.
type SignTransactionResult struct {
	SignedTransaction string `json:"signedTransaction" check:"required" doc:"Signed transaction as hex, without 0x."`
}

// TransactionType is a network whose transactions can be signed.
type TransactionType string

// The networks.
const (
	transactionEthereum TransactionType = "TRANSACTION_TYPE_ETHEREUM"
	transactionSolana   TransactionType = "TRANSACTION_TYPE_SOLANA"
	transactionTron     TransactionType = "TRANSACTION_TYPE_TRON"
	transactionBitcoin  TransactionType = "TRANSACTION_TYPE_BITCOIN"
)

// Enum lists the networks for the schema.
func (TransactionType) Enum() []string {
	return []string{string(transactionEthereum), string(transactionSolana), string(transactionTron), string(transactionBitcoin)}
}

func signTransaction(_ context.Context, e activity.Env, p *SignTransactionParamsV2) (SignTransactionResult, error) {
	key, err := findSigner(e.Tx, p.SignWith)
	if err != nil {
		return SignTransactionResult{}, err
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(p.UnsignedTransaction, "0x"))
	if err != nil {
		return SignTransactionResult{}, unparsable(errNotHex)
	}
	wanted := curve.KeySecp256k1
	sign := map[TransactionType]func(activity.Env, *signer, []byte) ([]byte, error){
		transactionEthereum: signEthereum, transactionTron: signTron,
		transactionSolana: signSolana, transactionBitcoin: signBitcoin,
	}[p.Type]
	if p.Type == transactionSolana {
		wanted = curve.KeyEd25519
	}
	if key.curve != wanted {
		return SignTransactionResult{}, fault.Invalid("signWith: %s needs a key on %s, and this one is on %s", p.Type, wanted, key.curve)
	}
	signed, err := sign(e, key, raw)
	return SignTransactionResult{SignedTransaction: hex.EncodeToString(signed)}, err
}

var errNotHex = errors.New("it must be hex")

func unparsable(err error) error { return fault.Invalid("failed to parse transaction: %v", err) }

func signEthereum(e activity.Env, key *signer, raw []byte) ([]byte, error) {
	tx, err := eth.Parse(raw)
	if err != nil {
		return nil, unparsable(err)
	}
	s, err := e.Vault.SignDigest(key.id, key.curve, tx.Digest())
	if err != nil {
		return nil, err
	}
	return tx.Signed(s.R, s.S, s.V), nil
}

func signTron(e activity.Env, key *signer, raw []byte) ([]byte, error) {
	tx, err := tron.Parse(raw)
	if err != nil {
		return nil, unparsable(err)
	}
	s, err := e.Vault.SignDigest(key.id, key.curve, tx.Digest())
	if err != nil {
		return nil, err
	}
	return tx.Signed(s.R, s.S, s.V), nil
}

func signSolana(e activity.Env, key *signer, raw []byte) ([]byte, error) {
	tx, err := sol.Parse(raw)
	if err != nil {
		return nil, unparsable(err)
	}
	index, ok := tx.SignerIndex([32]byte(key.publicKey))
	if !ok {
		return nil, fault.Invalid("signWith is not among the signers that the transaction requires")
	}
	s, err := e.Vault.SignMessage(key.id, tx.Message())
	if err != nil {
		return nil, err
	}
	return tx.Signed(index, [64]byte(append(s.R[:], s.S[:]...))), nil
}

func signBitcoin(e activity.Env, key *signer, raw []byte) ([]byte, error) {
	kind, ok := bitcoinKind(key.format)
	if !ok {
		return nil, fault.Invalid("signWith must be a Bitcoin address of the kind P2PKH, P2WPKH or P2TR")
	}
	tx, err := btc.Parse(raw)
	if err != nil {
		return nil, unparsable(err)
	}
	publicKey := [33]byte(key.publicKey)
	inputs, err := tx.ToSign(publicKey, kind)
	if err != nil {
		return nil, unparsable(err)
	}
	for _, in := range inputs {
		s, err := key.sign(e, in.Digest[:])
		if err != nil {
			return nil, err
		}
		if err := tx.AddSignature(in.Input, s.R, s.S, publicKey); err != nil {
			return nil, err
		}
	}
	return tx.Encode(), nil
}

// bitcoinKind is the kind of a Bitcoin address, on whichever network.
func bitcoinKind(f address.Format) (btc.Kind, bool) {
	if !strings.HasPrefix(string(f), "ADDRESS_FORMAT_BITCOIN_") {
		return 0, false
	}
	kind, ok := map[string]btc.Kind{"P2PKH": btc.P2PKH, "P2WPKH": btc.P2WPKH, "P2TR": btc.P2TR}[string(f)[strings.LastIndexByte(string(f), '_')+1:]]
	return kind, ok
}
