// Package rlp reads and writes RLP, the encoding of Ethereum transactions.
//
// The reader is strict: every value has exactly one encoding that it accepts,
// so whatever was read can be written again byte for byte. It copies nothing
// and never reads past what it was given.
package rlp

import (
	"encoding/binary"
	"errors"
	"math/big"
)

// What can be wrong with an encoding.
var (
	ErrTruncated    = errors.New("RLP item is longer than the data")
	ErrTrailing     = errors.New("RLP data has trailing bytes")
	ErrNotCanonical = errors.New("RLP length or integer is not in its shortest form")
	ErrKind         = errors.New("RLP item is a list where a string was expected, or the reverse")
	ErrTooLarge     = errors.New("RLP integer is too large")
)

// Item is one string or list.
type Item struct {
	List    bool
	Content []byte // of a list: its items, one after the other
}

// Next splits the first item off b.
func Next(b []byte) (item Item, rest []byte, err error) {
	if len(b) == 0 {
		return Item{}, nil, ErrTruncated
	}
	first := b[0]
	switch {
	case first < 0x80: // a single byte is its own encoding
		return Item{Content: b[:1]}, b[1:], nil
	case first < 0xb8:
		item, rest, err = cut(b[1:], uint64(first-0x80), false)
		if err == nil && len(item.Content) == 1 && item.Content[0] < 0x80 {
			err = ErrNotCanonical
		}
	case first < 0xc0:
		item, rest, err = long(b[1:], int(first-0xb7), false)
	case first < 0xf8:
		item, rest, err = cut(b[1:], uint64(first-0xc0), true)
	default:
		item, rest, err = long(b[1:], int(first-0xf7), true)
	}
	if err != nil {
		return Item{}, nil, err
	}
	return item, rest, nil
}

// long reads a length of n bytes and the content after it.
func long(b []byte, n int, list bool) (Item, []byte, error) {
	if len(b) < n {
		return Item{}, nil, ErrTruncated
	}
	if b[0] == 0 {
		return Item{}, nil, ErrNotCanonical
	}
	var length uint64
	for _, c := range b[:n] { // n is at most 8
		length = length<<8 | uint64(c)
	}
	if length < 56 {
		return Item{}, nil, ErrNotCanonical
	}
	return cut(b[n:], length, list)
}

func cut(b []byte, length uint64, list bool) (Item, []byte, error) {
	if uint64(len(b)) < length {
		return Item{}, nil, ErrTruncated
	}
	return Item{List: list, Content: b[:length:length]}, b[length:], nil
}

// Only reads b as exactly one list and returns its items.
func Only(b []byte) ([]Item, error) {
	item, rest, err := Next(b)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, ErrTrailing
	}
	return item.Items()
}

// Items reads the items of a list.
func (i Item) Items() ([]Item, error) {
	if !i.List {
		return nil, ErrKind
	}
	if len(i.Content) == 0 {
		return nil, nil
	}
	const usual = 12 // at most as many as the bytes, so that a short text takes little room
	items := make([]Item, 0, min(len(i.Content), usual))
	for rest := i.Content; len(rest) > 0; {
		var item Item
		var err error
		if item, rest, err = Next(rest); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// Bytes reads a string of any length.
func (i Item) Bytes() ([]byte, error) {
	if i.List {
		return nil, ErrKind
	}
	return i.Content, nil
}

// Big reads an unsigned integer of at most 256 bits.
func (i Item) Big() (*big.Int, error) {
	if err := i.integer(); err != nil {
		return nil, err
	}
	return new(big.Int).SetBytes(i.Content), nil
}

// integer refuses what is no unsigned integer of at most 256 bits.
func (i Item) integer() error {
	switch {
	case i.List:
		return ErrKind
	case len(i.Content) > 0 && i.Content[0] == 0:
		return ErrNotCanonical
	case len(i.Content) > 32:
		return ErrTooLarge
	}
	return nil
}

// Uint64 reads an unsigned integer of at most 64 bits.
func (i Item) Uint64() (uint64, error) {
	if err := i.integer(); err != nil {
		return 0, err
	}
	if len(i.Content) > 8 {
		return 0, ErrTooLarge
	}
	var n uint64
	for _, c := range i.Content {
		n = n<<8 | uint64(c)
	}
	return n, nil
}

// AppendBytes writes a string.
func AppendBytes(dst, b []byte) []byte {
	if len(b) == 1 && b[0] < 0x80 {
		return append(dst, b[0])
	}
	return append(appendHead(dst, 0x80, len(b)), b...)
}

// AppendInt writes an unsigned integer from its big-endian bytes; leading
// zeros are dropped, as the encoding wants.
func AppendInt(dst, b []byte) []byte {
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return AppendBytes(dst, b)
}

// AppendBig writes an unsigned integer; nil counts as zero.
func AppendBig(dst []byte, n *big.Int) []byte {
	if n == nil {
		return AppendBytes(dst, nil)
	}
	var bytes [32]byte
	if n.BitLen() > 8*len(bytes) {
		return AppendBytes(dst, n.Bytes())
	}
	return AppendInt(dst, n.FillBytes(bytes[:]))
}

// AppendUint64 writes an unsigned integer.
func AppendUint64(dst []byte, n uint64) []byte {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], n)
	return AppendInt(dst, bytes[:])
}

// AppendList writes a list whose items are already encoded in content.
func AppendList(dst, content []byte) []byte {
	return append(appendHead(dst, 0xc0, len(content)), content...)
}

func appendHead(dst []byte, base byte, length int) []byte {
	if length < 56 {
		return append(dst, base+byte(length))
	}
	size := big.NewInt(int64(length)).Bytes()
	return append(append(dst, base+55+byte(len(size))), size...)
}
