// Package testvectors holds data that the tests of several packages share:
// addresses, signatures and transfers that public libraries agree on.
package testvectors

import (
	"compress/gzip"
	"embed"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

//go:embed *.json.gz
var files embed.FS

// Read decodes a whole file: addresses, signing or transfers.
func Read(tb testing.TB, name string, into any) {
	tb.Helper()
	file, err := files.Open(name + ".json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(into); err != nil {
		tb.Fatalf("test vectors %s: %v", name, err)
	}
}

// Section decodes one list of records of a file, which must not be empty.
func Section[T any](tb testing.TB, name, section string) []T {
	tb.Helper()
	var sections map[string]json.RawMessage
	Read(tb, name, &sections)
	var records []T
	if err := json.Unmarshal(sections[section], &records); err != nil || len(records) == 0 {
		tb.Fatalf("test vectors %s: section %q: %v", name, section, err)
	}
	return records
}

// Hex decodes hex with or without 0x.
func Hex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
