package rlp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"latchkey/internal/chain/rlp"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", rlp.ErrTruncated},
		{"string cut short", "83646f", rlp.ErrTruncated},
		{"list cut short", "c30102", rlp.ErrTruncated},
		{"length cut short", "b9", rlp.ErrTruncated},
		{"list length cut short", "f901", rlp.ErrTruncated},
		{"small byte with a head", "8101", rlp.ErrNotCanonical},
		{"short string in the long form", "b80161", rlp.ErrNotCanonical},
		{"short list in the long form", "f80101", rlp.ErrNotCanonical},
		{"length with a leading zero", "b90038" + hex.EncodeToString(make([]byte, 56)), rlp.ErrNotCanonical},
		{"length of 2^64-1", "bfffffffffffffffff00", rlp.ErrTruncated},
		{"list length of 2^64-1", "ffffffffffffffffff00", rlp.ErrTruncated},
		{"length of 2^63", "bf800000000000000000", rlp.ErrTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := hex.DecodeString(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := rlp.Next(in); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if _, err := rlp.Only([]byte{0xc0, 0x00}); !errors.Is(err, rlp.ErrTrailing) {
		t.Errorf("trailing byte: %v", err)
	}
	if _, err := rlp.Only([]byte{0x80}); !errors.Is(err, rlp.ErrKind) {
		t.Errorf("string for a list: %v", err)
	}
	if _, err := (rlp.Item{Content: []byte{0, 1}}).Big(); !errors.Is(err, rlp.ErrNotCanonical) {
		t.Errorf("integer with a leading zero: %v", err)
	}
	if _, err := (rlp.Item{Content: bytes.Repeat([]byte{1}, 33)}).Big(); !errors.Is(err, rlp.ErrTooLarge) {
		t.Errorf("integer of 33 bytes: %v", err)
	}
	if _, err := (rlp.Item{Content: bytes.Repeat([]byte{1}, 9)}).Uint64(); !errors.Is(err, rlp.ErrTooLarge) {
		t.Errorf("integer of 9 bytes: %v", err)
	}
}

func TestLengths(t *testing.T) {
	for _, n := range []int{0, 1, 2, 55, 56, 255, 256, 65535, 65536} {
		content := bytes.Repeat([]byte{0xaa}, n)
		item, rest, err := rlp.Next(rlp.AppendBytes(nil, content))
		if err != nil || len(rest) > 0 || item.List || !bytes.Equal(item.Content, content) {
			t.Errorf("a string of %d bytes does not come back: %v", n, err)
		}
		item, rest, err = rlp.Next(rlp.AppendList(nil, content))
		if err != nil || len(rest) > 0 || !item.List || !bytes.Equal(item.Content, content) {
			t.Errorf("a list of %d bytes does not come back: %v", n, err)
		}
	}
}

// FuzzNext: what is read is written again byte for byte, at every depth.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{"80", "c0", "83646f67", "c88363617483646f67", "c7c0c1c0c3c0c1c0", "b838" + hex.EncodeToString(make([]byte, 56)), "f838" + hex.EncodeToString(make([]byte, 56))} {
		in, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		item, rest, err := rlp.Next(in)
		if err != nil {
			return
		}
		read := in[:len(in)-len(rest)]
		if got, ok := write(item, 0); ok && !bytes.Equal(got, read) {
			t.Errorf("%x is written again as %x", read, got)
		}
	})
}

// write encodes an item; false when a list inside is not well-formed.
func write(item rlp.Item, depth int) ([]byte, bool) {
	if !item.List {
		return rlp.AppendBytes(nil, item.Content), true
	}
	items, err := item.Items()
	if err != nil || depth > 64 {
		return nil, false
	}
	var content []byte
	for _, i := range items {
		b, ok := write(i, depth+1)
		if !ok {
			return nil, false
		}
		content = append(content, b...)
	}
	return rlp.AppendList(nil, content), true
}
