package schema

import (
	"errors"
	"strconv"

	"latchkey/internal/jsonwrite"
)

// Encode renders v the way replies and echoes are written: omitzero members
// that are zero are left out, nil slices are [], members come in the order of
// the Go fields. Raw values lose white space between tokens and nothing else.
func Encode(v any) ([]byte, error) {
	return jsonwrite.Marshal(v)
}

// Uint64 is a number that travels as a string of decimal digits, because many
// clients cannot hold 64 bits in a JSON number. A JSON integer is read too.
type Uint64 uint64

// MarshalJSON writes the digits as a string.
func (u Uint64) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 22), '"')
	return append(strconv.AppendUint(b, uint64(u), 10), '"'), nil
}

// UnmarshalJSON reads digits, as a string or as a number.
func (u *Uint64) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	n, ok := parseUint64(string(b))
	if !ok {
		return errors.New("must be decimal digits of a number below 2^64")
	}
	*u = n
	return nil
}

// parseUint64 is strict about the digits and lenient about leading zeros,
// which decimal libraries of clients produce.
func parseUint64(s string) (Uint64, bool) {
	if s == "" || s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return Uint64(n), err == nil
}
