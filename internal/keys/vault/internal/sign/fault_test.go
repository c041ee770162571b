package sign

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	"math/big"
	"testing"

	"filippo.io/edwards25519"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

// flipped visits copies of b with one bit wrong: of each byte two, and in all
// bytes together each. (All bits take a minute under the race detector.)
func flipped(b []byte, visit func(bit int, wrong []byte)) {
	for i := range b {
		for _, bit := range []int{i % 8, (i + 4) % 8} {
			wrong := append([]byte(nil), b...)
			wrong[i] ^= 1 << bit
			visit(8*i+bit, wrong)
		}
	}
}

// caught flips bits of each part of what a check is given; none may pass.
func caught(t *testing.T, parts map[string][]byte, passes func(part func(name string) []byte) bool) {
	t.Helper()
	if !passes(func(name string) []byte { return parts[name] }) {
		t.Fatal("the check refuses a good signature")
	}
	for name, good := range parts {
		flipped(good, func(bit int, wrong []byte) {
			if passes(func(other string) []byte {
				if other == name {
					return wrong
				}
				return parts[other]
			}) {
				t.Errorf("bit %d of %s is wrong, and it passes", bit, name)
			}
		})
	}
}

// both halves of a signature, from parts.
func sigOf(part func(string) []byte, v byte) *Signature {
	return &Signature{R: [32]byte(part("r")), S: [32]byte(part("s")), V: v}
}

func TestFaultsSecp256k1(t *testing.T) {
	key, digest := sha256.Sum256([]byte("key")), sha256.Sum256([]byte("digest"))
	var d, e, one secp256k1.ModNScalar
	d.SetBytes(&key)
	e.SetBytes(&digest)
	one.SetInt(1)
	k := secp256k1.NonceRFC6979(key[:], digest[:], nil, nil, 0)
	var point, wrong secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(k, &point)
	point.ToAffine()
	good, err := Secp256k1(key[:], digest)
	if err != nil {
		t.Fatal(err)
	}
	high := !checkECDSA(&good, k, &e, &point, false, key[:])
	parts := map[string][]byte{"r": good.R[:], "s": good.S[:], "key": key[:], "digest": digest[:]}
	caught(t, parts, func(part func(string) []byte) bool {
		var e secp256k1.ModNScalar
		e.SetByteSlice(part("digest"))
		return checkECDSA(sigOf(part, good.V), k, &e, &point, high, part("key"))
	})
	nonce := k.Bytes()
	caught(t, map[string][]byte{"nonce": nonce[:]}, func(part func(string) []byte) bool {
		var k secp256k1.ModNScalar
		k.SetByteSlice(part("nonce"))
		return checkECDSA(&good, &k, &e, &point, high, key[:])
	})
	if bad := good; checkECDSA(&Signature{bad.R, bad.S, bad.V ^ 2}, k, &e, &point, high, key[:]) {
		t.Error("a wrong recovery id passes")
	}
	// A faulty point with an s that fits it: the case that gives a key away.
	secp256k1.ScalarBaseMultNonConst(new(secp256k1.ModNScalar).Add2(k, &one), &wrong)
	wrong.ToAffine()
	var r, s secp256k1.ModNScalar
	var bad Signature
	wrong.X.PutBytes(&bad.R)
	r.SetBytes(&bad.R)
	s.Mul2(&d, &r).Add(&e).Mul(new(secp256k1.ModNScalar).InverseValNonConst(k))
	s.PutBytes(&bad.S)
	if checkECDSA(&bad, k, &e, &wrong, false, key[:]) {
		t.Error("a wrong nonce point passes")
	}
}

