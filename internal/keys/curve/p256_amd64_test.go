package curve

import (
	"testing"

	"filippo.io/nistec"

	"latchkey/internal/test/testkit"
)

// withoutAssembly runs f as on a processor that cannot run the assembly.
func withoutAssembly(f func()) {
	defer func(had bool) { hasAssembly = had }(hasAssembly)
	hasAssembly = false
	f()
}

// TestWithoutAssembly is all that depends on the field, on a processor that cannot run
// the assembly.
func TestWithoutAssembly(t *testing.T) {
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

// BenchmarkAssembly takes turns with assembly and without it.
func BenchmarkAssembly(b *testing.B) {
	if !hasAssembly {
		b.Skip("this processor cannot run the assembly")
	}
	signed := newSigned(b)
	keys := both(b, signed.point)
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
		{"warm", 5, func() { keys["warm"].verify(signed.digest, signed.r, signed.s) }},
		{"hot", 5, func() { keys["hot"].verify(signed.digest, signed.r, signed.s) }},
		{"table", 1, func() { newComb(smallComb, keys["hot"].point) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			testkit.InTurn(b, bm.n, bm.f, testkit.Side{Name: "assembly", In: func(run func()) { run() }}, testkit.Side{Name: "Go", In: withoutAssembly})
		})
	}
}
