package audit

import (
	"errors"
	"hash/maphash"
	"math/bits"
)

// errEnough ends a walk that has seen what it wanted.
var errEnough = errors.New("audit: enough was seen")

// multisets compares sets of rows that come in different orders. The seeds are of
// one run, and known to no one who could choose rows by them.
type multisets struct{ seeds [2]maphash.Seed }

func newMultisets() multisets {
	return multisets{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// element is what one row counts in a sum.
type element struct{ org, kind, id, body string }

// sum is one of 128 bits.
type sum struct{ high, low uint64 }

func (m multisets) plus(s sum, e element) sum { return s.plus(sumOf(m, e)) }

// sumOf is that of one element.
func sumOf[E comparable](m multisets, e E) sum {
	return sum{maphash.Comparable(m.seeds[1], e), maphash.Comparable(m.seeds[0], e)}
}

func (s sum) plus(other sum) sum {
	var carry uint64
	s.low, carry = bits.Add64(s.low, other.low, 0)
	s.high, _ = bits.Add64(s.high, other.high, carry)
	return s
}

// pair are two sets that must be equal.
type pair struct{ wanted, found sum }
