package vault

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
)

var testScope = Scope{Organization: testOrg, Activity: "activity", Intent: [32]byte{1}}

// An authorization opens a session for exactly what it was made for, once.
func TestAuthorization(t *testing.T) {
	_, issuer := openVault(t, masterOf(1))
	asked := func(change func(*Scope)) Scope {
		scope := testScope
		change(&scope)
		return scope
	}
	for _, tc := range []struct {
		name       string
		authorized *Authorization
		asked      Scope
		store      CiphertextStore
		want       string // empty: accepted
	}{
		{"what was authorized", issuer.Authorize(testScope), testScope, newMemory(), ""},
		{"nothing was authorized", nil, testScope, newMemory(), "not authorized"},
		{"zero value", &Authorization{}, testScope, newMemory(), "not authorized"},
		{"another organization", issuer.Authorize(testScope), asked(func(s *Scope) { s.Organization = "other" }), newMemory(), `is for organization "` + testOrg},
		{"another activity", issuer.Authorize(testScope), asked(func(s *Scope) { s.Activity = "other" }), newMemory(), `is for activity "activity"`},
		{"another intent", issuer.Authorize(testScope), asked(func(s *Scope) { s.Intent[31]++ }), newMemory(), "another intent"},
		{"no organization", issuer.Authorize(Scope{Activity: "a"}), Scope{Activity: "a"}, newMemory(), "must name"},
		{"the instance", issuer.Authorize(Scope{Organization: Instance, Activity: "a"}), Scope{Organization: Instance, Activity: "a"}, newMemory(), "must name"},
		{"no activity", issuer.Authorize(Scope{Organization: testOrg}), Scope{Organization: testOrg}, newMemory(), "must name"},
		{"no ciphertext store", issuer.Authorize(testScope), testScope, nil, "no ciphertext store"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := tc.authorized.Begin(tc.asked, tc.store)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Begin: %v, want %q", err, tc.want)
			}
			if (s == nil) != (err != nil) {
				t.Errorf("session %v with error %v", s, err)
			}
		})
	}
}

func TestAuthorizationIsRedeemedOnce(t *testing.T) {
	_, issuer := openVault(t, masterOf(1))
	authorized := issuer.Authorize(testScope)
	copied := *authorized
	wrong := testScope
	wrong.Activity = "other"
	if _, err := authorized.Begin(wrong, newMemory()); err == nil {
		t.Fatal("another activity was accepted")
	}
	if _, err := authorized.Begin(testScope, newMemory()); err != nil {
		t.Fatalf("a refused request redeemed the authorization: %v", err)
	}
	for name, a := range map[string]*Authorization{"the same": authorized, "a copy": &copied} {
		if _, err := a.Begin(testScope, newMemory()); err == nil || !strings.Contains(err.Error(), "used before") {
			t.Errorf("%s, a second time: %v", name, err)
		}
	}
}

// A session in a new organization sees nothing of one that is not new, and ends
// with the session that opened it.
func TestNewOrganization(t *testing.T) {
	v, issuer := openVault(t, masterOf(1))
	existing := newMemory()
	if _, err := session(t, v, issuer, "existing", existing).CreateKey("k", curve.KeyP256); err != nil {
		t.Fatal(err)
	}
	s := session(t, v, issuer, testOrg, newMemory())
	for _, org := range []string{"", Instance, testOrg} {
		if _, err := s.NewOrganization(org, newMemory()); err == nil {
			t.Errorf("%q was accepted as a new organization", org)
		}
	}
	taken, err := s.NewOrganization("existing", existing)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"signing":  func() error { _, err := taken.SignDigest("k", curve.KeyP256, [32]byte{}); return err },
		"creating": func() error { _, err := taken.CreateKey("k2", curve.KeyP256); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "not new") {
			t.Errorf("%s in an organization that has keys: %v", name, err)
		}
	}
	child, err := s.NewOrganization("child", newMemory())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.CreateKey("k", curve.KeyP256); err != nil {
		t.Fatal(err)
	}
	if _, err := child.SignDigest("k", curve.KeyP256, [32]byte{}); err != nil {
		t.Errorf("a key that was created in the session: %v", err)
	}
	s.End()
	if _, err := child.SignDigest("k", curve.KeyP256, [32]byte{}); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("the session of a new organization after its parent's has ended: %v", err)
	}
	if _, err := s.NewOrganization("late", newMemory()); err == nil {
		t.Error("a session that has ended opens another")
	}
}

