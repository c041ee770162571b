// Package devseed derives what a development server starts with from a text, so
// that tests meet the same organization, ids and keys in each run. A reader of the
// text knows the private keys: it is for servers that only this machine reaches.
package devseed

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"

	"latchkey/internal/ids"
)

// Seed is a text, or none: the empty one.
type Seed string

// Of is the seed of a text.
func Of(text string) Seed { return Seed(text) }

// Given reports whether there is one.
func (s Seed) Given() bool { return s != "" }

// Private draws private keys for a purpose, until accept takes one: not all 32 bytes
// are a key of every curve.
func (s Seed) Private(purpose string, accept func(private [32]byte) error) (err error) {
	for try := range 64 {
		if err = accept(s.draw(purpose + " " + strconv.Itoa(try))); err == nil {
			return nil
		}
	}
	return err
}

// IDs gives ids for a purpose, one after the other: a beginning of the year 2026 as
// their time, so that they come before all that the server makes later.
func (s Seed) IDs(purpose string) (next func() string) {
	const began = 1767225600000 // 2026-01-01T00:00:00Z
	n := int64(0)
	return func() string {
		n++
		drawn := s.draw(purpose + " id " + strconv.FormatInt(n, 10))
		return ids.At(began+n, [10]byte(drawn[:10]))
	}
}

func (s Seed) draw(purpose string) [32]byte {
	h := hmac.New(sha256.New, []byte("latchkey dev seed\x00"+string(s)))
	h.Write([]byte(purpose))
	return [32]byte(h.Sum(nil))
}
