package curve

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"math/big"
	"testing"

	"filippo.io/nistec"
	"pgregory.net/rapid"
)

// warm gives the key its table, as good signatures would.
func warm(k *p256Verifier, shape combShape) {
	k.good.Store(worthALargeTable)
	k.table.Store(newComb(shape, k.point))
}

// fataler is a test, or a rapid check inside one.
type fataler interface {
	Helper()
	Fatal(...any)
}

// both are the key without and with a table.
func both(t fataler, point []byte) map[string]*p256Verifier {
	t.Helper()
	all := map[string]*p256Verifier{}
	for _, name := range []string{"cold", "warm", "hot"} {
		key, err := parseP256(point)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = key
	}
	warm(all["warm"], smallComb)
	warm(all["hot"], largeComb)
	return all
}

// number draws a 32-byte number, often one with few or with nearly all bits.
func number(t *rapid.T, label string) (n [32]byte) {
	copy(n[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
	if rapid.Bool().Draw(t, label+" is sparse") {
		edge := rapid.SampledFrom([]int64{0, 1, 2, -1, -2}).Draw(t, label+" edge")
		shift := rapid.UintRange(0, 255).Draw(t, label+" shift")
		v := new(big.Int).Lsh(big.NewInt(1), shift)
		v.Mod(v.Add(v, big.NewInt(edge)), orderP256).FillBytes(n[:])
	}
	return n
}

// scalar is the number brought into [1, n-1].
func scalar(n [32]byte) []byte {
	less := new(big.Int).Sub(orderP256, big.NewInt(1))
	v := new(big.Int).Mod(new(big.Int).SetBytes(n[:]), less)
	return v.Add(v, big.NewInt(1)).FillBytes(make([]byte, 32))
}

func TestCombMultiplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, scalar := scalar(number(t, "base")), number(t, "scalar")
		q, err := nistec.NewP256Point().ScalarBaseMult(base)
		if err != nil {
			t.Fatal(err)
		}
		want, err := nistec.NewP256Point().ScalarMult(q, scalar[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, shape := range []combShape{smallComb, largeComb} {
			limbs := scalarFromBytes(scalar[:])
			product := sumOf(newTerm(newComb(shape, q), &limbs))
			if got := product.text(); !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%x · %x·G is %x, with %v not %x", scalar, base, want.Bytes(), shape, got)
			}
		}
	})
}

