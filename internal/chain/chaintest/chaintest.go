// Package chaintest loads the shared signing vectors. Only tests import it.
package chaintest

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// path is relative to a package in internal/chain, where its tests run.
const path = "../../../testvectors/signing.json.gz"

// Load reads one section of the vectors.
func Load[T any](tb testing.TB, section string) []T {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		tb.Fatal(err)
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(text, &sections); err != nil {
		tb.Fatal(err)
	}
	var records []T
	if err := json.Unmarshal(sections[section], &records); err != nil {
		tb.Fatal(err)
	}
	if len(records) == 0 {
		tb.Fatalf("the vectors have no section %q", section)
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
