package vault

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
)

// A row that was moved to another organization, kind or id does not open, and
// nothing that was altered does.
func TestMovedRowsDoNotOpen(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	here, there := newMemory(), newMemory()
	s := session(t, v, c, testOrg, here)
	other := session(t, v, c, "other", there)
	for _, each := range []*Session{s, other} {
		if _, err := each.CreateKey("k", curve.KeySecp256k1); err != nil {
			t.Fatal(err)
		}
		if err := each.CreateSeed("s", 12); err != nil {
			t.Fatal(err)
		}
	}
	sign := func(s *Session, id string) error {
		_, err := s.SignDigest(id, curve.KeySecp256k1, [32]byte{1})
		return err
	}
	derive := func(s *Session, id string) error { _, err := s.Derive(id, curve.KeyP256, nil); return err }
	for _, tc := range []struct {
		name string
		move func(here, there *memory)
		use  func(here, there *Session) error
	}{
		{
			"to another organization", func(here, there *memory) { there.items["key/k"] = here.items["key/k"] },
			func(_, there *Session) error { return sign(there, "k") },
		},
		{
			"to another organization, with its data key", func(here, there *memory) {
				there.items["key/k"], there.items[kindDataKey] = here.items["key/k"], here.items[kindDataKey]
			},
			func(_, there *Session) error { return sign(there, "k") },
		},
		{
			"to another id", func(here, _ *memory) { here.items["key/k2"] = here.items["key/k"] },
			func(here, _ *Session) error { return sign(here, "k2") },
		},
		{
			"to another kind", func(here, _ *memory) { here.items["seed/k"] = here.items["key/k"] },
			func(here, _ *Session) error { return derive(here, "k") },
		},
		{
			"from another kind", func(here, _ *memory) { here.items["key/s"] = here.items["seed/s"] },
			func(here, _ *Session) error { return sign(here, "s") },
		},
		{
			"a target as a key", func(here, _ *memory) { here.items["target/k"] = here.items["key/k"] },
			func(here, _ *Session) error {
				_, err := here.ImportKey("new", "k", curve.KeyP256, clientSeal(t, newClient(t).public(), []byte("x")))
				return err
			},
		},
		{
			"altered", func(here, _ *memory) { here.items["key/k"][40] ^= 1 },
			func(here, _ *Session) error { return sign(here, "k") },
		},
		{
			"cut short", func(here, _ *memory) { here.items["key/k"] = here.items["key/k"][:30] },
			func(here, _ *Session) error { return sign(here, "k") },
		},
		{
			"another format", func(here, _ *memory) { here.items["key/k"][0] = 2 },
			func(here, _ *Session) error { return sign(here, "k") },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := here.fork(), there.fork()
			for name, item := range a.items {
				a.items[name] = bytes.Clone(item)
			}
			tc.move(a, b)
			for warm, vault := range map[string]func() (*Vault, *Issuer){
				"keys are cached": func() (*Vault, *Issuer) { return v, c },
				"after a restart": func() (*Vault, *Issuer) { return openVault(t, masterOf(1)) },
			} {
				v, c := vault()
				err := tc.use(session(t, v, c, testOrg, a), session(t, v, c, "other", b))
				if err == nil {
					t.Errorf("%s: it opens", warm)
				}
				if _, ok := fault.As(err); ok {
					t.Errorf("%s: a client would read %v", warm, err)
				}
			}
		})
	}
}

