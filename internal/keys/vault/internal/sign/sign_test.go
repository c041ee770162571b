package sign

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"

	"filippo.io/mldsa"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"pgregory.net/rapid"

	"latchkey/internal/test/testkit"
)

var unhex = testkit.Unhex

func publicOf(key []byte) []byte {
	return secp256k1.PrivKeyFromBytes(key).PubKey().SerializeCompressed()
}

// RFC 6979 appendix A.2.5, curve P-256, SHA-256. The first s is in the upper
// half there; ours is n - s.
func TestP256RFC6979(t *testing.T) {
	key := unhex(t, "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
	n := elliptic.P256().Params().N
	for _, tc := range []struct{ message, r, s string }{
		{"sample", "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716", "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"},
		{"test", "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367", "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"},
	} {
		sig, err := P256(key, sha256.Sum256([]byte(tc.message)))
		if err != nil {
			t.Fatal(err)
		}
		s := new(big.Int).SetBytes(unhex(t, tc.s))
		if high := new(big.Int).Sub(n, s); high.Cmp(s) < 0 {
			s = high
		}
		if hex.EncodeToString(sig.R[:]) != tc.r || new(big.Int).SetBytes(sig.S[:]).Cmp(s) != 0 {
			t.Errorf("%s: %x %x", tc.message, sig.R, sig.S)
		}
	}
}

// BIP-340 vector 0, the one that signs 32 bytes without auxiliary randomness.
func TestBIP340(t *testing.T) {
	var key, message [32]byte
	key[31] = 3
	load := func(d *secp256k1.ModNScalar) bool { return d.SetBytes(&key) == 0 }
	sig, err := bip340(load, message)
	if err != nil {
		t.Fatal(err)
	}
	const want = "e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0"
	if got := hex.EncodeToString(append(sig.R[:], sig.S[:]...)); got != want {
		t.Errorf("signature %s", got)
	}
}

// BIP-341 wallet test vectors, key path spending, input 0: no script tree.
func TestBIP341(t *testing.T) {
	key := unhex(t, "6b973d88838f27366ed61c9ad6367663045cb456e28335c109e30717ae0c6baa")
	digest := [32]byte(unhex(t, "2514a6272f85cfa0f45eb907fcb0d121b808ed37c6ea160a5a9046ed5526d555"))
	var d secp256k1.ModNScalar
	if !tweaked(&d, key, publicOf(key)) {
		t.Fatal("no tweaked key")
	}
	if got := d.String(); got != "2405b971772ad26915c8dcdf10f238753a9b837e5f8e6a86fd7c0cce5b7296d9" {
		t.Errorf("tweaked key %s", got)
	}
	sig, err := Taproot(key, publicOf(key), digest)
	if err != nil {
		t.Fatal(err)
	}
	const want = "ed7c1647cb97379e76892be0cacff57ec4a7102aa24296ca39af7541246d8ff14d38958d4cc1e2e478e4d4a764bbfd835b16d4e314b72937b29833060b87276c"
	if got := hex.EncodeToString(append(sig.R[:], sig.S[:]...)); got != want {
		t.Errorf("signature %s", got)
	}
}

// Others verify what we sign and recover the key from v.
func TestOthersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")
		key[0] &= 0x7f // below both orders
		key[31] |= 1
		digest := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))

		private := secp256k1.PrivKeyFromBytes(key)
		sig, err := Secp256k1(key, digest)
		if err != nil {
			t.Fatal(err)
		}
		compact := append(append([]byte{27 + 4 + sig.V}, sig.R[:]...), sig.S[:]...)
		var e secp256k1.ModNScalar
		e.SetBytes(&digest)
		reduced := e.Bytes() // decred takes the nonce from what it is given
		if string(compact) != string(secp.SignCompact(private, reduced[:], true)) {
			t.Fatal("decred signs otherwise")
		}
		if public, _, err := secp.RecoverCompact(compact, digest[:]); err != nil || !public.IsEqual(private.PubKey()) {
			t.Fatalf("the key is not recovered: %v", err)
		}

		sig, err = P256(key, digest)
		if err != nil {
			t.Fatal(err)
		}
		der, err := sig.DER()
		if err != nil || der[1] >= 0x80 {
			t.Fatalf("DER: %x, %v", der, err)
		}
		p256, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key)
		if err != nil {
			t.Fatal(err)
		}
		if !ecdsa.VerifyASN1(&p256.PublicKey, digest[:], der) {
			t.Fatal("P-256: not verified")
		}

		sig, err = Taproot(key, publicOf(key), digest)
		if err != nil {
			t.Fatal(err)
		}
		var d secp256k1.ModNScalar
		tweaked(&d, key, publicOf(key))
		parsed, err := schnorr.ParseSignature(append(sig.R[:], sig.S[:]...))
		if err != nil || !parsed.Verify(digest[:], secp256k1.NewPrivateKey(&d).PubKey()) {
			t.Fatalf("taproot: not verified: %v", err)
		}

		sig, err = Schnorr(key, digest)
		if err != nil {
			t.Fatal(err)
		}
		d.SetByteSlice(key)
		parsed, err = schnorr.ParseSignature(append(sig.R[:], sig.S[:]...))
		if err != nil || !parsed.Verify(digest[:], secp256k1.NewPrivateKey(&d).PubKey()) {
			t.Fatalf("schnorr: not verified: %v", err)
		}
	})
}

