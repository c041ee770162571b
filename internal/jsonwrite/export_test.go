package jsonwrite

import "bytes"

// Canonical is the form of RFC 8785.
func Canonical(v any) (written []byte, err error) {
	err = write(canonical, v, func(text []byte) { written = bytes.Clone(text) })
	return written, err
}
