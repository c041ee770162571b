package k256

import (
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

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
					"Field": TestField, "FieldEdges": TestFieldEdges, "Base": TestBase,
					"BaseOfOddScalars": TestBaseOfOddScalars, "Infinity": TestInfinity, "DamagedTable": TestDamagedTable,
					"Addition": TestAddition, "IncompleteAddition": TestIncompleteAddition,
					"Comb": TestComb, "Pick": TestPick, "SumsNextToAWindow": TestSumsNextToAWindow, "SpecialLastAddition": TestSpecialLastAddition,
					"Eight": TestEight, "EightOfTheLargest": TestEightOfTheLargest, "SideBySide": TestSideBySide,
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
	var k secp256k1.ModNScalar
	k.SetByteSlice([]byte("a scalar that uses some entries."))
	p := theirs(&k)
	for name, f := range map[string]func(){"Base": func() { Base(&k, p) }, "IsBase": func() { IsBase(&k, p) }} {
		b.Run(name, func(b *testing.B) {
			testkit.InTurn(b, 5, f, testkit.Side{Name: "eight", In: func(run func()) { run() }}, testkit.Side{Name: "one", In: withoutEight})
		})
	}
}

// BenchmarkAssembly takes turns with assembly, but for eight points at once, and without
// it.
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
		{"Base", 5, func() { Base(&k, p) }},
		{"IsBase", 5, func() { IsBase(&k, p) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			testkit.InTurn(b, bm.n, bm.f, testkit.Side{Name: "assembly", In: withoutEight}, testkit.Side{Name: "Go", In: withoutAssembly})
		})
	}
}
