package idl

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mr-tron/base58"

	"latchkey/internal/policy/fact"
)

// decoder takes values from the front of the data.
type decoder struct {
	rest   []byte
	budget int // values that may still be made
}

// A value of ordinary data takes a byte of it or more, and is inside a few
// others: these are generous.
const (
	budgetOfCall = 256
	budgetOfByte = 16
)

func newDecoder(data []byte) *decoder {
	return &decoder{rest: data, budget: budgetOfCall + budgetOfByte*len(data)}
}

// pay takes n values from the budget, before any is made.
func (d *decoder) pay(n int) bool {
	if n > d.budget {
		return false
	}
	d.budget -= n
	return true
}

func (d *decoder) take(n int) ([]byte, bool) {
	if n > len(d.rest) {
		return nil, false
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b, true
}

// length reads how many bytes or elements follow.
func (d *decoder) length() (int, bool) {
	b, ok := d.take(4)
	if !ok {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b)
	return int(n), n <= math.MaxInt32
}

// tag reads a byte that must be 0 or 1.
func (d *decoder) tag() (set, ok bool) {
	b, ok := d.take(1)
	if !ok || b[0] > 1 {
		return false, false
	}
	return b[0] == 1, true
}

// value reads a value that is already counted.
func (d *decoder) value(t *typ) (v fact.Value, ok bool) {
	switch t.kind {
	case kindBool:
		set, ok := d.tag()
		return fact.Value{Kind: fact.Bool, Bool: set}, ok
	case kindUnsigned, kindSigned:
		return d.integer(t)
	case kindFloat:
		_, ok := d.take(t.size)
		return fact.Value{Kind: fact.Unreadable, Text: "a floating point number cannot be compared"}, ok
	case kindString, kindBytes:
		return d.text(t)
	case kindPublicKey:
		b, ok := d.take(32)
		return fact.String(base58.Encode(b)), ok
	case kindOption:
		set, ok := d.tag()
		if !ok || !set {
			return fact.Value{Kind: fact.Null}, ok
		}
		return d.value(t.element)
	case kindVec:
		n, ok := d.length()
		if !ok {
			return fact.Value{}, false
		}
		return d.list(n, t.element)
	case kindArray:
		return d.list(t.length, t.element)
	case kindDefined:
		return d.defined(t.defined)
	}
	return fact.Value{}, false // kindUnsupported, which Parse keeps out of arguments
}

// integer reads a number, least byte first.
func (d *decoder) integer(t *typ) (fact.Value, bool) {
	b, ok := d.take(t.size)
	if !ok {
		return fact.Value{}, false
	}
	b = slices.Clone(b)
	slices.Reverse(b)
	var n fact.Number
	n.Magnitude.SetBytes(b)
	if t.kind == kindUnsigned {
		return fact.Unsigned(n), true
	}
	if n.Negative = b[0]&0x80 != 0; n.Negative {
		for i := range b {
			b[i] = ^b[i]
		}
		n.Magnitude.SetBytes(b)
		n.Magnitude.AddUint64(&n.Magnitude, 1)
	}
	return fact.Signed(n), true
}

func (d *decoder) text(t *typ) (fact.Value, bool) {
	n, ok := d.length()
	if !ok {
		return fact.Value{}, false
	}
	b, ok := d.take(n)
	if t.kind == kindBytes {
		return fact.Value{Kind: fact.Text, Fold: true, Text: hex.EncodeToString(b)}, ok
	}
	return fact.String(string(b)), ok && utf8.Valid(b)
}

func (d *decoder) list(n int, element *typ) (fact.Value, bool) {
	if !d.pay(n) {
		return fact.Value{}, false
	}
	list := make([]fact.Value, n)
	for i := range list {
		var ok bool
		if list[i], ok = d.value(element); !ok {
			return fact.Value{}, false
		}
	}
	return fact.Value{Kind: fact.List, List: list}, true
}

func (d *decoder) defined(t *definition) (fact.Value, bool) {
	switch t.kind {
	case kindAlias:
		return d.value(t.alias)
	case kindStruct:
		return d.members(t.members)
	default: // kindEnum
		b, ok := d.take(1)
		if !ok || int(b[0]) >= len(t.variants) {
			return fact.Value{}, false
		}
		chosen := &t.variants[b[0]]
		if len(chosen.members.types) == 0 {
			return fact.String(chosen.name), true
		}
		if !d.pay(1) {
			return fact.Value{}, false
		}
		v, ok := d.members(chosen.members)
		return fact.Value{Kind: fact.Struct, Fields: fact.Map{{Name: chosen.name, Value: v}}}, ok
	}
}

// members reads a struct or a tuple.
func (d *decoder) members(m members) (v fact.Value, ok bool) {
	if len(m.names) == len(m.types) {
		fields, ok := d.named(m)
		return fact.Value{Kind: fact.Struct, Fields: fields}, ok
	}
	if !d.pay(len(m.types)) {
		return fact.Value{}, false
	}
	list := make([]fact.Value, len(m.types))
	for i, t := range m.types {
		if list[i], ok = d.value(t); !ok {
			return fact.Value{}, false
		}
	}
	return fact.Value{Kind: fact.List, List: list}, true
}

func (d *decoder) named(m members) (fact.Map, bool) {
	if !d.pay(len(m.types)) {
		return nil, false
	}
	fields := make(fact.Map, len(m.types))
	for i, t := range m.types {
		v, ok := d.value(t)
		if !ok {
			return nil, false
		}
		fields[i] = fact.Entry{Name: m.names[i], Value: v}
	}
	return fields, true
}
