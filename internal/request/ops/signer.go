package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/sha3"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/eth"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// This file holds how a request names the key that signs, and what is signed.

// signer is the key that a request signs with.
type signer struct {
	id        string // in the vault
	curve     curve.KeyCurve
	format    address.Format // of the address by which it was named; empty: named otherwise
	publicKey []byte         // compressed
	// One of the two is what it belongs to; an account is in a wallet.
	account         *domain.WalletAccount
	wallet          *domain.Wallet
	privateKey      *domain.PrivateKey
	ethereumAddress func() string
	addresses       func() []string // of an account: all that its key has
}

// findSigner resolves signWith: the id of a private key, an address, or a
// public key. The result is shared and found once for each version of the
// organization, since every signature needs it.
func findSigner(tx *store.Tx, signWith string) (*signer, error) {
	return store.Derived(tx, "signer "+signWith, func() (*signer, error) { return lookUpSigner(tx, signWith) })
}

func lookUpSigner(tx *store.Tx, signWith string) (*signer, error) {
	if id, ok := ids.Normal(signWith); ok {
		key, err := tx.PrivateKeys().Get(id)
		if err != nil {
			return nil, err
		}
		return signerOfKey(key, "")
	}
	name := address.Key(signWith)
	if _, err := hex.DecodeString(signWith); err == nil {
		name = strings.ToLower(signWith) // a public key
	}
	accounts, err := tx.WalletAccounts().WithCiphertexts(vault.KeyNames).ListBy(store.BySigner, name, "", 1)
	if err != nil {
		return nil, err
	}
	if len(accounts) > 0 {
		return signerOfAccount(tx, accounts[0], name)
	}
	keys, err := tx.PrivateKeys().WithCiphertexts(vault.KeyNames).ListBy(store.BySigner, name, "", 1)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fault.Missing("no wallet account or private key %s in this organization", signWith)
	}
	return signerOfKey(keys[0], keys[0].FormatNamed(name))
}

func signerOfAccount(tx *store.Tx, a *domain.WalletAccount, name string) (*signer, error) {
	wallet, err := findWallet(tx, a.WalletID)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(a.PublicKey)
	return &signer{
		id: a.ID, curve: a.Curve, format: a.FormatNamed(name), publicKey: raw,
		account: a, wallet: wallet, ethereumAddress: ethereumAddress(a.Curve, raw), addresses: allAddresses(a.Curve, raw),
	}, err
}

func signerOfKey(k *domain.PrivateKey, f address.Format) (*signer, error) {
	raw, err := hex.DecodeString(k.PublicKey)
	return &signer{
		id: k.ID, curve: k.Curve, format: f, publicKey: raw,
		privateKey: k, ethereumAddress: ethereumAddress(k.Curve, raw),
	}, err
}

// owner is what limits over time take the key for: its wallet, or itself.
func (s *signer) owner() string {
	if s.wallet != nil {
		return s.wallet.ID
	}
	return s.privateKey.ID
}

// owns says of a Bitcoin output whether it belongs to the same owner.
func (s *signer) owns(tx *store.Tx) func(*btc.Output) (bool, error) {
	network, _ := describe.BitcoinNetwork(s.format)
	return func(out *btc.Output) (bool, error) {
		text, _ := out.Address(network)
		if text == "" {
			return false, nil
		}
		name := address.Key(text)
		if s.privateKey != nil {
			return slices.Contains(s.privateKey.SignWith(), name), nil
		}
		accounts, err := tx.WalletAccounts().ListBy(store.BySigner, name, "", 0)
		return slices.ContainsFunc(accounts, func(a *domain.WalletAccount) bool { return a.WalletID == s.wallet.ID }), err
	}
}

// ethereum is the key's Ethereum address; empty when it has none.
func (s *signer) ethereum() string {
	if s == nil {
		return ""
	}
	return s.ethereumAddress()
}

// ethereumAddress makes the address when it is first asked for.
func ethereumAddress(c curve.KeyCurve, publicKey []byte) func() string {
	return sync.OnceValue(func() string {
		if c != curve.KeySecp256k1 {
			return ""
		}
		text, err := address.Of("ADDRESS_FORMAT_ETHEREUM", c, publicKey)
		if err != nil {
			return ""
		}
		return text
	})
}

// allAddresses makes the addresses when they are first asked for.
func allAddresses(c curve.KeyCurve, publicKey []byte) func() []string {
	return sync.OnceValue(func() []string { return address.All(c, publicKey) })
}

