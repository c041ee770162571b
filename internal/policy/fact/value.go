package fact

import (
	"errors"
	"math/big"

	"github.com/holiman/uint256"
)

// Number is an integer from -(2^256-1) to 2^256-1: wide enough for whatever a
// transaction carries, so that a comparison never overflows.
type Number struct {
	Negative  bool // never set when Magnitude is zero
	Magnitude uint256.Int
}

// Int is v as a Number.
func Int(v int64) Number {
	if v < 0 {
		return Number{Negative: true, Magnitude: *uint256.NewInt(uint64(-(v + 1)) + 1)}
	}
	return Uint(uint64(v))
}

// Uint is v as a Number.
func Uint(v uint64) Number { return Number{Magnitude: *uint256.NewInt(v)} }

// ErrRange says that an integer needs more than 256 bits.
var ErrRange = errors.New("the number does not fit into 256 bits")

// Big is v as a Number.
func Big(v *big.Int) (Number, error) {
	magnitude, overflow := uint256.FromBig(new(big.Int).Abs(v))
	if overflow {
		return Number{}, ErrRange
	}
	return Number{Negative: v.Sign() < 0, Magnitude: *magnitude}, nil
}

// Cmp compares by value.
func (n *Number) Cmp(m *Number) int {
	switch {
	case n.Negative != m.Negative:
		if n.Negative {
			return -1
		}
		return 1
	case n.Negative:
		return m.Magnitude.Cmp(&n.Magnitude)
	default:
		return n.Magnitude.Cmp(&m.Magnitude)
	}
}

// String is the number in decimal.
func (n *Number) String() string {
	if n.Negative {
		return "-" + n.Magnitude.Dec()
	}
	return n.Magnitude.Dec()
}

// Kind says what a Value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota // an optional argument that is absent
	Bool
	Num
	Text
	List
	Struct
	// Unreadable is a value that no policy can compare, for example an integer
	// below -2^127. Reading it is an error; Text says why.
	Unreadable
)

// Value is what decoding a contract call, a program's instruction or typed
// data yields: its type is known only when it is read.
type Value struct {
	Kind   Kind
	Bool   bool
	Fold   bool // Text is compared without case
	Number Number
	Text   string
	List   []Value
	Fields Map
}

// Map holds values by name, in the order in which they were declared.
type Map []Entry

// Entry is one named value.
type Entry struct {
	Name  string
	Value Value
}

// Get finds a value by its exact name; nil when there is none.
func (m Map) Get(name string) *Value {
	for i := range m {
		if m[i].Name == name {
			return &m[i].Value
		}
	}
	return nil
}
