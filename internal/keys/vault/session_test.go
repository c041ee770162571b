package vault

import (
	"bytes"
	"strings"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
)

func TestWarrants(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	_, other := openVault(t, masterOf(1))
	shelf := newMemory()
	w := c.Warrant(testOrg, "activity", [32]byte{1})
	spentOne := c.Warrant(testOrg, "activity", [32]byte{1})
	if err := spentOne.Spend(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		warrant *Warrant
		shelf   CiphertextStore
		want    string // empty: accepted
	}{
		{"good", w, shelf, ""},
		{"again, before it is spent", w, shelf, ""},
		{"nil", nil, shelf, "no warrant"},
		{"zero", &Warrant{}, shelf, "not of this vault"},
		{"foreign, though the master key is the same", other.Warrant(testOrg, "a", [32]byte{}), shelf, "not of this vault"},
		{"spent", spentOne, shelf, "is spent"},
		{"for no organization", c.Warrant("", "a", [32]byte{}), shelf, "no organization"},
		{"for the instance", c.Warrant(Instance, "a", [32]byte{}), shelf, "no organization"},
		{"without a shelf", w, nil, "no shelf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := v.Begin(tc.warrant, tc.shelf)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Begin: %v, want %q", err, tc.want)
			}
		})
	}
	if w.Org() != testOrg || w.Activity() != "activity" || w.Intent() != [32]byte{1} {
		t.Errorf("the warrant does not say what it was written for: %v", w)
	}
}

func TestWarrantIsForOneExecution(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	w := c.Warrant(testOrg, "activity", [32]byte{})
	first, err := v.Begin(w, newMemory())
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.Begin(w, newMemory()) // the transaction ran into a conflict
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.CreateKey("k", curve.KeyP256); err == nil || !strings.Contains(err.Error(), "newer attempt") {
		t.Errorf("the session of an attempt that was given up: %v", err)
	}
	if _, err := second.CreateKey("k", curve.KeyP256); err != nil {
		t.Error(err)
	}
	if err := w.Spend(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.SignDigest("k", curve.KeyP256, [32]byte{}); err == nil || !strings.Contains(err.Error(), "spent") {
		t.Errorf("a session after its warrant was spent: %v", err)
	}
	copied := *w
	if err := copied.Spend(); err == nil {
		t.Error("a copy of a spent warrant can be spent")
	}
	if _, err := v.Begin(&copied, newMemory()); err == nil {
		t.Error("a copy of a spent warrant begins a session")
	}
	if err := (*Warrant)(nil).Spend(); err == nil {
		t.Error("no warrant can be spent")
	}
}

func TestClosedVaultRefuses(t *testing.T) {
	s, shelf := begin(t)
	identity, err := s.vault.LoadOrCreateServerKeys(newMemory())
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
	if _, err := identity.SignBundle(nil); err == nil {
		t.Error("a closed vault signs")
	}
	if err := s.vault.Check(shelf); err == nil {
		t.Error("a closed vault checks")
	}
	if _, err := Rewrap(s.vault, s.vault, testOrg, shelf); err == nil {
		t.Error("a closed vault rewraps")
	}
	if _, err := s.vault.LoadOrCreateServerKeys(shelf); err == nil {
		t.Error("a closed vault has an identity")
	}
}

// Every method of a session asks first whether it may do anything.
func TestEveryMethodNeedsTheWarrant(t *testing.T) {
	s, _ := begin(t)
	if err := s.warrant.Spend(); err != nil {
		t.Fatal(err)
	}
	public := newClient(t).public()
	for name, call := range map[string]func() error{
		"CreateSeed":       func() error { return s.CreateSeed("a", 12) },
		"ImportSeed":       func() error { return s.ImportSeed("a", "t", nil) },
		"Derive":           func() error { _, err := s.Derive("a", curve.KeyP256, nil); return err },
		"StoreDerived":     func() error { _, err := s.StoreDerived("k", "a", curve.KeyP256, nil); return err },
		"CreateKey":        func() error { _, err := s.CreateKey("k", curve.KeyP256); return err },
		"ImportKey":        func() error { _, err := s.ImportKey("k", "t", curve.KeyP256, nil); return err },
		"NewImportTarget":  func() error { _, err := s.NewImportTarget("t"); return err },
		"DropImportTarget": func() error { return s.DropImportTarget("t") },
		"SignDigest":       func() error { _, err := s.SignDigest("k", curve.KeyP256, [32]byte{}); return err },
		"SignMessage":      func() error { _, err := s.SignMessage("k", nil); return err },
		"SignTaproot":      func() error { _, err := s.SignTaproot("k", [32]byte{}); return err },
		"ExportKey":        func() error { _, _, err := s.ExportKey("k", public); return err },
		"ExportSeed":       func() error { _, _, err := s.ExportSeed("a", "", public); return err },
		"NewCredential":    func() error { _, _, err := s.NewCredential(public); return err },
		"Destroy":          func() error { return s.Destroy("k") },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "is spent") {
			t.Errorf("%s with a spent warrant: %v", name, err)
		}
	}
}

