package fact_test

import (
	"math/big"
	"testing"

	"latchkey/internal/policy/fact"
)

func TestSigned(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	plus := func(n *big.Int, d int64) *big.Int { return new(big.Int).Add(n, big.NewInt(d)) }
	minus := new(big.Int).Neg(limit)
	for _, c := range []struct {
		name string
		n    *big.Int
		want fact.Kind
	}{
		{"zero", big.NewInt(0), fact.Num},
		{"-1", big.NewInt(-1), fact.Num},
		{"the greatest i128", plus(limit, -1), fact.Num},
		{"one more", limit, fact.Unreadable},
		{"the least i128", minus, fact.Num},
		{"one less", plus(minus, -1), fact.Unreadable},
		{"the least int256", new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 255)), fact.Unreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := fact.Big(c.n)
			if err != nil {
				t.Fatal(err)
			}
			v := fact.Signed(n)
			if v.Kind != c.want || (v.Kind == fact.Unreadable) != (v.Text != "") {
				t.Errorf("%s is of kind %d (%s)", c.n, v.Kind, v.Text)
			}
			if v.Kind == fact.Num && v.Number.String() != c.n.String() {
				t.Errorf("%s became %s", c.n, v.Number.String())
			}
		})
	}
}