func TestClosedVaultRefuses(t *testing.T) {
	s, ciphertexts := begin(t)
	serverKeys, err := s.vault.LoadOrCreateServerKeys(newMemory())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	s.vault.Close()
	s.vault.Close() // a second time does nothing
	if _, err := s.Derive("s", curve.KeyEd25519, nil); err == nil {
		t.Error("a closed vault derives")
	}
	if _, err := serverKeys.SignBundle(nil); err == nil {
		t.Error("a closed vault signs")
	}
	if err := s.vault.Check(ciphertexts); err == nil {
		t.Error("a closed vault checks")
	}
	if _, err := s.vault.Rewrap(testOrg, ciphertexts); err == nil {
		t.Error("a closed vault rewraps")
	}
	if _, err := s.vault.LoadOrCreateServerKeys(ciphertexts); err == nil {
		t.Error("a closed vault has server keys")
	}
}

// Every method of a session asks first whether it may do anything.
func TestNoMethodAfterTheEnd(t *testing.T) {
	s, _ := begin(t)
	s.End()
	public := newClient(t).public()
	for name, call := range map[string]func() error{
		"CreateSeed":        func() error { return s.CreateSeed("a", 12) },
		"ImportSeed":        func() error { return s.ImportSeed("a", "t", nil) },
		"Derive":            func() error { _, err := s.Derive("a", curve.KeyP256, nil); return err },
		"StoreDerived":      func() error { _, err := s.StoreDerived("k", "a", curve.KeyP256, nil); return err },
		"CreateKey":         func() error { _, err := s.CreateKey("k", curve.KeyP256); return err },
		"ImportKey":         func() error { _, err := s.ImportKey("k", "t", curve.KeyP256, nil); return err },
		"NewImportTarget":   func() error { _, err := s.NewImportTarget("t"); return err },
		"NewMessageTarget":  func() error { _, err := s.NewMessageTarget("t"); return err },
		"OpenMessageBundle": func() error { _, err := s.OpenMessageBundle("t", nil); return err },
		"DropImportTarget":  func() error { return s.DropImportTarget("t") },
		"SignDigest":        func() error { _, err := s.SignDigest("k", curve.KeyP256, [32]byte{}); return err },
		"SignMessage":       func() error { _, err := s.SignMessage("k", nil); return err },
		"SignTaproot":       func() error { _, err := s.SignTaproot("k", [32]byte{}); return err },
		"SignSchnorr":       func() error { _, err := s.SignSchnorr("k", [32]byte{}); return err },
		"ExportKey":         func() error { _, _, err := s.ExportKey("k", public); return err },
		"ExportSeed":        func() error { _, _, err := s.ExportSeed("a", "", public); return err },
		"ImportSecret":      func() error { return s.ImportSecret("s", "t", nil) },
		"ExportSecret":      func() error { _, _, err := s.ExportSecret("s", public); return err },
		"NewCredential":     func() error { _, _, err := s.NewCredential(public); return err },
		"Destroy":           func() error { return s.Destroy("k") },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("%s after the end of the session: %v", name, err)
		}
	}
}

func TestAbsentAndTakenNames(t *testing.T) {
	s, ciphertexts := begin(t)
	if _, err := s.CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("s", 24); err != nil {
		t.Fatal(err)
	}
	before := ciphertexts.fork()
	for name, call := range map[string]func() error{
		"no such key":       func() error { _, err := s.SignDigest("x", curve.KeySecp256k1, [32]byte{}); return err },
		"no such seed":      func() error { _, err := s.Derive("x", curve.KeySecp256k1, nil); return err },
		"a seed is no key":  func() error { _, err := s.SignDigest("s", curve.KeySecp256k1, [32]byte{}); return err },
		"other curve":       func() error { _, err := s.SignDigest("k", curve.KeyP256, [32]byte{}); return err },
		"no message key":    func() error { _, err := s.SignMessage("k", nil); return err },
		"no digest key":     func() error { _, err := s.SignDigest("k", curve.KeyEd25519, [32]byte{}); return err },
		"unknown curve":     func() error { _, err := s.SignDigest("k", "CURVE", [32]byte{}); return err },
		"new unknown curve": func() error { _, err := s.CreateKey("k2", "CURVE"); return err },
		"derive no curve":   func() error { _, err := s.Derive("s", "CURVE", nil); return err },
		"taken key":         func() error { _, err := s.CreateKey("k", curve.KeySecp256k1); return err },
		"taken seed":        func() error { return s.CreateSeed("s", 12) },
		"taken by derived":  func() error { _, err := s.StoreDerived("k", "s", curve.KeyP256, nil); return err },
		"empty id":          func() error { _, err := s.CreateKey("", curve.KeyP256); return err },
		"NUL":               func() error { _, err := s.CreateKey("a\x00b", curve.KeyP256); return err },
		"not UTF-8":         func() error { _, err := s.CreateKey("\xff", curve.KeyP256); return err },
		"destroy nothing":   func() error { return s.Destroy("x") },
	} {
		err := call()
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, ok := fault.As(err); ok {
			t.Errorf("%s: a client would read %v", name, err)
		}
	}
	if _, ok := fault.As(s.CreateSeed("odd", 13)); !ok {
		t.Error("13 words are not refused as the client's mistake")
	}
	for name, sealed := range before.items {
		if !bytes.Equal(ciphertexts.items[name], sealed) {
			t.Errorf("%s was changed by a refused operation", name)
		}
	}
}