// TestP256AgreesWithTheStandardLibrary holds each check, with and without a
// table, to crypto/ecdsa, on good signatures and on spoilt ones.
func TestP256AgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar(number(t, "secret")))
		if err != nil {
			t.Fatal(err)
		}
		digest := number(t, "digest")
		signature, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		r, s, err := ParseDER(signature)
		if err != nil {
			t.Fatal(err)
		}
		switch rapid.SampledFrom([]string{"", "r", "s", "digest", "negated", "all"}).Draw(t, "spoilt") {
		case "r":
			r[rapid.IntRange(0, len(r)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "s":
			s[rapid.IntRange(0, len(s)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "digest":
			digest[rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "negated":
			s = new(big.Int).Sub(orderP256, new(big.Int).SetBytes(s)).Bytes()
		case "all":
			rn, sn := number(t, "r"), number(t, "s")
			r, s = rn[:], sn[:]
		}
		r, s = trim(r), trim(s)
		want := ecdsa.VerifyASN1(&private.PublicKey, digest[:], encodeDER(r, s))
		public, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for name, key := range both(t, compressed(public)) {
			if got := key.verify(digest, r, s); got != want {
				t.Fatalf("%s key: %v, and crypto/ecdsa says %v", name, got, want)
			}
		}
	})
}

func compressed(uncompressed []byte) []byte {
	return append([]byte{2 + uncompressed[64]&1}, uncompressed[1:33]...)
}

// TestP256Corners are the cases that random numbers do not reach.
func TestP256Corners(t *testing.T) {
	one := big.NewInt(1)
	scalar := func(n *big.Int) []byte { return new(big.Int).Mod(n, orderP256).FillBytes(make([]byte, 32)) }
	times := func(n *big.Int) *nistec.P256Point {
		p, err := nistec.NewP256Point().ScalarBaseMult(scalar(n))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// A point whose x is at least n: r is then x - n.
	var large *nistec.P256Point
	r := new(big.Int)
	for x := new(big.Int).Set(orderP256); large == nil; x.Add(x, one) {
		p, err := nistec.NewP256Point().SetBytes(append([]byte{2}, x.FillBytes(make([]byte, 32))...))
		if err == nil && x.Cmp(orderP256) != 0 {
			large = p
			r.Sub(x, orderP256)
		}
	}
	// Of all keys, R signs (r, s = 1, e) with the one that is (R - e·G)/r.
	forLarge := func(e *big.Int) *nistec.P256Point {
		difference := nistec.NewP256Point().Add(large, times(new(big.Int).Neg(e)))
		q, err := nistec.NewP256Point().ScalarMult(difference, scalar(new(big.Int).ModInverse(r, orderP256)))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	gx, err := times(one).BytesX()
	if err != nil {
		t.Fatal(err)
	}
	g := new(big.Int).SetBytes(gx)
	for _, tt := range []struct {
		name    string
		key     *nistec.P256Point
		e, r, s *big.Int
		want    bool
	}{
		{"x above n", forLarge(big.NewInt(7)), big.NewInt(7), r, one, true},
		{"x above n, r not reduced", forLarge(big.NewInt(7)), big.NewInt(7), new(big.Int).Add(r, orderP256), one, false},
		{"digest zero", times(one), big.NewInt(0), g, g, true}, // R = r/s·Q = G
		// u1·G and u2·Q are the same point: the sum is a doubling.
		{"both halves equal", times(one), r2(t, times(big.NewInt(2))), r2(t, times(big.NewInt(2))), r2(t, times(big.NewInt(2))), true},
		// u1·G and u2·Q cancel: the sum is the point at infinity.
		{"halves cancel", times(new(big.Int).Neg(one)), g, g, one, false},
		{"digest above n", times(one), new(big.Int).Sub(new(big.Int).Lsh(one, 256), one), g, g, false},
	} {
		var digest [32]byte
		tt.e.FillBytes(digest[:])
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), tt.key.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if ecdsa.Verify(public, digest[:], tt.r, tt.s) != tt.want {
			t.Fatalf("%s: crypto/ecdsa does not say %v", tt.name, tt.want)
		}
		for name, key := range both(t, tt.key.BytesCompressed()) {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				if got := key.verify(digest, trim(tt.r.Bytes()), trim(tt.s.Bytes())); got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		}
	}
}

// r2 is the x of a point as a number.
func r2(t *testing.T, p *nistec.P256Point) *big.Int {
	t.Helper()
	x, err := p.BytesX()
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(x)
}

// TestTableIsMadeForGoodSignatures: a caller that only guesses gets no table,
// and a key that is used gets one.
func TestTableIsMadeForGoodSignatures(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	key, err := parseP256(compressed(public))
	if err != nil {
		t.Fatal(err)
	}
	digest := [32]byte{1, 2, 3}
	signature, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	r, s, err := ParseDER(signature)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * worthATable {
		if key.verify([32]byte{4}, r, s) {
			t.Fatal("accepted a bad signature")
		}
	}
	if key.table.Load() != nil {
		t.Error("a table for bad signatures")
	}
	for i := range 2 * worthATable {
		if !key.verify(digest, r, s) {
			t.Fatal("refused a good signature")
		}
		if made := key.table.Load() != nil; made != (i+1 >= worthATable) {
			t.Errorf("after %d good signatures, a table: %v", i+1, made)
		}
	}
}

// TestLargeTablesAreBounded: a key that is used much gets a large table, and when
// there are as many as may be, another loses its own and earns it anew.
func TestLargeTablesAreBounded(t *testing.T) {
	was := largeTables.all
	largeTables.all = nil
	t.Cleanup(func() { largeTables.all = was })
	keys := make([]*p256Verifier, maxLargeTables+1)
	for i := range keys {
		scalar := big.NewInt(int64(i + 1)).FillBytes(make([]byte, 32))
		point, err := nistec.NewP256Point().ScalarBaseMult(scalar)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = &p256Verifier{point: point}
		keys[i].good.Store(worthALargeTable)
		largeTables.give(keys[i])
	}
	large := 0
	for _, k := range keys {
		switch k.table.Load().combShape {
		case largeComb:
			large++
		case smallComb:
			if k.good.Load() != worthATable {
				t.Errorf("a key that lost its large table has %d signatures to its name", k.good.Load())
			}
		}
	}
	if large != maxLargeTables || len(largeTables.all) != maxLargeTables {
		t.Errorf("%d large tables, %d owners", large, len(largeTables.all))
	}
}

// FuzzVerifyP256 compares the check with the standard library's on anything.
func FuzzVerifyP256(f *testing.F) {
	one := append(make([]byte, 31), 1)
	f.Add(one, one, one, one)
	order := orderP256.Bytes()
	f.Add(one, order, order, order)
	f.Fuzz(func(t *testing.T, secret, message, r, s []byte) {
		if len(secret) > 32 || len(r) > 32 || len(s) > 32 {
			return
		}
		scalar := new(big.Int).SetBytes(secret).FillBytes(make([]byte, 32))
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
		if err != nil {
			return
		}
		var digest [32]byte
		copy(digest[:], message)
		r, s = trim(r), trim(s)
		public, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		want := ecdsa.VerifyASN1(&private.PublicKey, digest[:], encodeDER(r, s))
		for name, key := range both(t, compressed(public)) {
			if got := key.verify(digest, r, s); got != want {
				t.Errorf("%s key: %v, and crypto/ecdsa says %v", name, got, want)
			}
		}
	})
}

// signed is a digest with its signature, for benchmarks.
type signed struct {
	private *ecdsa.PrivateKey
	point   []byte
	digest  [32]byte
	r, s    []byte
}

func newSigned(b *testing.B) *signed {
	b.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	made := &signed{private: private, digest: [32]byte{1, 2, 3}}
	signature, err := ecdsa.SignASN1(rand.Reader, private, made.digest[:])
	if err != nil {
		b.Fatal(err)
	}
	if made.r, made.s, err = ParseDER(signature); err != nil {
		b.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	made.point = compressed(public)
	return made
}

func BenchmarkVerifyP256(b *testing.B) {
	signed := newSigned(b)
	for name, key := range both(b, signed.point) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if name == "cold" {
					key.good.Store(-1000) // stays cold
				}
				key.verify(signed.digest, signed.r, signed.s)
			}
		})
	}
	b.Run("crypto-ecdsa", func(b *testing.B) {
		for b.Loop() {
			ecdsa.VerifyASN1(&signed.private.PublicKey, signed.digest[:], encodeDER(signed.r, signed.s))
		}
	})
	key, err := parseP256(signed.point)
	if err != nil {
		b.Fatal(err)
	}
	for name, shape := range map[string]combShape{"small table": smallComb, "large table": largeComb} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				newComb(shape, key.point)
			}
		})
	}
}
