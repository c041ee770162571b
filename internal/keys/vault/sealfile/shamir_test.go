package sealfile

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/keys/vault/internal/secret"
)

func TestField(t *testing.T) {
	// FIPS 197, section 4.2: the one product that it computes.
	if got := multiply(0x57, 0x83); got != 0xc1 {
		t.Errorf("57 × 83 = %02x, want c1", got)
	}
	for a := 1; a < 256; a++ {
		if got := multiply(byte(a), inverse(byte(a))); got != 1 {
			t.Errorf("%02x × its inverse = %02x", a, got)
		}
	}
}

// TestShamir: any threshold of the shares give the secret back, in any order, and
// more than are needed do too.
func TestShamir(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &secret.Pool{}
		defer pool.Close()
		people := rapid.IntRange(2, MaxPeople).Draw(t, "people")
		threshold := rapid.IntRange(2, people).Draw(t, "threshold")
		plain := rapid.SliceOfN(rapid.Byte(), scalarSize, scalarSize).Draw(t, "secret")
		shares := split(pool, pool.Of(bytes.Clone(plain)), threshold, people)
		some := map[byte]*secret.Bytes{}
		for _, i := range rapid.Permutation(indexes(people)).Draw(t, "who")[:rapid.IntRange(threshold, people).Draw(t, "how many")] {
			some[byte(i+1)] = shares[i]
		}
		got, err := combine(pool, some)
		if err != nil || !bytes.Equal(got.Raw(), plain) {
			t.Fatalf("%x, %v; want %x", got.Raw(), err, plain)
		}
	})
}

// TestTooFew: one share less than needed fits every secret equally well: for each
// value of a byte of the secret there is a missing share that gives it.
func TestTooFew(t *testing.T) {
	pool := &secret.Pool{}
	defer pool.Close()
	shares := split(pool, pool.Random(1), 3, 5)
	seen := map[byte]bool{}
	for guess := range 256 {
		got, err := combine(pool, map[byte]*secret.Bytes{1: shares[0], 4: shares[3], 5: pool.Of([]byte{byte(guess)})})
		if err != nil {
			t.Fatal(err)
		}
		seen[got.Raw()[0]] = true
	}
	if len(seen) != 256 {
		t.Errorf("two of three shares leave %d of 256 values", len(seen))
	}
}

func TestCombineNothing(t *testing.T) {
	pool := &secret.Pool{}
	defer pool.Close()
	for name, shares := range map[string]map[byte]*secret.Bytes{
		"none":         {},
		"index 0":      {0: pool.Random(32), 1: pool.Random(32)},
		"unequal size": {1: pool.Random(32), 2: pool.Random(31)},
	} {
		if _, err := combine(pool, shares); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
