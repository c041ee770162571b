package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
	"latchkey/testvectors"
)

// TestSigningVectors signs everything in the vectors, through the interface.
func TestSigningVectors(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		v := &vectorSigner{Server: s, keys: map[string]string{}}
		t.Run("ECDSA", v.ecdsa)
		t.Run("Ed25519", v.ed25519)
		t.Run("taproot", v.taproot)
		t.Run("Spark", v.spark)
		t.Run("Ethereum", v.ethereum)
		t.Run("Solana", v.solana)
		t.Run("Bitcoin", v.bitcoin)
		t.Run("Tron", v.tron)
	})
}

// vectorSigner signs with the keys of the vectors, each of which it imports once.
type vectorSigner struct {
	*Server
	keys map[string]string // ids by curve, key and formats
}

func (v *vectorSigner) key(t *testing.T, curve, private string, formats ...any) string {
	t.Helper()
	name := fmt.Sprintf("%s %s %v", curve, private, formats)
	if v.keys[name] == "" {
		v.keys[name] = importKey(t, v.Server, fmt.Sprint("key ", len(v.keys)), curve, private, formats...).Get("privateKeyId").Text()
	}
	return v.keys[name]
}

func (v *vectorSigner) payload(t *testing.T, signWith, payload, hash string) Value {
	t.Helper()
	return v.Root.Submit(t, "sign_raw_payload", rawPayload(signWith, payload, "HEXADECIMAL", hash)).Get("result", "signRawPayloadResult")
}

func (v *vectorSigner) transaction(t *testing.T, signWith, kind, unsigned string) string {
	t.Helper()
	return v.Root.Submit(t, "sign_transaction", transaction(signWith, kind, unsigned)).
		Get("result", "signTransactionResult", "signedTransaction").Text()
}

func rawPayload(signWith, payload, encoding, hash string) m {
	return m{"signWith": signWith, "payload": payload, "encoding": "PAYLOAD_ENCODING_" + encoding, "hashFunction": "HASH_FUNCTION_" + hash}
}

func transaction(signWith, kind, unsigned string) m {
	return m{"signWith": signWith, "type": "TRANSACTION_TYPE_" + kind, "unsignedTransaction": unsigned}
}

func (v *vectorSigner) ecdsa(t *testing.T) {
	type vector struct{ PrivateKeyHex, DigestHex, R, S, VHex string }
	for i, c := range testvectors.Section[vector](t, "signing", "ecdsa") {
		if i%4 != 0 {
			continue // all of them pass in the vault's own tests
		}
		got := v.payload(t, v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex), c.DigestHex, "NO_OP")
		if got.Get("r").Text() != c.R || got.Get("s").Text() != c.S || got.Get("v").Text() != c.VHex {
			t.Errorf("vector %d: %v", i, got)
		}
	}
}

func (v *vectorSigner) ed25519(t *testing.T) {
	type vector struct{ PrivateKeyHex, MessageHex, R, S string }
	for i, c := range testvectors.Section[vector](t, "signing", "ed25519") {
		if i%4 != 0 || c.MessageHex == "" {
			continue
		}
		got := v.payload(t, v.key(t, "CURVE_ED25519", c.PrivateKeyHex), c.MessageHex, "NOT_APPLICABLE")
		if got.Get("r").Text() != c.R || got.Get("s").Text() != c.S || got.Get("v").Text() != "00" {
			t.Errorf("vector %d: %v", i, got)
		}
	}
}

func (v *vectorSigner) taproot(t *testing.T) {
	type vector struct{ PrivateKeyHex, DigestHex, SignatureHex string }
	for i, c := range testvectors.Section[vector](t, "signing", "taproot") {
		id := v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR")
		address := v.Root.Query(t, "get_private_key", m{"privateKeyId": id}).Get("privateKey", "addresses", 0, "address").Text()
		got := v.payload(t, address, c.DigestHex, "NO_OP")
		if got.Get("r").Text()+got.Get("s").Text() != c.SignatureHex {
			t.Errorf("vector %d: %v", i, got)
		}
	}
}

