package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"latchkey/internal/keys/curve"
)

// TestIssuerKey signs with a key of its own, which stays the same.
func TestIssuerKey(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	keys, err := v.LoadOrCreateServerKeys(newMemory())
	if err != nil {
		t.Fatal(err)
	}
	id, point, err := keys.IssuerPublicKey()
	if err != nil || len(id) != 16 || len(point) != 65 || point[0] != 4 {
		t.Fatalf("got %s, %x, %v", id, point, err)
	}
	if again, _, err := keys.IssuerPublicKey(); err != nil || again != id {
		t.Errorf("the key has changed: %s, %v", again, err)
	}
	secretKey, err := keys.ClientSecretPublicKey()
	if err != nil || len(secretKey) != 130 {
		t.Fatalf("got %s, %v", secretKey, err)
	}
	signature, err := keys.SignIdentity([]byte("header.payload"))
	if err != nil || len(signature) != 64 {
		t.Fatalf("got %x, %v", signature, err)
	}
	for text, want := range map[string]bool{hex.EncodeToString(point): true, keys.SignerPublicKey(): false, keys.SessionPublicKey(): false, secretKey: false} {
		if len(text) == 130 {
			text = map[bool]string{true: "03", false: "02"}[strings.ContainsRune("13579bdf", rune(text[129]))] + text[2:66]
		}
		key, err := curve.ParsePublicKey(curve.P256, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := key.VerifyDigest(sha256.Sum256([]byte("header.payload")), signature[:32], signature[32:]); got != want {
			t.Errorf("the signature fits %s: %v", text, got)
		}
	}
}
