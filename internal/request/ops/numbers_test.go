package ops_test

import (
	"encoding/asn1"
	"math/big"
	"testing"
)

func bigOf(b []byte) *big.Int { return new(big.Int).SetBytes(b) }

// derParts are the two numbers of a signature, 32 bytes each.
func derParts(t testing.TB, der []byte) (r, s []byte) {
	t.Helper()
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		t.Fatal(err)
	}
	return signature.R.FillBytes(make([]byte, 32)), signature.S.FillBytes(make([]byte, 32))
}