// spark signs by BIP-340 with the key itself, and a transaction as with every other
// name of the key.
func (v *vectorSigner) spark(t *testing.T) {
	type vector struct{ PrivateKeyHex, DigestHex, SignatureHex string }
	for i, c := range testvectors.Section[vector](t, "signing", "bip340") {
		format := []string{"ADDRESS_FORMAT_SPARK_MAINNET", "ADDRESS_FORMAT_SPARK_REGTEST"}[i%2]
		id := v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, format)
		address := v.Root.Query(t, "get_private_key", m{"privateKeyId": id}).Get("privateKey", "addresses", 0, "address").Text()
		got := v.payload(t, address, c.DigestHex, "NO_OP")
		if got.Get("r").Text()+got.Get("s").Text() != c.SignatureHex || got.Get("v").Text() != "00" {
			t.Errorf("vector %d: %v", i, got)
		}
		if byID := v.payload(t, id, c.DigestHex, "NO_OP"); byID.Get("r").Text()+byID.Get("s").Text() == c.SignatureHex {
			t.Errorf("vector %d: named by its id, the key signs by BIP-340", i)
		}
	}
	type ethereum struct{ Name, PrivateKeyHex, Unsigned, Signed string }
	c := testvectors.Section[ethereum](t, "signing", "ethereum")[0]
	id := v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, "ADDRESS_FORMAT_SPARK_MAINNET")
	address := v.Root.Query(t, "get_private_key", m{"privateKeyId": id}).Get("privateKey", "addresses", 0, "address").Text()
	wantSigned(t, c.Name, "0x"+v.transaction(t, address, "ETHEREUM", c.Unsigned), c.Signed)
	refused := v.Root.Refused(t, 400, "sign_transaction", transaction(address, "BITCOIN", "70736274ff"))
	if !strings.Contains(refused.Get("message").Text(), "signWith must be a Bitcoin address") {
		t.Error(refused)
	}
}

func (v *vectorSigner) ethereum(t *testing.T) {
	type vector struct{ Name, PrivateKeyHex, From, Unsigned, Signed string }
	for _, c := range testvectors.Section[vector](t, "signing", "ethereum") {
		v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, "ADDRESS_FORMAT_ETHEREUM")
		wantSigned(t, c.Name, "0x"+v.transaction(t, strings.ToLower(c.From), "ETHEREUM", c.Unsigned), c.Signed)
	}
}

func (v *vectorSigner) solana(t *testing.T) {
	type vector struct {
		Name, UnsignedHex, SignedHex string
		Signers                      []struct{ Signer, PrivateKeyHex string }
	}
	for _, c := range testvectors.Section[vector](t, "signing", "solana") {
		signed := c.UnsignedHex
		for _, signer := range c.Signers {
			v.key(t, "CURVE_ED25519", signer.PrivateKeyHex, "ADDRESS_FORMAT_SOLANA")
			signed = v.transaction(t, signer.Signer, "SOLANA", signed)
		}
		wantSigned(t, c.Name, signed, c.SignedHex)
	}
}

func (v *vectorSigner) bitcoin(t *testing.T) {
	type vector struct {
		Name, PrivateKeyHex, UnsignedPsbtHex, SignedPsbtHex string
		Inputs                                              []struct{ Kind, Address string }
	}
	for _, c := range testvectors.Section[vector](t, "signing", "bitcoin") {
		if strings.Contains(c.Name, "P2SH") || strings.Contains(c.Name, "P2WSH") {
			continue // scripts are not signed for
		}
		signed := c.UnsignedPsbtHex
		for _, in := range slices.CompactFunc(c.Inputs, func(a, b struct{ Kind, Address string }) bool { return a == b }) {
			v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, "ADDRESS_FORMAT_BITCOIN_TESTNET_"+strings.ToUpper(in.Kind))
			signed = v.transaction(t, in.Address, "BITCOIN", signed)
		}
		wantSigned(t, c.Name, signed, c.SignedPsbtHex)
	}
}

func (v *vectorSigner) tron(t *testing.T) {
	type vector struct{ Name, PrivateKeyHex, From, RawDataHex, SignedTransactionHex string }
	for _, c := range testvectors.Section[vector](t, "signing", "tron") {
		v.key(t, "CURVE_SECP256K1", c.PrivateKeyHex, "ADDRESS_FORMAT_TRON")
		wantSigned(t, c.Name, v.transaction(t, c.From, "TRON", c.RawDataHex), c.SignedTransactionHex)
	}
}

func wantSigned(t *testing.T, name, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
	}
}