// Recovery on P-256: v names the nonce point that gives the public key back,
// Q = (sR - eG)/r, SEC1 section 4.1.6.
func TestP256Recovery(t *testing.T) {
	c := elliptic.P256()
	n := c.Params().N
	for i := range 16 {
		key := sha256.Sum256([]byte{byte(i)})
		digest := sha256.Sum256(key[:])
		sig, err := P256(key[:], digest)
		if err != nil {
			t.Fatal(err)
		}
		x, y := elliptic.UnmarshalCompressed(c, append([]byte{2 | sig.V&1}, sig.R[:]...))
		if x == nil {
			t.Fatal("r is no x")
		}
		inverse := new(big.Int).ModInverse(new(big.Int).SetBytes(sig.R[:]), n)
		u1 := new(big.Int).Neg(new(big.Int).SetBytes(digest[:]))
		u1.Mul(u1, inverse).Mod(u1, n)
		u2 := new(big.Int).Mul(new(big.Int).SetBytes(sig.S[:]), inverse)
		u2.Mod(u2, n)
		x1, y1 := c.ScalarBaseMult(u1.Bytes())
		x2, y2 := c.ScalarMult(x, y, u2.Bytes())
		x, _ = c.Add(x1, y1, x2, y2)
		p256, err := ecdsa.ParseRawPrivateKey(c, key[:])
		if err != nil {
			t.Fatal(err)
		}
		point, err := p256.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if string(x.FillBytes(make([]byte, 32))) != string(point[1:33]) {
			t.Errorf("key %d is not recovered", i)
		}
	}
}

func TestRefusedKeys(t *testing.T) {
	var zero, digest [32]byte
	over := unhex(t, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")
	for name, scheme := range map[string]func([]byte, [32]byte) (Signature, error){
		"secp256k1": Secp256k1, "P-256": P256, "schnorr": Schnorr, "taproot": func(key []byte, digest [32]byte) (Signature, error) { return Taproot(key, publicOf(key), digest) },
	} {
		for _, key := range [][]byte{zero[:], over} {
			if _, err := scheme(key, digest); err == nil {
				t.Errorf("%s signs with %x", name, key)
			}
		}
	}
	if _, err := Taproot(digest[:], nil, digest); err == nil {
		t.Error("taproot signs without a public key")
	}
	if _, err := Ed25519(zero[:31], zero[:], nil); err == nil {
		t.Error("Ed25519 signs with 31 bytes")
	}
}

// The digest may be zero or not below the order.
func TestOddDigests(t *testing.T) {
	key := sha256.Sum256([]byte("key"))
	for _, b := range []byte{0, 0xff} {
		var digest [32]byte
		for i := range digest {
			digest[i] = b
		}
		for name, scheme := range map[string]func([]byte, [32]byte) (Signature, error){
			"secp256k1": Secp256k1, "P-256": P256, "schnorr": Schnorr, "taproot": func(key []byte, digest [32]byte) (Signature, error) { return Taproot(key, publicOf(key), digest) },
		} {
			if _, err := scheme(key[:], digest); err != nil {
				t.Errorf("%s, digest of %02x: %v", name, b, err)
			}
		}
	}
}

func TestMLDSA44(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, 32)
	public, err := MLDSA44Public(seed)
	if err != nil {
		t.Fatal(err)
	}
	known, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := MLDSA44(seed, public, []byte("message"))
	if err != nil || mldsa.Verify(known, []byte("message"), sig, nil) != nil {
		t.Errorf("not verified: %v", err)
	}
	other, err := MLDSA44Public(bytes.Repeat([]byte{8}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MLDSA44(seed, other, []byte("message")); !errors.Is(err, errFault) {
		t.Errorf("a signature that its public key does not verify: %v", err)
	}
	if _, err := MLDSA44(seed[:31], public, nil); !errors.Is(err, errKey) {
		t.Errorf("a short seed: %v", err)
	}
	if _, err := MLDSA44Public(nil); !errors.Is(err, errKey) {
		t.Errorf("no seed: %v", err)
	}
}