func TestDestroy(t *testing.T) {
	s, ciphertexts := begin(t)
	for _, id := range []string{"a", "b"} {
		if _, err := s.CreateKey(id, curve.KeySecp256k1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateSeed("c", 12); err != nil {
		t.Fatal(err)
	}
	if err := s.Destroy("a", "c"); err != nil {
		t.Fatal(err)
	}
	if len(ciphertexts.items) != 2 || ciphertexts.items["key/b"] == nil {
		t.Errorf("left: %d items, want the data key and key/b", len(ciphertexts.items))
	}
	if _, err := s.SignDigest("a", curve.KeySecp256k1, [32]byte{}); err == nil {
		t.Error("a destroyed key signs")
	}
}

// A data key that was made in a transaction which failed must never seal
// anything in a later one.
func TestFailedTransactionLosesItsDataKey(t *testing.T) {
	v, issuer := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	for range 3 { // each attempt sees the store without a data key
		if err := session(t, v, issuer, testOrg, ciphertexts.fork()).CreateSeed("s", 12); err != nil {
			t.Fatal(err)
		}
	}
	committed := ciphertexts.fork()
	s := session(t, v, issuer, testOrg, committed)
	if err := s.CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	want, err := s.Derive("s", curve.KeyEd25519, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh, issuer := openVault(t, masterOf(1)) // knows only what was committed
	got, err := session(t, fresh, issuer, testOrg, committed).Derive("s", curve.KeyEd25519, nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("after a restart: %x, %v, want %x", got, err, want)
	}
}

// Signing reads one item: the data key is found by the id in it.
func TestSigningReadsOneItem(t *testing.T) {
	s, ciphertexts := begin(t)
	if _, err := s.CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	clear(ciphertexts.reads)
	again := session(t, s.vault, &Issuer{s.vault}, testOrg, ciphertexts)
	if _, err := again.SignDigest("k", curve.KeySecp256k1, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if len(ciphertexts.reads) != 1 || ciphertexts.reads["key/k"] != 1 {
		t.Errorf("reads: %v", ciphertexts.reads)
	}
}

func TestStoreErrorsAreReturned(t *testing.T) {
	s, ciphertexts := begin(t)
	ciphertexts.failing = errStore
	if err := s.CreateSeed("s", 12); err == nil {
		t.Error("a seed that was not kept")
	}
	if _, err := s.CreateKey("k", curve.KeyP256); err == nil {
		t.Error("a key that was not kept")
	}
	if _, err := s.vault.LoadOrCreateServerKeys(ciphertexts); err == nil {
		t.Error("server keys that were not kept")
	}
	if _, err := s.vault.LoadOrCreateLogKeys(ciphertexts, "1", testOrigin); err == nil {
		t.Error("log keys that were not kept")
	}
	ciphertexts.failing = nil
	if _, err := s.CreateKey("k", curve.KeyP256); err != nil {
		t.Fatal(err)
	}
	ciphertexts.failing = errStore
	if err := s.Destroy("k"); err == nil {
		t.Error("a key that was not deleted")
	}
}

// Keys below the same node are derived without the seed, from what is of no use
// elsewhere.
func TestNodes(t *testing.T) {
	v, issuer := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	ciphertexts.derived = map[string][]byte{}
	s := session(t, v, issuer, testOrg, ciphertexts)
	for _, id := range []string{"s", "other"} {
		if err := s.CreateSeed(id, 12); err != nil {
			t.Fatal(err)
		}
	}
	forgetful := session(t, v, issuer, testOrg, ciphertexts.fork())
	account := func(last uint32) []uint32 { return []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, last} }
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		clear(ciphertexts.reads)
		for i := range uint32(4) {
			last := i | i<<31 // some are hardened
			got, err := s.StoreDerived(fmt.Sprint(kc, i), "s", kc, account(last))
			if err != nil {
				t.Fatal(err)
			}
			if want, err := forgetful.Derive("s", kc, account(last)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d: %x, and %x without what was remembered (%v)", kc, i, got, want, err)
			}
		}
		if n := ciphertexts.reads["seed/s"]; n != 1 {
			t.Errorf("%s: the seed was read %d times", kc, n)
		}
	}
	if _, err := s.Derive("other", curve.KeySecp256k1, account(0)); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(ciphertexts.derived))
	if len(names) != 4 {
		t.Fatalf("remembered are %q", names)
	}
	of := func(seed string) string {
		return "node/" + seed + " " + string(curve.KeySecp256k1) + " m/44'/60'/0'/0"
	}
	ciphertexts.derived[of("s")] = ciphertexts.derived[of("other")]
	if public, err := s.Derive("s", curve.KeySecp256k1, account(9)); err == nil {
		t.Errorf("the node of another seed was taken: %x", public)
	}
}
