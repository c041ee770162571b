package vault

import (
	"maps"
	"slices"
	"testing"

	"latchkey/internal/keys/curve"
)

// TestRotate: after a rotation everything opens as before; who has the old master
// key, and an old row with the data key that it opens, opens nothing.
func TestRotate(t *testing.T) {
	v, issuer := openVault(t, masterOf(1))
	store := newMemory()
	s := session(t, v, issuer, "org", store)
	if _, err := s.CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("seed", 12); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(store.items)

	// The seal was changed: a new master key, and the one before.
	both, _ := openVault(t, masterOf(2), masterOf(1))
	if _, err := both.Rewrap("org", store); err != nil {
		t.Fatal(err)
	}
	secrets, err := both.Rotate("org", store, slices.Collect(maps.Keys(store.items)))
	if err != nil || secrets != len(before)-1 { // all but the data key
		t.Fatalf("%d secrets of %d, %v", secrets, len(before)-1, err)
	}
	if store.items[kindNextDataKey] != nil {
		t.Error("a second data key is left")
	}
	for name, sealed := range before {
		if string(store.items[name]) == string(sealed) {
			t.Errorf("%s was not sealed anew", name)
		}
	}
	again, issuer := openVault(t, masterOf(2))
	now := session(t, again, issuer, "org", store)
	if _, err := now.SignDigest("k", curve.KeySecp256k1, [32]byte{1}); err != nil {
		t.Errorf("with the new master key: %v", err)
	}
	if err := now.CreateSeed("later", 12); err != nil {
		t.Fatal(err)
	}

	// The thief: the old master key, the old row, and what is stored now.
	stolen := newMemory()
	maps.Copy(stolen.items, store.items)
	stolen.items[kindDataKey] = before[kindDataKey]
	thief, own := openVault(t, masterOf(1))
	bad := session(t, thief, own, "org", stolen)
	if _, err := bad.SignDigest("k", curve.KeySecp256k1, [32]byte{1}); err == nil {
		t.Error("the old master key with an old row opens what was sealed since")
	}
}

// TestRotateNothing: an organization without secrets stays as it is, and one that
// cannot be opened is not changed.
func TestRotateNothing(t *testing.T) {
	v, issuer := openVault(t, masterOf(1))
	empty := newMemory()
	if n, err := v.Rotate("org", empty, nil); n != 0 || err != nil || len(empty.items) != 0 {
		t.Errorf("%d, %v, %d rows", n, err, len(empty.items))
	}
	store := newMemory()
	if _, err := session(t, v, issuer, "org", store).CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(store.items)
	other, _ := openVault(t, masterOf(2))
	if _, err := other.Rotate("org", store, slices.Collect(maps.Keys(store.items))); !IsWrongMasterKey(err) {
		t.Errorf("another master key: %v", err)
	}
	if _, err := v.Rotate("org", store, []string{"key/missing"}); err == nil {
		t.Error("a name under which there is nothing")
	}
	if !maps.EqualFunc(before, store.items, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Error("something was changed")
	}
}
