package eth_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"

	"latchkey/internal/chain/eth"
	"latchkey/testvectors"
)

type txVector struct {
	Name, Type, PrivateKeyHex, Unsigned, SigningHash, R, S, Signed string
	YParity                                                        byte
	Fields                                                         struct {
		Type                                                                           byte
		ChainID                                                                        *int64 `json:"chainId"`
		Nonce                                                                          uint64
		GasPrice, MaxPriorityFeePerGas, MaxFeePerGas, Gas, Value, MaxFeePerBlobGas, To string
		Data                                                                           string
		AccessList                                                                     []struct {
			Address     string
			StorageKeys []string
		}
		BlobVersionedHashes []string
	}
	AuthorizationList []struct {
		SignerPrivateKeyHex, Address, Hash, R, S string
		ChainID                                  int64 `json:"chainId"`
		Nonce                                    uint64
		YParity                                  byte
	}
}

func TestTransactionVectors(t *testing.T) {
	for _, v := range testvectors.Section[txVector](t, "signing", "ethereum") {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := eth.Parse(testvectors.Hex(t, v.Unsigned))
			if err != nil {
				t.Fatal(err)
			}
			digest := tx.Digest()
			if got := "0x" + hex.EncodeToString(digest[:]); got != v.SigningHash {
				t.Fatalf("digest %s, want %s", got, v.SigningHash)
			}
			r, s, y := sign(t, v.PrivateKeyHex, digest)
			if got := "0x" + hex.EncodeToString(tx.Signed(r, s, y)); got != v.Signed || y != v.YParity {
				t.Errorf("signed\n %s, want\n %s", got, v.Signed)
			}
			if _, err := eth.Parse(testvectors.Hex(t, v.Signed)); err == nil {
				t.Error("the signed transaction is accepted as unsigned")
			}
			checkFields(t, tx, v)
		})
	}
}