// sign signs a digest or, on Ed25519, a message.
func (s *signer) sign(e activity.Env, payload []byte) (vault.Signature, error) {
	if s.curve == curve.KeyEd25519 {
		return e.Vault.SignMessage(s.id, payload)
	}
	if address.IsTaproot(s.format) {
		return e.Vault.SignTaproot(s.id, [32]byte(payload))
	}
	if address.IsSpark(s.format) {
		return e.Vault.SignSchnorr(s.id, [32]byte(payload))
	}
	return e.Vault.SignDigest(s.id, s.curve, [32]byte(payload))
}

// Encoding says how a payload is written.
type Encoding string

// The encodings of payloads.
const (
	encodingHex     Encoding = "PAYLOAD_ENCODING_HEXADECIMAL"
	encodingUTF8    Encoding = "PAYLOAD_ENCODING_TEXT_UTF8"
	encodingEIP712  Encoding = "PAYLOAD_ENCODING_EIP712"
	encodingEIP7702 Encoding = "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"
)

// Enum lists the encodings for the schema.
func (Encoding) Enum() []string {
	return []string{string(encodingHex), string(encodingUTF8), string(encodingEIP712), string(encodingEIP7702)}
}

// HashFunction says what is done to a payload before it is signed.
type HashFunction string

// The hash functions of payloads.
const (
	hashNone          HashFunction = "HASH_FUNCTION_NO_OP"
	hashSHA256        HashFunction = "HASH_FUNCTION_SHA256"
	hashKeccak256     HashFunction = "HASH_FUNCTION_KECCAK256"
	hashNotApplicable HashFunction = "HASH_FUNCTION_NOT_APPLICABLE"
)

// Enum lists the hash functions for the schema.
func (HashFunction) Enum() []string {
	return []string{string(hashNone), string(hashSHA256), string(hashKeccak256), string(hashNotApplicable)}
}

// toSign is what a key on the curve signs for a payload: a digest of 32 bytes,
// or on Ed25519 the payload itself.
func toSign(c curve.KeyCurve, payload string, encoding Encoding, hash HashFunction) ([]byte, error) {
	switch encoding {
	case encodingEIP712, encodingEIP7702:
		if c != curve.KeySecp256k1 {
			return nil, fault.Invalid("encoding: %s needs a key on %s", encoding, curve.KeySecp256k1)
		}
		// The standard says what is hashed, whatever hashFunction says.
		return ethereumDigest(payload, encoding)
	}
	raw := []byte(payload)
	if encoding == encodingHex {
		var err error
		if raw, err = hex.DecodeString(strings.TrimPrefix(payload, "0x")); err != nil {
			return nil, fault.Invalid("payload: must be hex, as encoding says")
		}
	}
	if (c == curve.KeyEd25519) != (hash == hashNotApplicable) {
		return nil, fault.Invalid("invalid hash function: Ed25519 keys take %s, and no others do", hashNotApplicable)
	}
	switch hash {
	case hashSHA256:
		sum := sha256.Sum256(raw)
		return sum[:], nil
	case hashKeccak256:
		state := sha3.NewLegacyKeccak256()
		state.Write(raw)
		return state.Sum(nil), nil
	case hashNone:
		if len(raw) != sha256.Size {
			return nil, fault.Invalid("payload: with %s it must be a digest of 32 bytes, not %d", hash, len(raw))
		}
	}
	return raw, nil
}

func ethereumDigest(payload string, encoding Encoding) ([]byte, error) {
	var digest [32]byte
	var err error
	if encoding == encodingEIP712 {
		digest, _, err = eth.TypedDataDigest([]byte(payload))
	} else {
		digest, _, err = eth.AuthorizationDigest([]byte(payload))
	}
	if err != nil {
		return nil, fault.Invalid("payload: %v", err)
	}
	return digest[:], nil
}

// SignatureResult is a signature.
type SignatureResult struct {
	R string `json:"r" check:"required" doc:"First half, as hex."`
	S string `json:"s" check:"required" doc:"Second half, as hex."`
	V string `json:"v" check:"required" doc:"Recovery id: 00 or 01; 00 where there is none."`
}

func signatureResult(s vault.Signature) SignatureResult {
	return SignatureResult{R: hex.EncodeToString(s.R[:]), S: hex.EncodeToString(s.S[:]), V: hex.EncodeToString([]byte{s.V})}
}

func signPayload(e activity.Env, key *signer, payload string, encoding Encoding, hash HashFunction) (SignatureResult, error) {
	signed, err := toSign(key.curve, payload, encoding, hash)
	if err != nil {
		return SignatureResult{}, err
	}
	signature, err := key.sign(e, signed)
	return signatureResult(signature), err
}
