package vault

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"latchkey/internal/devseed"
)

func publicOf(t testing.TB, text string) *ecdsa.PublicKey {
	t.Helper()
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), unhex(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func verifyRaw(key *ecdsa.PublicKey, digest [32]byte, raw []byte) bool {
	if len(raw) != 64 {
		return false
	}
	r, s := new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])
	return ecdsa.Verify(key, digest[:], r, s)
}

// TestSeededIdentity: a seed makes the same keys each time, and replaces none.
func TestSeededIdentity(t *testing.T) {
	seeded := func(text string, master byte, ciphertexts CiphertextStore) *ServerKeys {
		t.Helper()
		v, _ := openVault(t, masterOf(master))
		if err := v.SeedServerKeys(ciphertexts, devseed.Of(text)); err != nil {
			t.Fatal(err)
		}
		keys, err := v.LoadOrCreateServerKeys(ciphertexts)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	kept := newMemory()
	first := seeded("a", 1, kept)
	for name, same := range map[string]*ServerKeys{"another store": seeded("a", 2, newMemory()), "the same store": seeded("b", 1, kept)} {
		if same.SignerPublicKey() != first.SignerPublicKey() || same.SessionPublicKey() != first.SessionPublicKey() {
			t.Errorf("%s has other keys", name)
		}
	}
	other := seeded("b", 1, newMemory())
	if other.SignerPublicKey() == first.SignerPublicKey() || first.SignerPublicKey() == first.SessionPublicKey() {
		t.Error("two keys are the same")
	}
	data := sha256.Sum256([]byte("data"))
	if signature, err := first.SignToken([]byte("data")); err != nil || !verifyRaw(publicOf(t, first.SignerPublicKey()), data, signature) {
		t.Errorf("a seeded key does not sign: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	i, err := v.LoadOrCreateServerKeys(ciphertexts)
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := openVault(t, masterOf(1))
	again, err := fresh.LoadOrCreateServerKeys(ciphertexts)
	if err != nil || again.SignerPublicKey() != i.SignerPublicKey() || again.SessionPublicKey() != i.SessionPublicKey() {
		t.Fatalf("after a restart the server keys are others: %v", err)
	}
	if i.SignerPublicKey() == i.SessionPublicKey() || i.SignerPublicKey() != strings.ToLower(i.SignerPublicKey()) || len(i.SignerPublicKey()) != 130 {
		t.Errorf("public keys %s %s", i.SignerPublicKey(), i.SessionPublicKey())
	}
	signer, sessions := publicOf(t, i.SignerPublicKey()), publicOf(t, i.SessionPublicKey())
	for n := range 50 {
		data := bytes.Repeat([]byte{byte(n)}, n)
		digest := sha256.Sum256(data)
		twice := sha256.Sum256(digest[:])
		der, err := i.SignBundle(data)
		if err != nil || der[1] != byte(len(der)-2) || der[1] >= 0x80 || !ecdsa.VerifyASN1(signer, digest[:], der) {
			t.Fatalf("bundle: %x, %v", der, err)
		}
		token, err := i.SignToken(data)
		if err != nil || !verifyRaw(signer, digest, token) {
			t.Fatalf("token: %x, %v", token, err)
		}
		session, err := i.SignSession(data)
		if err != nil || !verifyRaw(sessions, twice, session) {
			t.Fatalf("session: %x, %v", session, err)
		}
	}
}

// wire.md Appendix A.3 and A.4: what the clients accepted from keys of 11s and
// 22s verifies under the keys that server keys made of them show, and so does what
// such server keys sign.
func TestExamplesOfSignatures(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: ciphertexts}
	known := v.pool.Of(append(bytes.Repeat([]byte{0x11}, 32), bytes.Repeat([]byte{0x22}, 32)...))
	if err := d.put(kindServerKeys, "", known); err != nil {
		t.Fatal(err)
	}
	i, err := v.LoadOrCreateServerKeys(ciphertexts)
	if err != nil {
		t.Fatal(err)
	}
	if i.SignerPublicKey() != "040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794" ||
		i.SessionPublicKey() != "04d65a93977caa3d1b081852ff57a79e465f1660577304baead505dd3a48589cf350185e895372df6221ea3a137557e473fddb6755f05bd507c3c533fce9c91285" {
		t.Fatalf("public keys %s %s", i.SignerPublicKey(), i.SessionPublicKey())
	}
	for _, tc := range []struct {
		name, jwt string
		key       string
		sign      func([]byte) ([]byte, error)
		double    bool
	}{
		{"session", "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE5OTk5OTk5OTksInB1YmxpY19rZXkiOiIwMzk5ZmUyYWNlNjIwOGFmMGFkZjg0OGY0NGJjNDgyMTBiNTk0YjdlNjllY2Q5MWVjOTY4ZmQ3NWIzYmI0NDgzMzYiLCJzZXNzaW9uX3R5cGUiOiJTRVNTSU9OX1RZUEVfUkVBRF9XUklURSIsInVzZXJfaWQiOiJlZjdlMzA1Yy1mMDg1LTRhMzItYWNjZi05MzlkODM3M2YyYWMiLCJvcmdhbml6YXRpb25faWQiOiJmOWEzMWM2NC1kNjA0LTQyZTQtOWJlZi1hNzczMDk2YWZhZDcifQ.oXlnfi8t5l3WUDYtJIed6FEu7J6hYr2H7qWjAiojtnUMPgLM64LXKN9MyOG-6-XT6MV3bWVIBbLMdnkTR1FWOA", i.SessionPublicKey(), i.SignSession, true},
		{"token", "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJleHAiOiI5OTk5OTk5OTk5OTk5IiwiaWQiOiJlYjM5YjE5OS0zMzUyLTQyODktYjMxZi01NzE5NGM3OTYwOWMiLCJvcmdhbml6YXRpb25faWQiOiJmOWEzMWM2NC1kNjA0LTQyZTQtOWJlZi1hNzczMDk2YWZhZDciLCJ2ZXJpZmljYXRpb25fdHlwZSI6Ik9UUF9UWVBFX0VNQUlMIiwiY29udGFjdCI6InVzZXJAZXhhbXBsZS5jb20iLCJwdWJsaWNfa2V5IjoiMDM2MzM1Yjc4ZjkyNzM2ZTMyZTk5ZGM2YWVkOTc5YWZmMGI1YzI0MTkyZTc2YjE2MjhhYTU0ZWRhZjU4YzhjMTVkIn0.uYdfTzMgRkled1QcGs0bktfrit61yGdpTd3jt0UnmtbHl12XArjljQahS1I-wNjW8bIlv1nXIY1eC60_2rn0Yg", i.SignerPublicKey(), i.SignToken, false},
	} {
		at := strings.LastIndexByte(tc.jwt, '.')
		digest := sha256.Sum256([]byte(tc.jwt[:at]))
		if tc.double {
			digest = sha256.Sum256(digest[:])
		}
		theirs, err := base64.RawURLEncoding.DecodeString(tc.jwt[at+1:])
		if err != nil {
			t.Fatal(err)
		}
		ours, err := tc.sign([]byte(tc.jwt[:at]))
		if err != nil {
			t.Fatal(err)
		}
		key := publicOf(t, tc.key)
		if !verifyRaw(key, digest, theirs) || !verifyRaw(key, digest, ours) {
			t.Errorf("%s: not verified: theirs %s, ours %s", tc.name, hex.EncodeToString(theirs), hex.EncodeToString(ours))
		}
	}
}

func TestDamagedIdentity(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	for name, plain := range map[string][]byte{"short": make([]byte, 63), "zeros": make([]byte, 64)} {
		ciphertexts := newMemory()
		d := &sealedStore{vault: v, org: Instance, ciphertexts: ciphertexts}
		if err := d.put(kindServerKeys, "", v.pool.Of(plain)); err != nil {
			t.Fatal(err)
		}
		if _, err := v.LoadOrCreateServerKeys(ciphertexts); err == nil {
			t.Errorf("%s: taken for server keys", name)
		}
	}
}