func TestWrongMasterKey(t *testing.T) {
	ciphertexts, instance := newMemory(), newMemory()
	v, c := openVault(t, masterOf(1))
	if err := v.Check(instance); err != nil {
		t.Fatal(err)
	}
	if err := v.Check(instance); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if err := session(t, v, c, testOrg, ciphertexts).CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	wrong := masterOf(2)
	wrong.name = "file /etc/latchkey/master.key"
	bad, badIssuer := openVault(t, wrong)
	const want = "does not open this database; it needs the one with the fingerprint "
	for name, call := range map[string]func() error{
		"Check":       func() error { return bad.Check(instance) },
		"server keys": func() error { _, err := bad.LoadOrCreateServerKeys(instance); return err },
		"log keys":    func() error { _, err := bad.LoadOrCreateLogKeys(instance, "1", testOrigin); return err },
		"Derive": func() error {
			_, err := session(t, bad, badIssuer, testOrg, ciphertexts).Derive("s", curve.KeyP256, nil)
			return err
		},
		"CreateSeed": func() error { return session(t, bad, badIssuer, testOrg, ciphertexts).CreateSeed("s2", 12) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	both, _ := openVault(t, wrong, masterOf(3))
	if err := both.Check(instance); err == nil || !strings.Contains(err.Error(), "neither the master key from file") {
		t.Errorf("two wrong keys: %v", err)
	}
}

func TestUnusableMasterKeys(t *testing.T) {
	if _, _, err := Open(masterOf(0)); err == nil || !strings.Contains(err.Error(), "zeros") {
		t.Errorf("zeros: %v", err)
	}
	if _, _, err := Open(broken{errStore}); !errors.Is(err, errStore) {
		t.Errorf("an unsealer that fails: %v", err)
	}
	if _, _, err := Open(broken{}); err == nil {
		t.Error("an unsealer that provides nothing")
	}
	if _, _, err := OpenBoth(masterOf(1), broken{errStore}); !errors.Is(err, errStore) {
		t.Errorf("a previous key that fails: %v", err)
	}
}

// broken is an unsealer that never calls back.
type broken struct{ err error }

func (broken) Name() string { return "broken" }

func (b broken) Unseal(func(*[32]byte) error) error { return b.err }

// A rewrap of many organizations is killed half-way and started over. At every
// moment each server opens everything: one with the old key alone, one with both,
// and, when all have both, one with the new key alone.
func TestRewrap(t *testing.T) {
	type node struct {
		vault  *Vault
		issuer *Issuer
	}
	nodes := map[string]node{}
	for name, masters := range map[string][]Unsealer{"old": {masterOf(1)}, "both": {masterOf(2), masterOf(1)}, "new": {masterOf(2)}} {
		v, c := openVault(t, masters...)
		nodes[name] = node{v, c}
	}
	orgs := []string{Instance}
	shelves := map[string]*memory{Instance: newMemory()}
	serverKeys, err := nodes["old"].vault.LoadOrCreateServerKeys(shelves[Instance])
	if err != nil {
		t.Fatal(err)
	}
	create := func(by, org string) {
		t.Helper()
		if shelves[org] == nil {
			orgs, shelves[org] = append(orgs, org), newMemory()
		}
		if _, err := session(t, nodes[by].vault, nodes[by].issuer, org, shelves[org]).CreateKey("k", curve.KeySecp256k1); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		create("old", fmt.Sprint("org", i))
	}
	orgs, shelves["empty"] = append(orgs, "empty"), newMemory()

	seeds := 0
	open := func(by, org string) error {
		v := nodes[by].vault
		v.ring.wipe() // no key is remembered
		if org == Instance {
			again, err := v.LoadOrCreateServerKeys(shelves[org])
			if err == nil && again.SignerPublicKey() != serverKeys.SignerPublicKey() {
				err = errors.New("other server keys")
			}
			return err
		}
		s := session(t, v, nodes[by].issuer, org, shelves[org])
		if _, err := s.SignDigest("k", curve.KeySecp256k1, [32]byte{1}); err != nil {
			return err
		}
		seeds++
		return s.CreateSeed(fmt.Sprint("seed", seeds), 12) // it can seal, too
	}
	opened := func(when string, by ...string) {
		t.Helper()
		for _, name := range by {
			for _, org := range orgs {
				if len(shelves[org].items) == 0 {
					continue
				}
				if err := open(name, org); err != nil {
					t.Errorf("%s, %s, %s: %v", when, name, org, err)
				}
			}
		}
	}
	rewrap := func(by string) (changed int, err error) {
		for _, org := range orgs {
			did, err := nodes[by].vault.Rewrap(org, shelves[org])
			if err != nil {
				return changed, err
			}
			if did {
				changed++
			}
		}
		return changed, nil
	}
	shelves["org4"].failing = errStore // the power goes out here
	if changed, err := rewrap("both"); !errors.Is(err, errStore) || changed != 5 {
		t.Fatalf("the first run: %d, %v", changed, err)
	}
	shelves["org4"].failing = nil
	opened("half-way", "old", "both")
	for _, want := range []int{5, 0} {
		if changed, err := rewrap("both"); err != nil || changed != want {
			t.Fatalf("a further run: %d, %v", changed, err)
		}
	}
	create("both", "empty")
	opened("under both", "old", "both", "new")

	// From here on every server knows the new key.
	shelves["org4"].failing = errStore
	if changed, err := rewrap("new"); !errors.Is(err, errStore) || changed != 5 {
		t.Fatalf("the first run with the new key: %d, %v", changed, err)
	}
	shelves["org4"].failing = nil
	opened("half-way to the new key", "both", "new")
	if changed, err := rewrap("new"); err != nil || changed != 6 {
		t.Fatalf("a further run with the new key: %d, %v", changed, err)
	}
	create("both", "late") // by a server that is restarted last
	opened("with the new key", "both", "new")
	for _, by := range []string{"both", "new", "new"} {
		want := 0
		if by == "new" && shelves["late"].items[kindNextDataKey] != nil {
			want = 1
		}
		if changed, err := rewrap(by); err != nil || changed != want {
			t.Fatalf("%s at last: %d, %v", by, changed, err)
		}
	}
	opened("at last", "both", "new")
	for _, org := range orgs {
		if err := open("old", org); err == nil {
			t.Errorf("the old key still opens %s", org)
		}
	}
}

// A server with the old key alone leaves what another one prepares.
func TestRewrapLeavesWhatOthersDo(t *testing.T) {
	from, clerk := openVault(t, masterOf(1))
	both, _ := openVault(t, masterOf(2), masterOf(1))
	ciphertexts := newMemory()
	if err := session(t, from, clerk, testOrg, ciphertexts).CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	if changed, err := both.Rewrap(testOrg, ciphertexts); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if changed, err := from.Rewrap(testOrg, ciphertexts); changed || err != nil || ciphertexts.items[kindNextDataKey] == nil {
		t.Errorf("the old key: %v, %v", changed, err)
	}
	// A second replacement that begins before the first has ended.
	third, clerk3 := openVault(t, masterOf(3), masterOf(2))
	if changed, err := third.Rewrap(testOrg, ciphertexts); !changed || err != nil {
		t.Fatal(changed, err)
	}
	for _, v := range []*Vault{both, third} {
		if changed, err := v.Rewrap(testOrg, ciphertexts); changed && v == third || err != nil {
			t.Errorf("after the next replacement began: %v, %v", changed, err)
		}
	}
	if err := session(t, third, clerk3, testOrg, ciphertexts).CreateSeed("s2", 12); err != nil {
		t.Error(err)
	}
}

func TestRewrapRefusesWhatItCannotOpen(t *testing.T) {
	from, clerk := openVault(t, masterOf(1))
	both, _ := openVault(t, masterOf(2), masterOf(1))
	wrong, _ := openVault(t, masterOf(2), masterOf(3))
	ciphertexts := newMemory()
	if err := session(t, from, clerk, testOrg, ciphertexts).CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(ciphertexts.items[kindDataKey])
	if _, err := wrong.Rewrap(testOrg, ciphertexts); err == nil {
		t.Error("a rewrap with a wrong old key")
	}
	if _, err := both.Rewrap("another organization", ciphertexts); err == nil {
		t.Error("a rewrap for a wrong organization")
	}
	if _, err := from.Rewrap("another organization", ciphertexts); err == nil {
		t.Error("a data key of another organization is left alone")
	}
	if !bytes.Equal(before, ciphertexts.items[kindDataKey]) || ciphertexts.items[kindNextDataKey] != nil {
		t.Error("a refused rewrap changed the ciphertexts")
	}
	ciphertexts.items[kindDataKey] = []byte("x")
	if _, err := both.Rewrap(testOrg, ciphertexts); err == nil {
		t.Error("a rewrap of rubbish")
	}
}

// The ring is bounded, and what it dropped is read again.
func TestKeyringIsBounded(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	if v.ring.data.most != maxKeys {
		t.Errorf("the bound is %d", v.ring.data.most)
	}
	const most = 20
	v.ring.data.most = most
	shelves := map[string]*memory{}
	for i := range 5 * most {
		org := fmt.Sprint("org", i)
		shelves[org] = newMemory()
		if _, err := session(t, v, c, org, shelves[org]).CreateKey("k", curve.KeyEd25519); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(v.ring.data.all); n != most {
		t.Errorf("%d keys are kept", n)
	}
	for org, ciphertexts := range shelves {
		if _, err := session(t, v, c, org, ciphertexts).SignMessage("k", nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(v.ring.data.all); n != most {
		t.Errorf("%d keys are kept", n)
	}
}

// Everything at once, for the race detector: signing, creating, dropping of
// keys from the ring, and closing.
func TestConcurrency(t *testing.T) {
	v, c := openVault(t, masterOf(1))
	serverKeys, err := v.LoadOrCreateServerKeys(newMemory())
	if err != nil {
		t.Fatal(err)
	}
	shelves := make([]*memory, 4)
	shared := make([]*Session, len(shelves))
	for i := range shelves {
		shelves[i] = newMemory()
		shared[i] = session(t, v, c, fmt.Sprint("org", i), shelves[i])
		if _, err := shared[i].CreateKey("k", curve.KeySecp256k1); err != nil {
			t.Fatal(err)
		}
		if err := shared[i].CreateSeed("s", 12); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	var done sync.WaitGroup
	for worker := range 8 {
		done.Add(1)
		group.Go(func() {
			for round := range 30 {
				i := (worker + round) % len(shelves)
				own := session(t, v, c, fmt.Sprint("org", i), shelves[i])
				_, e1 := own.SignDigest("k", curve.KeySecp256k1, [32]byte{byte(round)})
				_, e2 := shared[i].SignDigest("k", curve.KeySecp256k1, [32]byte{byte(round)})
				_, e3 := own.StoreDerived(fmt.Sprint(worker, "-", round), "s", curve.KeyEd25519, []uint32{uint32(round)})
				_, e4 := serverKeys.SignBundle([]byte("x"))
				if worker == 0 {
					v.ring.data.mu.Lock() // as if the ring had been full
					for name, key := range v.ring.data.all {
						key.Wipe()
						delete(v.ring.data.all, name)
					}
					v.ring.data.mu.Unlock()
				}
				if err := errors.Join(e1, e2, e3, e4); err != nil && !errors.Is(err, errClosed) {
					t.Error(err)
				}
			}
			done.Done()
			for { // until the vault is closed
				if _, err := shared[0].SignDigest("k", curve.KeySecp256k1, [32]byte{}); err != nil {
					if !errors.Is(err, errClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	done.Wait()
	v.Close()
	group.Wait()
}

// Goroutines that share a session do not make two data keys.
func TestOneDataKeyForConcurrentCreation(t *testing.T) {
	for range 20 {
		s, ciphertexts := begin(t)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if _, err := s.CreateKey(fmt.Sprint(i), curve.KeyEd25519); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		fresh, c := openVault(t, masterOf(7))
		again := session(t, fresh, c, testOrg, ciphertexts)
		for i := range 8 {
			if _, err := again.SignMessage(fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}
