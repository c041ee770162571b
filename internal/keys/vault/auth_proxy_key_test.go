package vault

import (
	"crypto/sha256"
	"testing"

	"latchkey/internal/keys/curve"
)

// TestAuthProxyKey signs with a key of its own for each proxy, which stays the
// same and is neither of the server's own two.
func TestAuthProxyKey(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	keys, err := v.LoadOrCreateServerKeys(newMemory())
	if err != nil {
		t.Fatal(err)
	}
	first, err := keys.AuthProxyPublicKey("one")
	if err != nil {
		t.Fatal(err)
	}
	again, err := keys.AuthProxyPublicKey("one")
	if err != nil || again != first {
		t.Errorf("the key has changed: %s, %s, %v", first, again, err)
	}
	other, err := keys.AuthProxyPublicKey("two")
	if err != nil || other == first {
		t.Errorf("two proxies share a key: %s, %v", other, err)
	}
	body := []byte(`{"type":"ACTIVITY_TYPE_INIT_OTP_V3"}`)
	der, err := keys.SignForAuthProxy("one", body)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{first: true, other: false} {
		key, err := curve.ParsePublicKey(curve.P256, text)
		if err != nil {
			t.Fatal(err)
		}
		if r, s, err := curve.ParseDER(der); err != nil || key.VerifyDigest(sha256.Sum256(body), r, s) != want {
			t.Errorf("the signature fits %s: not %v", text, want)
		}
	}
}