// TestSigningRefused refuses what cannot be signed as asked.
func TestSigningRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "w", "accounts": []any{
			ethereumAccount, account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA"),
		}}).Get("result", "createWalletResult", "addresses")
		ethereum, solana := wallet.Get(0).Text(), wallet.Get(1).Text()
		type signed struct{ Unsigned, Signed string }
		ethereumVector := testvectors.Section[signed](t, "signing", "ethereum")[0]
		type solanaVector struct{ UnsignedHex string }
		foreign := testvectors.Section[solanaVector](t, "signing", "solana")[0].UnsignedHex
		digest := strings.Repeat("ab", 32)
		for name, c := range map[string]struct {
			operation string
			status    int
			params    m
		}{
			"unknown address":          {"sign_raw_payload", 404, rawPayload("0x0000000000000000000000000000000000000001", digest, "HEXADECIMAL", "NO_OP")},
			"digest of 31 bytes":       {"sign_raw_payload", 400, rawPayload(ethereum, digest[2:], "HEXADECIMAL", "NO_OP")},
			"digest of 33 bytes":       {"sign_raw_payload", 400, rawPayload(ethereum, digest+"00", "HEXADECIMAL", "NO_OP")},
			"no hex":                   {"sign_raw_payload", 400, rawPayload(ethereum, "xyz", "HEXADECIMAL", "SHA256")},
			"hash on Ed25519":          {"sign_raw_payload", 400, rawPayload(solana, digest, "HEXADECIMAL", "SHA256")},
			"no hash on secp256k1":     {"sign_raw_payload", 400, rawPayload(ethereum, digest, "HEXADECIMAL", "NOT_APPLICABLE")},
			"EIP-712 on Ed25519":       {"sign_raw_payload", 400, rawPayload(solana, "{}", "EIP712", "NO_OP")},
			"EIP-712 that is none":     {"sign_raw_payload", 400, rawPayload(ethereum, "{}", "EIP712", "NO_OP")},
			"typed data in a list":     {"sign_raw_payloads", 400, m{"signWith": ethereum, "payloads": []any{"{}"}, "encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_NO_OP"}},
			"one bad of several":       {"sign_raw_payloads", 400, m{"signWith": ethereum, "payloads": []any{digest, "xyz"}, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}},
			"not a transaction":        {"sign_transaction", 400, transaction(ethereum, "ETHEREUM", "00")},
			"signed transaction":       {"sign_transaction", 400, transaction(ethereum, "ETHEREUM", ethereumVector.Signed)},
			"transaction not hex":      {"sign_transaction", 400, transaction(ethereum, "ETHEREUM", "hello")},
			"wrong curve":              {"sign_transaction", 400, transaction(solana, "ETHEREUM", ethereumVector.Unsigned)},
			"signer who is not ours":   {"sign_transaction", 400, transaction(solana, "SOLANA", foreign)},
			"Bitcoin with an Ethereum": {"sign_transaction", 400, transaction(ethereum, "BITCOIN", "70736274ff")},
			"network that is unknown":  {"sign_transaction", 400, transaction(ethereum, "TEMPO", "76")},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		// The old way to name a key, and keys named by their public halves.
		older := s.Root.BodyOf(t, "ACTIVITY_TYPE_SIGN_TRANSACTION", transaction(ethereum, "ETHEREUM", ethereumVector.Unsigned))
		s.Root.MustPost(t, "sign_transaction", older)
		publicKey := s.Root.Query(t, "list_wallet_accounts", nil).Get("accounts", 0, "publicKey").Text()
		byKey := s.Root.Submit(t, "sign_raw_payload", rawPayload(strings.ToUpper(publicKey), digest, "HEXADECIMAL", "NO_OP")).Get("result", "signRawPayloadResult")
		byAddress := s.Root.Submit(t, "sign_raw_payload", rawPayload(strings.ToLower(ethereum), "0x"+digest, "HEXADECIMAL", "NO_OP")).Get("result", "signRawPayloadResult")
		if !cmp.Equal(byKey.Any, byAddress.Any) {
			t.Errorf("signatures differ: %v %v", byKey, byAddress)
		}
		several := s.Root.Submit(t, "sign_raw_payloads", m{"signWith": ethereum, "payloads": []any{digest, strings.Repeat("cd", 32)}, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}).
			Get("result", "signRawPayloadsResult", "signatures").List()
		if len(several) != 2 || !cmp.Equal(several[0].Any, byKey.Any) || cmp.Equal(several[1].Any, byKey.Any) {
			t.Errorf("signatures: %v", several)
		}
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		ada.Refused(t, 403, "sign_raw_payload", rawPayload(ethereum, digest, "HEXADECIMAL", "NO_OP"))
	})
}
