package tron

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// message binds the fields of a protobuf message, in ascending order, to the
// variables that hold them.
type message []field

type field struct {
	number protowire.Number
	name   string
	value  any // *[]byte, *string, *int64, *int32, *bool, *Address, *Resource, *PermissionType or nested
}

// nested is a field that is a message itself.
type nested struct {
	add func(b []byte) error // called for each occurrence
	all func() [][]byte      // every occurrence, encoded
}

var (
	errTruncated = errors.New("the protobuf data is truncated or malformed")
	errVarint    = errors.New("a varint is not in its shortest form")
	errOrder     = errors.New("the protobuf fields are not in ascending order or one is repeated")
	errKind      = errors.New("a protobuf field has the wrong wire type")
	errDefault   = errors.New("a protobuf field with its default value is written out")
	errNegative  = errors.New("the value is negative")
	errRange     = errors.New("the value is out of range")
)

// read fills the variables from b.
func (m message) read(b []byte) error {
	last := protowire.Number(0)
	for len(b) > 0 {
		tag, n := varint(b)
		if n < 0 {
			return errVarint
		}
		if n == 0 || tag>>3 > math.MaxInt32 {
			return errTruncated
		}
		b = b[n:]
		number, kind := protowire.Number(tag>>3), protowire.Type(tag&7)
		f := m.find(number)
		if f == nil {
			return fmt.Errorf("protobuf field %d is not known here", number)
		}
		_, isNested := f.value.(nested)
		if number < last || number == last && !isNested {
			return errOrder
		}
		last = number
		rest, err := f.read(kind, b)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		b = rest
	}
	return nil
}

func (m message) find(number protowire.Number) *field {
	for i := range m {
		if m[i].number == number {
			return &m[i]
		}
	}
	return nil
}

// read reads the value at the start of b and returns what follows it.
func (f *field) read(kind protowire.Type, b []byte) ([]byte, error) {
	want := protowire.BytesType
	switch f.value.(type) {
	case *int64, *int32, *bool, *Resource, *PermissionType:
		want = protowire.VarintType
	}
	if kind != want {
		return nil, errKind
	}
	n, size := varint(b)
	if size < 0 {
		return nil, errVarint
	}
	if size == 0 {
		return nil, errTruncated
	}
	b = b[size:]
	if want == protowire.VarintType {
		return b, f.setNumber(n)
	}
	if n > uint64(len(b)) {
		return nil, errTruncated
	}
	return b[n:], f.setBytes(b[:n])
}

// varint reads a base-128 integer. The size is 0 when b is truncated or the
// value has more than 64 bits, and -1 when a shorter form exists.
func varint(b []byte) (n uint64, size int) {
	n, size = protowire.ConsumeVarint(b)
	switch {
	case size < 0:
		return 0, 0
	case size != protowire.SizeVarint(n):
		return 0, -1
	}
	return n, size
}

func (f *field) setNumber(n uint64) error {
	// A negative int64 is a varint above MaxInt64; nothing that a node accepts
	// holds one.
	switch {
	case n == 0:
		return errDefault
	case n > math.MaxInt64:
		return errNegative
	}
	limit := uint64(math.MaxInt64)
	switch f.value.(type) {
	case *int32:
		limit = math.MaxInt32
	case *bool:
		limit = 1
	case *Resource:
		limit = uint64(TronPower)
	case *PermissionType:
		limit = uint64(ActivePermission)
	}
	if n > limit {
		return errRange
	}
	switch v := f.value.(type) {
	case *int64:
		*v = int64(n)
	case *int32:
		*v = int32(n)
	case *bool:
		*v = true
	case *Resource:
		*v = Resource(n)
	case *PermissionType:
		*v = PermissionType(n)
	}
	return nil
}

func (f *field) setBytes(b []byte) error {
	if sub, ok := f.value.(nested); ok {
		return sub.add(b)
	}
	if len(b) == 0 {
		return errDefault
	}
	switch v := f.value.(type) {
	case *[]byte:
		*v = append([]byte{}, b...)
	case *string:
		if !utf8.Valid(b) {
			return errors.New("the text is not UTF-8")
		}
		*v = string(b)
	case *Address:
		if len(b) != len(v) || b[0] != addressPrefix {
			return errors.New("an address has 21 bytes and starts with 0x41")
		}
		*v = Address(b)
	}
	return nil
}

// append writes the message.
func (m message) append(b []byte) []byte {
	for _, f := range m {
		switch v := f.value.(type) {
		case *[]byte:
			b = appendBytes(b, f.number, *v)
		case *string:
			b = appendBytes(b, f.number, []byte(*v))
		case *Address:
			b = appendBytes(b, f.number, v[:])
		case nested:
			for _, one := range v.all() {
				b = protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), one)
			}
		case *int64:
			b = appendNumber(b, f.number, uint64(*v))
		case *int32:
			b = appendNumber(b, f.number, uint64(*v))
		case *Resource:
			b = appendNumber(b, f.number, uint64(*v))
		case *PermissionType:
			b = appendNumber(b, f.number, uint64(*v))
		case *bool:
			b = appendNumber(b, f.number, protowire.EncodeBool(*v))
		}
	}
	return b
}

// A default value is not written (proto3).
func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

func appendNumber(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}
