package workload

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/rlp"
)

func TestMixed(t *testing.T) {
	got := map[string]int{}
	for i := range 1000 {
		got[mixed(i)]++
	}
	want := map[string]int{Whoami: 400, GetWalletAccount: 200, SignRawPayload: 300, SignTransaction: 80, CreateWalletAccounts: 20}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// signer is a key and its address.
func signer(t *testing.T) (*secp256k1.PrivateKey, string) {
	t.Helper()
	key, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	hash := keccak(key.PubKey().SerializeUncompressed()[1:])
	return key, "0x" + hex.EncodeToString(hash[12:])
}

// sign returns v, r and s.
func sign(key *secp256k1.PrivateKey, digest [32]byte) [65]byte {
	signature := [65]byte(ecdsa.SignCompact(key, digest[:], false))
	signature[0] -= 27
	return signature
}

func TestCheckPayload(t *testing.T) {
	key, address := signer(t)
	_, stranger := signer(t)
	var digest [32]byte
	rand.Read(digest[:])
	s := sign(key, digest)
	good := func(status string) []byte {
		return fmt.Appendf(nil, `{"activity":{"status":"%s","result":{"signRawPayloadResult":{"r":"%x","s":"%x","v":"%x"}}}}`, status, s[1:33], s[33:], s[:1])
	}
	tests := []struct {
		name, address string
		digest        [32]byte
		reply         []byte
		ok            bool
	}{
		{"good", address, digest, good(completed), true},
		{"other key", stranger, digest, good(completed), false},
		{"other payload", address, [32]byte{1}, good(completed), false},
		{"pending", address, digest, good("ACTIVITY_STATUS_PENDING"), false},
		{"no result", address, digest, []byte(`{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{}}}`), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkResult(checkPayload(tt.address, tt.digest))(tt.reply); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCheckTransaction(t *testing.T) {
	key, address := signer(t)
	for nonce := range uint64(300) { // some signatures have leading zeros
		unsigned := transfer(nonce)
		s := sign(key, keccak(unsigned))
		fields, _, err := rlp.Next(unsigned[1:])
		if err != nil {
			t.Fatal(err)
		}
		content := rlp.AppendInt(bytes.Clone(fields.Content), s[:1])
		content = rlp.AppendInt(rlp.AppendInt(content, s[1:33]), s[33:])
		signed := rlp.AppendList([]byte{2}, content)
		if err := checkTransaction(address, unsigned, signed); err != nil {
			t.Fatalf("nonce %d: %v", nonce, err)
		}
		if err := checkTransaction(address, transfer(nonce+1), signed); err == nil {
			t.Fatal("the signature of another transaction passed")
		}
		if err := checkTransaction(address, unsigned, unsigned); err == nil {
			t.Fatal("no signature passed")
		}
		if err := checkTransaction(address, unsigned, nil); err == nil {
			t.Fatal("nothing passed")
		}
	}
}

func TestPeer(t *testing.T) {
	p, err := Peer("http://127.0.0.1:8200/v1/transit/sign/key?x=1", []string{"X-Vault-Token: abc"}, `{"input":"{base64}","hex":"{hex}"}`, `"signature"`)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := p.Prepare(SignRawPayload, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	first := string(requests[0].Wire)
	header, body, _ := strings.Cut(first, "\r\n\r\n")
	wantHeader := fmt.Sprintf("POST /v1/transit/sign/key?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8200\r\nContent-Type: application/json\r\nX-Vault-Token: abc\r\nContent-Length: %d", len(body))
	if header != wantHeader {
		t.Errorf("got header %q, want %q", header, wantHeader)
	}
	if strings.Contains(body, "{hex}") || strings.Contains(body, "{base64}") || first == string(requests[1].Wire) {
		t.Errorf("got %s, then %s", first, requests[1].Wire)
	}
	if _, err := p.Prepare(Whoami, false, 1); err == nil {
		t.Error("a peer has no whoami, but requests were made")
	}
	for _, bad := range [][2]string{
		{"https://127.0.0.1:8200/", "A: b"},
		{"http://example.com/", "A: b"},
		{"http://127.0.0.1:8200/", "token"},
		{"http://127.0.0.1:8200/", "A: b\r\nC: d"},
	} {
		if _, err := Peer(bad[0], bad[1:], "", ""); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}
