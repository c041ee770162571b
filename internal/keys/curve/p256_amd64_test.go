package curve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"filippo.io/nistec"
)

// withoutAssembly runs f as on a processor that cannot run the assembly.
func withoutAssembly(f func()) {
	defer func(had bool) { hasAssembly = had }(hasAssembly)
	hasAssembly = false
	f()
}

// TestWithoutAssembly is all that depends on the field, on a processor that cannot run the assembly.
func TestWithoutAssembly(t *testing.T) {
	if !hasAssembly {
		t.Skip("so are all tests: this processor cannot run the assembly")
	}
	withoutAssembly(func() {
		for name, test := range map[string]func(*testing.T){
			"Elements": TestElements, "ElementsAtTheLimit": TestElementsAtTheLimit, "Points": TestPoints,
			"CombMultiplies": TestCombMultiplies, "P256Corners": TestP256Corners,
			"P256AgreesWithTheStandardLibrary": TestP256AgreesWithTheStandardLibrary,
		} {
			t.Run(name, test)
		}
	})
}

// BenchmarkAssembly takes turns with assembly and without it, so that both see the same
// machine, and compares times of which a tenth are shorter.
func BenchmarkAssembly(b *testing.B) {
	if !hasAssembly {
		b.Skip("this processor cannot run the assembly")
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := [32]byte{1, 2, 3}
	signature, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
	if err != nil {
		b.Fatal(err)
	}
	r, s, err := ParseDER(signature)
	if err != nil {
		b.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	keys := both(b, compressed(public))
	x, y := p256Element{1, 2, 3, 4}, p256Element{5, 6, 7, 8}
	var left sum
	left.set(nistec.NewP256Point().SetGenerator())
	right := generator().sums[1][1]
	for _, bm := range []struct {
		name string
		n    int // so many are measured at once
		f    func()
	}{
		{"mul", 1000, func() { x.mul(&x, &y) }},
		{"square", 1000, func() { x.square(&x) }},
		{"addAffine", 200, func() { left.addAffine(&right) }},
		{"double", 200, func() { left.double() }},
		{"warm", 5, func() { keys["warm"].verify(digest, r, s) }},
		{"hot", 5, func() { keys["hot"].verify(digest, r, s) }},
		{"table", 1, func() { newComb(smallComb, keys["hot"].point) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			run := func() time.Duration {
				start := time.Now()
				for range bm.n {
					bm.f()
				}
				return time.Since(start)
			}
			var with, without []time.Duration
			for b.Loop() {
				with = append(with, run())
				withoutAssembly(func() { without = append(without, run()) })
			}
			low := func(d []time.Duration) float64 {
				slices.Sort(d)
				return float64(d[len(d)/10]) / float64(bm.n)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(low(with), "ns/assembly")
			b.ReportMetric(low(without), "ns/Go")
			b.ReportMetric(low(with)/low(without), "assembly/Go")
		})
	}
}