func TestAbsentAndTakenNames(t *testing.T) {
	s, shelf := begin(t)
	if _, err := s.CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("s", 24); err != nil {
		t.Fatal(err)
	}
	before := shelf.fork()
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
		if !bytes.Equal(shelf.items[name], sealed) {
			t.Errorf("%s was changed by a refused operation", name)
		}
	}
}

func TestDestroy(t *testing.T) {
	s, shelf := begin(t)
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
	if len(shelf.items) != 2 || shelf.items["key/b"] == nil {
		t.Errorf("left: %d items, want the data key and key/b", len(shelf.items))
	}
	if _, err := s.SignDigest("a", curve.KeySecp256k1, [32]byte{}); err == nil {
		t.Error("a destroyed key signs")
	}
}

// A data key that was made in a transaction which failed must never seal
// anything in a later one.
func TestFailedTransactionLosesItsDataKey(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	shelf := newMemory()
	w := c.Warrant(testOrg, "activity", [32]byte{})
	for range 3 { // each attempt sees the shelf without a data key
		s, err := v.Begin(w, shelf.fork())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CreateSeed("s", 12); err != nil {
			t.Fatal(err)
		}
	}
	committed := shelf.fork()
	s, err := v.Begin(w, committed)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	want, err := s.Derive("s", curve.KeyEd25519, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh, clerk := openVault(t, masterOf(1)) // knows only what was committed
	got, err := session(t, fresh, clerk, testOrg, committed).Derive("s", curve.KeyEd25519, nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("after a restart: %x, %v, want %x", got, err, want)
	}
}

// Signing reads one item: the data key is found by the id in it.
func TestSigningReadsOneItem(t *testing.T) {
	s, shelf := begin(t)
	if _, err := s.CreateKey("k", curve.KeySecp256k1); err != nil {
		t.Fatal(err)
	}
	clear(shelf.reads)
	again := session(t, s.vault, &Issuer{s.vault}, testOrg, shelf)
	if _, err := again.SignDigest("k", curve.KeySecp256k1, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if len(shelf.reads) != 1 || shelf.reads["key/k"] != 1 {
		t.Errorf("reads: %v", shelf.reads)
	}
}

func TestShelfErrorsAreReturned(t *testing.T) {
	s, shelf := begin(t)
	shelf.failing = errShelf
	if err := s.CreateSeed("s", 12); err == nil {
		t.Error("a seed that was not kept")
	}
	if _, err := s.CreateKey("k", curve.KeyP256); err == nil {
		t.Error("a key that was not kept")
	}
	if _, err := s.vault.LoadOrCreateServerKeys(shelf); err == nil {
		t.Error("an identity that was not kept")
	}
	shelf.failing = nil
	if _, err := s.CreateKey("k", curve.KeyP256); err != nil {
		t.Fatal(err)
	}
	shelf.failing = errShelf
	if err := s.Destroy("k"); err == nil {
		t.Error("a key that was not deleted")
	}
}