// checkFields compares what a policy will read with what the vector was made of.
func checkFields(t *testing.T, tx *eth.Tx, v txVector) {
	t.Helper()
	f := v.Fields
	text := func(n *big.Int) string {
		if n == nil {
			return ""
		}
		return n.String()
	}
	to := ""
	if tx.To != nil {
		to = tx.To.String()
	}
	chain := ""
	if f.ChainID != nil {
		chain = fmt.Sprint(*f.ChainID)
	}
	for _, c := range []struct{ name, got, want string }{
		{"type", fmt.Sprint(tx.Type), fmt.Sprint(f.Type)},
		{"chainId", text(tx.ChainID), chain},
		{"nonce", fmt.Sprint(tx.Nonce), fmt.Sprint(f.Nonce)},
		{"gasPrice", text(tx.GasPrice), f.GasPrice},
		{"maxFeePerGas", text(tx.MaxFeePerGas), f.MaxFeePerGas},
		{"maxPriorityFeePerGas", text(tx.MaxPriorityFeePerGas), f.MaxPriorityFeePerGas},
		{"maxFeePerBlobGas", text(tx.MaxFeePerBlobGas), f.MaxFeePerBlobGas},
		{"gas", fmt.Sprint(tx.Gas), f.Gas},
		{"to", to, strings.ToLower(f.To)},
		{"value", text(tx.Value), f.Value},
		{"data", "0x" + hex.EncodeToString(tx.Data), f.Data},
		{"access list", fmt.Sprint(len(tx.AccessList)), fmt.Sprint(len(f.AccessList))},
		{"blob hashes", fmt.Sprint(len(tx.BlobVersionedHashes)), fmt.Sprint(len(f.BlobVersionedHashes))},
		{"authorizations", fmt.Sprint(len(tx.AuthorizationList)), fmt.Sprint(len(v.AuthorizationList))},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	for i, want := range f.AccessList {
		got := tx.AccessList[i]
		if got.Address.String() != strings.ToLower(want.Address) || len(got.StorageKeys) != len(want.StorageKeys) {
			t.Errorf("access list entry %d: %v, want %v", i, got, want)
			continue
		}
		for j, key := range want.StorageKeys {
			if !bytes.Equal(got.StorageKeys[j][:], testvectors.Hex(t, key)) {
				t.Errorf("access list entry %d key %d: %x, want %s", i, j, got.StorageKeys[j], key)
			}
		}
	}
	for i, want := range f.BlobVersionedHashes {
		if !bytes.Equal(tx.BlobVersionedHashes[i][:], testvectors.Hex(t, want)) {
			t.Errorf("blob hash %d: %x, want %s", i, tx.BlobVersionedHashes[i], want)
		}
	}
}

func TestAuthorizationVectors(t *testing.T) {
	seen := 0
	for _, v := range testvectors.Section[txVector](t, "signing", "ethereum") {
		for i, a := range v.AuthorizationList {
			seen++
			doc := fmt.Sprintf(`{"address":%q,"chainId":%d,"nonce":%d}`, a.Address, a.ChainID, a.Nonce)
			digest, got, err := eth.AuthorizationDigest([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if hash := "0x" + hex.EncodeToString(digest[:]); hash != a.Hash {
				t.Errorf("digest of %s is %s, want %s", doc, hash, a.Hash)
			}
			if got.Address.String() != strings.ToLower(a.Address) || got.ChainID.Int64() != a.ChainID || got.Nonce != a.Nonce {
				t.Errorf("%s is read as %v", doc, got)
			}
			r, s, y := sign(t, a.SignerPrivateKeyHex, digest)
			tx, err := eth.Parse(testvectors.Hex(t, v.Unsigned))
			if err != nil {
				t.Fatal(err)
			}
			in := tx.AuthorizationList[i]
			if in.YParity != y || in.R.Cmp(new(big.Int).SetBytes(r[:])) != 0 || in.S.Cmp(new(big.Int).SetBytes(s[:])) != 0 || in.Digest() != digest {
				t.Errorf("authorization %d in the transaction differs from %s", i, doc)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d authorizations in the vectors", seen)
	}
}

type messageVector struct {
	Kind, PrivateKeyHex, Message, Digest, Signature, PrimaryType string
	Domain, Types                                                json.RawMessage
}

// UnmarshalJSON: message is a text in one kind and a document in the other.
func (m *messageVector) UnmarshalJSON(text []byte) error {
	type plain messageVector
	var raw struct {
		plain
		Message json.RawMessage
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*m = messageVector(raw.plain)
	m.Message = string(raw.Message)
	return nil
}

func (m *messageVector) typedData() string {
	return fmt.Sprintf(`{"domain":%s,"types":%s,"primaryType":%q,"message":%s}`, m.Domain, m.Types, m.PrimaryType, m.Message)
}

func TestMessageVectors(t *testing.T) {
	for _, v := range testvectors.Section[messageVector](t, "signing", "ethereumMessages") {
		var digest [32]byte
		if v.Kind == "EIP-712" {
			var err error
			if digest, _, err = eth.TypedDataDigest([]byte(v.typedData())); err != nil {
				t.Fatal(err)
			}
		} else {
			// Clients compute EIP-191 themselves and send the digest.
			var message string
			if err := json.Unmarshal([]byte(v.Message), &message); err != nil {
				t.Fatal(err)
			}
			h := sha3.NewLegacyKeccak256()
			fmt.Fprintf(h, "\x19Ethereum Signed Message:\n%d%s", len(message), message)
			h.Sum(digest[:0])
		}
		if got := "0x" + hex.EncodeToString(digest[:]); got != v.Digest {
			t.Errorf("digest of %s is %s, want %s", v.Message, got, v.Digest)
		}
		r, s, y := sign(t, v.PrivateKeyHex, digest)
		if got := fmt.Sprintf("0x%x%x%x", r, s, y+27); got != v.Signature {
			t.Errorf("signature of %s is %s, want %s", v.Message, got, v.Signature)
		}
	}
}

// sign is RFC 6979 with low S.
func sign(t *testing.T, key string, digest [32]byte) (r, s [32]byte, v byte) {
	t.Helper()
	compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(testvectors.Hex(t, key)), digest[:], false)
	return [32]byte(compact[1:33]), [32]byte(compact[33:]), compact[0] - 27
}
