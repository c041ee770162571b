package curve

import (
	"testing"

	"filippo.io/nistec"

	"latchkey/internal/test/testkit"
)

// without runs f as on a processor that lacks something.
func without(what *bool, f func()) {
	defer func(had bool) { *what = had }(*what)
	*what = false
	f()
}

func withoutAssembly(f func()) { without(&hasAssembly, f) }
func withoutEight(f func())    { without(&hasEight, f) }

// TestWithoutAssembly is all that depends on the field, on processors that cannot run
// the assembly, or not that of eight points at once.
func TestWithoutAssembly(t *testing.T) {
	for name, as := range map[string]func(func()){"none": withoutAssembly, "not eight": withoutEight} {
		t.Run(name, func(t *testing.T) {
			as(func() {
				for name, test := range map[string]func(*testing.T){
					"Elements": TestElements, "ElementsAtTheLimit": TestElementsAtTheLimit, "Points": TestPoints,
					"CombMultiplies": TestCombMultiplies, "P256Corners": TestP256Corners,
					"P256AgreesWithTheStandardLibrary": TestP256AgreesWithTheStandardLibrary,
					"Eight":                            TestEight, "EightOfTheLargest": TestEightOfTheLargest, "SumOfEight": TestSumOfEight, "SumOfEightRefuses": TestSumOfEightRefuses,
				} {
					t.Run(name, test)
				}
			})
		})
	}
}

// BenchmarkEight takes turns with eight points at once and one after the other.
func BenchmarkEight(b *testing.B) {
	if !eightAtOnce() {
		b.Skip("this processor cannot add eight points at once")
	}
	signed := newSigned(b)
	hot := both(b, signed.point)["hot"]
	testkit.InTurn(b, 5, func() { hot.verify(signed.digest, signed.r, signed.s) },
		testkit.Side{Name: "eight", In: func(run func()) { run() }}, testkit.Side{Name: "one", In: withoutEight})
}

// BenchmarkAssembly takes turns with assembly, but for eight points at once, and without
// it.
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
			testkit.InTurn(b, bm.n, bm.f, testkit.Side{Name: "assembly", In: withoutEight}, testkit.Side{Name: "Go", In: withoutAssembly})
		})
	}
}
