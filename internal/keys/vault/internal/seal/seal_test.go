package seal

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/keys/vault/internal/secret"
)

func dataKey(t testing.TB, pool *secret.Pool, b byte) *Key {
	t.Helper()
	key := pool.Of(bytes.Repeat([]byte{b}, keySize))
	id, err := IDOf(key)
	if err != nil {
		t.Fatal(err)
	}
	k, err := DataKey(key, id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A sealed item opens in its own context and in no other, and not when any bit
// of it has changed.
func TestOpensInOnePlaceOnly(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	key, other := dataKey(t, &pool, 1), dataKey(t, &pool, 2)
	plain := pool.Of([]byte("plain"))
	home := Context{Org: "org", Kind: "key", ID: "id"}
	sealed := key.Seal(home, plain)
	if len(sealed) != plain.Len()+Overhead {
		t.Errorf("%d bytes", len(sealed))
	}
	opened, err := key.Open(home, sealed, &pool)
	if err != nil || string(opened.Raw()) != "plain" {
		t.Fatalf("it does not open: %v", err)
	}
	for name, c := range map[string]Context{
		"organization": {"other", "key", "id"}, "kind": {"org", "seed", "id"}, "id": {"org", "key", "other"},
		"shifted": {"orgk", "ey", "id"}, "empty": {},
	} {
		if _, err := key.Open(c, sealed, &pool); err == nil {
			t.Errorf("it opens for another %s", name)
		}
	}
	if _, err := other.Open(home, sealed, &pool); err == nil {
		t.Error("it opens with another key")
	}
	for i := range sealed {
		for bit := range 8 {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1 << bit
			if _, err := key.Open(home, bad, &pool); err == nil {
				t.Errorf("it opens with bit %d of byte %d changed", bit, i)
			}
		}
	}
	for n := range len(sealed) {
		if _, err := key.Open(home, sealed[:n], &pool); err == nil {
			t.Errorf("the first %d bytes open", n)
		}
	}
	if again := key.Seal(home, plain); bytes.Equal(again, sealed) {
		t.Error("a nonce was used twice")
	}
}

// No two contexts have the same bytes.
func TestContextsAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Context{rapid.String().Draw(t, "org"), rapid.String().Draw(t, "kind"), rapid.String().Draw(t, "id")}
		b := Context{rapid.String().Draw(t, "org2"), rapid.String().Draw(t, "kind2"), rapid.String().Draw(t, "id2")}
		if (a == b) != bytes.Equal(a.bytes(), b.bytes()) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func TestWrappingKeysAreApart(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	master := pool.Of(bytes.Repeat([]byte{9}, keySize))
	id, err := IDOf(master)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Context{Org: "a"}, Context{Org: "b"}
	forA, err := WrappingKey(master, id, a)
	if err != nil {
		t.Fatal(err)
	}
	forB, err := WrappingKey(master, id, b)
	if err != nil {
		t.Fatal(err)
	}
	// Even for the same context the keys differ.
	if _, err := forB.Open(a, forA.Seal(a, pool.New(5)), &pool); err == nil {
		t.Error("two organizations have one wrapping key")
	}
}

func FuzzOpenSealed(f *testing.F) {
	var pool secret.Pool
	key := dataKey(f, &pool, 1)
	home := Context{Org: "org", Kind: "key", ID: "id"}
	good := key.Seal(home, pool.Of([]byte("plain")))
	f.Add(good)
	f.Add(good[:Overhead])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		opened, err := key.Open(home, sealed, &pool)
		if err != nil {
			return
		}
		// The fuzzer cannot seal; it can only have been handed a seed (whose
		// nonce another process drew).
		if string(opened.Raw()) != "plain" || len(sealed) != len(good) {
			t.Errorf("%x opens", sealed)
		}
		opened.Wipe()
	})
}
