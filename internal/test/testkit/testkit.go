// Package testkit holds the small functions that the tests of many packages
// need: waiting for an event, reserving an address, decoding bytes, measuring.
package testkit

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for an event. It is not a measure of speed:
// a busy machine may need all of it.
const Patience = 5 * time.Minute

// Until waits until holds returns true, and fails the test if it does not
// within [Patience].
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Await(holds) {
		t.Fatalf("not within %v: %s", Patience, what)
	}
}

// Await is [Until] without a test: it reports whether holds became true.
func Await(holds func() bool) bool {
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Number is how much of something a long form of a test does, from the environment.
// A value that is no number fails the test: it would else run the short form unseen.
func Number(t testing.TB, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// Unhex returns the bytes of hexadecimal digits, which may come in parts.
func Unhex(t testing.TB, parts ...string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(parts, ""))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Unbase64 returns the bytes of unpadded base64url.
func Unbase64(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
