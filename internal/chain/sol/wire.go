package sol

import (
	"errors"
	"fmt"
)

// reader takes fields in order and keeps the first error; after it every field
// reads as zeros, so that callers need no check of their own.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) note(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) take(what string, n int) []byte {
	if r.err == nil && len(r.rest) < n {
		r.err = fmt.Errorf("the transaction ends inside the %s", what)
	}
	if r.err != nil {
		return make([]byte, n)
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte(what string) byte { return r.take(what, 1)[0] }

var errCompact = errors.New("a count is not in its shortest form or is above 65535")

// count reads a compact-u16 count of things that have at least size bytes each.
// What cannot fit in the rest is refused at once.
func (r *reader) count(what string, size int) int {
	n := 0
	for shift := 0; ; shift += 7 {
		b := r.byte(what)
		if r.err != nil {
			return 0
		}
		n |= int(b&0x7f) << shift
		if b == 0 && shift > 0 || n > 0xffff || b&0x80 != 0 && shift == 14 {
			r.note(errCompact)
			return 0
		}
		if b&0x80 == 0 {
			break
		}
	}
	if n*size > len(r.rest) {
		r.note(fmt.Errorf("the transaction ends inside the %s", what))
		return 0
	}
	return n
}

// vector reads a count and as many bytes.
func (r *reader) vector(what string) []byte {
	return append([]byte{}, r.take(what, r.count(what, 1))...)
}

func appendCount(b []byte, n int) []byte {
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func appendVector(b, v []byte) []byte { return append(appendCount(b, len(v)), v...) }

// Encode writes the transaction from its fields.
func (tx *Tx) Encode() []byte {
	b := appendCount(nil, len(tx.Signatures))
	for _, s := range tx.Signatures {
		b = append(b, s[:]...)
	}
	if tx.Version != Legacy {
		b = append(b, versionFlag|byte(tx.Version))
	}
	b = append(b, tx.Header.RequiredSignatures, tx.Header.ReadonlySigned, tx.Header.ReadonlyUnsigned)
	b = appendCount(b, len(tx.AccountKeys))
	for _, key := range tx.AccountKeys {
		b = append(b, key[:]...)
	}
	b = append(b, tx.RecentBlockhash[:]...)
	b = appendCount(b, len(tx.Instructions))
	for _, in := range tx.Instructions {
		b = append(b, in.ProgramIndex)
		b = appendVector(b, in.Accounts)
		b = appendVector(b, in.Data)
	}
	if tx.Version == Legacy {
		return b
	}
	b = appendCount(b, len(tx.Lookups))
	for _, l := range tx.Lookups {
		b = append(b, l.Table[:]...)
		b = appendVector(b, l.Writable)
		b = appendVector(b, l.Readonly)
	}
	return b
}