func TestFaultsP256(t *testing.T) {
	key, digest := sha256.Sum256([]byte("key")), sha256.Sum256([]byte("digest"))
	good, err := P256(key[:], digest)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{"r": good.R[:], "s": good.S[:], "key": key[:], "digest": digest[:]}
	caught(t, parts, func(part func(string) []byte) bool {
		_, ok := checkP256(sigOf(part, 0), part("key"), [32]byte(part("digest")))
		return ok
	})
	// The same nonce with an r that is not its own, and the s that fits it:
	// with the good signature that is two equations for k and d.
	n := elliptic.P256().Params().N
	number := func(b []byte) *big.Int { return new(big.Int).SetBytes(b) }
	d, e := number(key[:]), number(digest[:])
	k := new(big.Int).Mul(d, number(good.R[:]))
	k.Add(k, e).Mul(k, new(big.Int).ModInverse(number(good.S[:]), n)).Mod(k, n)
	bad := Signature{R: sha256.Sum256([]byte("a wrong x"))}
	s := new(big.Int).Mul(d, number(bad.R[:]))
	s.Add(s, e).Mul(s, new(big.Int).ModInverse(k, n)).Mod(s, n)
	s.FillBytes(bad.S[:])
	if _, ok := checkP256(&bad, key[:], digest); ok {
		t.Error("a wrong nonce point passes")
	}
	var zero [32]byte
	for name, bad := range map[string]Signature{
		"r is 0": {R: zero, S: good.S}, "s is 0": {R: good.R, S: zero},
		"r is n": {R: [32]byte(n.Bytes()), S: good.S}, "s is n": {R: good.R, S: [32]byte(n.Bytes())},
	} {
		if _, ok := checkP256(&bad, key[:], digest); ok {
			t.Errorf("%s, and it passes", name)
		}
	}
	// e + r*d = 0: the nonce would be zero, and its point infinity.
	var opposite [32]byte
	zeroNonce := new(big.Int).Mul(number(good.R[:]), d)
	zeroNonce.Neg(zeroNonce).Mod(zeroNonce, n).FillBytes(opposite[:])
	if _, ok := checkP256(&good, key[:], opposite); ok {
		t.Error("infinity passes")
	}
}

func TestFaultsTaproot(t *testing.T) {
	key, digest := sha256.Sum256([]byte("key")), sha256.Sum256([]byte("digest"))
	good, err := Taproot(key[:], publicOf(key[:]), digest)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{"r": good.R[:], "s": good.S[:], "key": key[:], "digest": digest[:]}
	caught(t, parts, func(part func(string) []byte) bool {
		var d secp256k1.ModNScalar
		return tweaked(&d, part("key"), publicOf(key[:])) && checkBIP340(sigOf(part, 0), &d, [32]byte(part("digest")))
	})
}

func TestFaultsEd25519(t *testing.T) {
	seed, message := sha256.Sum256([]byte("key")), []byte("message")
	public := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	good, err := Ed25519(seed[:], public, message)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{"r": good.R[:], "s": good.S[:], "seed": seed[:], "public": public, "message": message}
	caught(t, parts, func(part func(string) []byte) bool {
		return checkEd25519(sigOf(part, 0), part("seed"), part("public"), part("message"))
	})
	// The wrong public key beside a seed is the classic way to lose it: here
	// the signature itself is made with it.
	flipped(public, func(bit int, wrong []byte) {
		if _, err := Ed25519(seed[:], wrong, message); err == nil {
			t.Errorf("signs with a public key whose bit %d is wrong", bit)
		}
	})

	expanded := sha512.Sum512(seed[:])
	a, err := new(edwards25519.Scalar).SetBytesWithClamping(expanded[:32])
	if err != nil {
		t.Fatal(err)
	}
	hash := func(parts ...[]byte) *edwards25519.Scalar {
		h, err := hashScalar(new(edwards25519.Scalar), parts...)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	with := func(r, point *edwards25519.Scalar) (sig Signature) {
		copy(sig.R[:], new(edwards25519.Point).ScalarBaseMult(point).Bytes())
		copy(sig.S[:], new(edwards25519.Scalar).MultiplyAdd(hash(sig.R[:], public, message), a, r).Bytes())
		return sig
	}
	r := hash(expanded[32:], message)
	if with(r, r) != good {
		t.Fatal("the test signs otherwise")
	}
	other := hash(expanded[32:], []byte("another message"))
	if bad := with(r, other); checkEd25519(&bad, seed[:], public, message) {
		t.Error("a wrong R with an S that fits it passes")
	}
	// This one verifies, and shares its nonce with another message.
	bad := with(other, other)
	if !ed25519.Verify(public, message, append(bad.R[:], bad.S[:]...)) {
		t.Fatal("the test does not sign")
	}
	if checkEd25519(&bad, seed[:], public, message) {
		t.Error("the nonce of another message passes")
	}
}

// The signature is that of the standard library, whatever checks it.
func TestEd25519Agrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		private := ed25519.NewKeyFromSeed(seed)
		sig, err := Ed25519(seed, private[32:], message)
		if err != nil {
			t.Fatal(err)
		}
		if want := ed25519.Sign(private, message); string(append(sig.R[:], sig.S[:]...)) != string(want) {
			t.Fatalf("%x, not %x", sig, want)
		}
	})
}
