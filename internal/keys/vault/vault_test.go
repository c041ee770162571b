package vault

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"latchkey/internal/keys/vault/bundle"
)

const testOrg = "f9a31c64-d604-42e4-9bef-a773096afad7"

// memory is a ciphertexts that can be told to fail.
type memory struct {
	mu      sync.Mutex
	items   map[string][]byte
	reads   map[string]int
	derived map[string][]byte // nil: what is derived is not remembered
	failing error
}

func newMemory() *memory { return &memory{items: map[string][]byte{}, reads: map[string]int{}} }

func (m *memory) Gone(name string) error { return errors.New("there is no " + name) }

func (m *memory) Sealed(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads[name]++
	return m.items[name], nil
}

func (m *memory) Derived(name string, build func() ([]byte, error)) ([]byte, error) {
	if known := m.derived[name]; known != nil {
		return known, nil
	}
	made, err := build()
	if m.derived != nil && err == nil {
		m.derived[name] = made
	}
	return made, err
}

func (m *memory) Seal(name string, ciphertext []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return m.failing
	}
	m.items[name] = bytes.Clone(ciphertext)
	return nil
}

func (m *memory) Delete(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return m.failing
	}
	delete(m.items, name)
	return nil
}

// fork is a transaction on the ciphertexts: what is written stays in the copy.
func (m *memory) fork() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memory{items: maps.Clone(m.items), reads: map[string]int{}}
}

// fixed is an unsealer of a known key.
type fixed struct {
	name string
	key  [32]byte
}

func (f fixed) Name() string { return f.name }

func (f fixed) Unseal(use func(*[32]byte) error) error { return use(&f.key) }

func masterOf(b byte) fixed {
	return fixed{name: "test", key: [32]byte(bytes.Repeat([]byte{b}, 32))}
}

func openVault(t testing.TB, unsealers ...Unsealer) (*Vault, *Issuer) {
	t.Helper()
	v, c, err := open(unsealers...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v, c
}

// begin opens a vault and a session on a new ciphertexts.
func begin(t testing.TB) (*Session, *memory) {
	t.Helper()
	v, c := openVault(t, masterOf(7))
	ciphertexts := newMemory()
	return session(t, v, c, testOrg, ciphertexts), ciphertexts
}

func session(t testing.TB, v *Vault, issuer *Issuer, org string, ciphertexts CiphertextStore) *Session {
	t.Helper()
	scope := Scope{Organization: org, Activity: "activity", Intent: [32]byte{1}}
	s, err := issuer.Authorize(scope).Begin(scope, ciphertexts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tester is a *testing.T, or that of rapid.
type tester interface {
	Helper()
	Fatal(...any)
}

// clientSeal is what a client does: HPKE as wire.md section 4.1 has it, written
// with the standard library alone.
func clientSeal(t tester, target, plain []byte) []byte {
	t.Helper()
	public, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(target)
	if err != nil {
		t.Fatal(err)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte("turnkey_hpke"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := sender.Seal(slices.Concat(enc, target), plain)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bundle.Encrypted{Enc: enc, Ciphertext: sealed}.Text()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// client is a recipient of exports.
type client struct{ private *ecdh.PrivateKey }

func newClient(t testing.TB) client {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return client{private}
}

func (c client) public() []byte { return c.private.PublicKey().Bytes() }

func (c client) open(enc, ciphertext []byte) ([]byte, error) {
	key, err := hpke.NewDHKEMPrivateKey(c.private)
	if err != nil {
		return nil, err
	}
	r, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte("turnkey_hpke"))
	if err != nil {
		return nil, err
	}
	return r.Open(slices.Concat(enc, c.public()), ciphertext)
}

func importSeed(t testing.TB, s *Session, id, text string) error {
	t.Helper()
	target, err := s.NewImportTarget("target of " + id)
	if err != nil {
		t.Fatal(err)
	}
	return s.ImportSeed(id, "target of "+id, clientSeal(t, target, []byte(text)))
}

var errStore = errors.New("the ciphertexts is broken")
