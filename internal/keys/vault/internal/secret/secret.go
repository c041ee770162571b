// Package secret holds secret bytes: in pages that are locked into memory and
// left out of core dumps where the system allows, behind a type that prints
// [secret] for every verb and refuses to be marshalled, and wiped when they
// have been used.
//
// What it cannot do: the standard library copies keys into its own structures
// (key schedules, HMAC states) on the heap, which Go neither locks nor wipes.
// Those copies live as long as one operation, until the collector reuses the
// memory.
package secret

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
)

const hidden = "[secret]"

var errMarshal = errors.New("secret: a secret is not to be marshalled")

// Bytes is one secret. The zero value is empty. It must not be used after Wipe:
// its memory then belongs to another secret.
type Bytes struct {
	// The bytes are behind a function because fmt does not always ask Format:
	// for a verb that does not fit, or a copy, it prints fields and follows
	// pointers. Of a function it has only the address. (A function also
	// makes the type incomparable: == on secrets would leak time.)
	in func() *inner
}

type inner struct {
	b    []byte
	home *Pool
	slot []byte
}

// Raw lends the bytes to code of the vault. The slice is not to be kept.
func (s *Bytes) Raw() []byte {
	if s.in == nil {
		return nil
	}
	return s.in().b
}

// Len is the number of bytes.
func (s *Bytes) Len() int { return len(s.Raw()) }

// Shrink keeps the first n bytes and wipes the rest.
func (s *Bytes) Shrink(n int) {
	b := s.Raw()
	clear(b[n:])
	s.in().b = b[:n]
}

// Fill overwrites the secret with random bytes.
func (s *Bytes) Fill() {
	rand.Read(s.Raw()) // never fails: it ends the program instead
}

// Wipe zeroes the secret and gives its memory back. A second call, or one on
// nil, does nothing.
func (s *Bytes) Wipe() {
	if s == nil || s.in == nil {
		return
	}
	in := s.in()
	if in.slot == nil {
		return
	}
	clear(in.slot)
	in.home.release(in.slot)
	in.b, in.slot = nil, nil
}

// Format prints [secret], whatever the verb and flags.
func (*Bytes) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(hidden)) // fmt.State never fails
}

// String keeps the secret out of text.
func (*Bytes) String() string { return hidden }

// GoString keeps the secret out of text.
func (*Bytes) GoString() string { return hidden }

// LogValue keeps the secret out of logs.
func (*Bytes) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText refuses.
func (*Bytes) MarshalText() ([]byte, error) { return nil, errMarshal }

// MarshalJSON refuses.
func (*Bytes) MarshalJSON() ([]byte, error) { return nil, errMarshal }

// MarshalBinary refuses, and with it encoding/gob.
func (*Bytes) MarshalBinary() ([]byte, error) { return nil, errMarshal }
