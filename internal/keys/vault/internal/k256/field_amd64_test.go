package k256

import (
	"slices"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
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
			"Field": TestField, "FieldEdges": TestFieldEdges, "Invert": TestInvert, "Base": TestBase,
			"Addition": TestAddition, "IncompleteAddition": TestIncompleteAddition,
			"Comb": TestComb, "Pick": TestPick, "SumsNextToAWindow": TestSumsNextToAWindow, "SpecialLastAddition": TestSpecialLastAddition,
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
	var k secp256k1.ModNScalar
	k.SetByteSlice([]byte("a scalar that uses some entries."))
	p := theirs(&k)
	x, y := element{1, 2, 3, 4}, element{5, 6, 7, 8}
	left, right := affineOf(p).sum(), affineOf(theirs(new(secp256k1.ModNScalar).SetInt(2)))
	c := theComb()
	m := c.digits(&k)
	for _, bm := range []struct {
		name string
		n    int // so many are measured at once
		f    func()
	}{
		{"mul", 1000, func() { x.mul(&x, &y) }},
		{"square", 1000, func() { x.square(&x, 1) }},
		{"add", 200, func() { left.add(right) }},
		{"entry", 200, func() { c.entry(right, &m, 7) }},
		{"invert", 10, func() { x.invert(&x) }},
		{"Base", 5, func() { Base(&k, p) }},
		{"IsBase", 5, func() { IsBase(&k, p) }},
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
