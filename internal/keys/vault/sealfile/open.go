package sealfile

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/seal"
	"latchkey/internal/keys/vault/internal/secret"
)

// Opened is a seal with the master key in memory that is locked where the system
// allows it. Close forgets the key.
type Opened struct {
	*Seal
	pool     *secret.Pool
	by       string // the recipient that opened it
	identity age.Identity
	master   *secret.Bytes
	previous *secret.Bytes // nil: there is none
}

// By is the recipient that opened the seal.
func (o *Opened) By() string { return o.by }

// Close wipes the keys.
func (o *Opened) Close() { o.pool.Close() }

// String keeps the fields out of logs.
func (*Opened) String() string { return "[seal]" }

// GoString keeps the fields out of logs.
func (*Opened) GoString() string { return "[seal]" }

// Current provides the master key.
func (o *Opened) Current() vault.Unsealer {
	return &lender{fmt.Sprintf("seal %s, opened by %s", o.path, o.by), o.master}
}

// MasterID names the master key as [vault.Vault.MasterID] does.
func (o *Opened) MasterID() (string, error) {
	id, err := seal.IDOf(o.master)
	return hex.EncodeToString(id[:]), err
}

// Previous provides the master key before, nil when nothing is under it any more.
func (o *Opened) Previous() vault.Unsealer {
	if o.previous == nil {
		return nil
	}
	return &lender{fmt.Sprintf("seal %s (the key before)", o.path), o.previous}
}

// lender lends a key.
type lender struct {
	name string
	key  *secret.Bytes
}

// Name says where the key comes from.
func (l *lender) Name() string { return l.name }

// Unseal lends the key.
func (l *lender) Unseal(use func(master *[32]byte) error) error {
	if l.key.Len() != keySize {
		return errors.New("the seal was closed")
	}
	key := [keySize]byte(l.key.Raw())
	defer clear(key[:])
	return use(&key)
}

// Way is how a recipient opens a seal.
type Way int

// The ways.
const (
	// BySecret is with a passphrase, a PIN, a token, or an identity of age.
	BySecret Way = iota
	// ByItself is without any: the machine is enough, or what its environment gives it.
	ByItself
	// ByPeople is with the shares of several.
	ByPeople
)

// Way says how a recipient of the seal opens it.
func (s *Seal) Way(name string) (Way, error) {
	r, err := s.recipient(name)
	switch {
	case err != nil:
		return 0, err
	case r.Kind == KindPeople:
		return ByPeople, nil
	case r.Kind == KindTPM, r.Kind == KindKMS:
		return ByItself, nil
	}
	return BySecret, nil
}

// Open opens the seal by the secret of one recipient: its passphrase, its PIN, its
// token, or the text of a file with an identity of age. The secret is wiped.
func (s *Seal) Open(name string, given []byte) (*Opened, error) {
	defer clear(given)
	r, err := s.recipient(name)
	if err != nil {
		return nil, err
	}
	var identity age.Identity
	switch r.Kind {
	case KindPassphrase:
		identity, err = r.byPassphrase(given)
	case KindAge:
		identity, err = readIdentity(given)
	case KindPKCS11, KindTPM, KindTransit, KindKMS:
		identity, err = r.byOutside(given)
	default:
		err = fmt.Errorf("it is opened by %d people: run latchkey unseal", r.people.Threshold)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, recipient %q: %w", s.path, name, err)
	}
	return s.open(r, identity, &secret.Pool{})
}

func (r *recipient) byPassphrase(passphrase []byte) (age.Identity, error) {
	key, err := age.NewScryptIdentity(string(passphrase))
	if err != nil {
		return nil, errors.New("the passphrase is empty")
	}
	key.SetMaxWorkFactor(maxWorkFactor)
	text, err := decrypt(r.passphrase, key)
	if err != nil {
		return nil, errors.New("it does not open with this passphrase")
	}
	defer clear(text)
	return readIdentity(text)
}

// readIdentity reads the text of an identity, with comments as age writes them. No
// error quotes it.
func readIdentity(text []byte) (age.Identity, error) {
	var found age.Identity
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if found != nil {
			return nil, errors.New("the file holds more than one identity of age")
		}
		var err error
		switch {
		case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-1"):
			found, err = age.ParseHybridIdentity(line)
		case strings.HasPrefix(line, "AGE-SECRET-KEY-1"):
			found, err = age.ParseX25519Identity(line)
		case strings.HasPrefix(line, "AGE-PLUGIN-"):
			found, err = plugin.NewIdentity(line, pluginUI())
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return nil, errors.New("this is not an identity of age (AGE-SECRET-KEY-1… or AGE-PLUGIN-…)")
		}
	}
	if found == nil {
		return nil, errors.New("there is no identity of age in it (AGE-SECRET-KEY-1… or AGE-PLUGIN-…)")
	}
	return found, nil
}

// open takes the pool over.
func (s *Seal) open(r *recipient, identity age.Identity, pool *secret.Pool) (_ *Opened, err error) {
	o := &Opened{Seal: s, pool: pool, by: r.Name, identity: identity}
	defer func() {
		if err != nil {
			pool.Close()
			err = fmt.Errorf("%s, recipient %q: %w", s.path, r.Name, err)
		}
	}()
	text, err := decrypt(s.form.Master, identity)
	if err != nil {
		return nil, fmt.Errorf("it does not open the seal: the seal is for another identity, or was damaged (%w)", err)
	}
	defer clear(text)
	if o.master, err = parseKey(pool, text); err != nil {
		return nil, err
	}
	if err := s.form.verify(o.master); err != nil {
		return nil, err
	}
	if s.form.Previous != "" {
		if o.previous, err = o.openPrevious(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// sealPrevious encrypts the key before under the present one.
func sealPrevious(master, previous *secret.Bytes) (string, error) {
	return sealUnder(master, previousInfo, previous.Raw())
}

func (o *Opened) openPrevious() (*secret.Bytes, error) {
	plain, err := openUnder(o.master, previousInfo, o.form.Previous)
	if err != nil || len(plain) != keySize {
		clear(plain)
		return nil, errors.New("the key before, which the seal holds, is damaged")
	}
	return o.pool.Of(plain), nil
}

// sealUnder encrypts under a key that is derived from a master key, as hex.
func sealUnder(master *secret.Bytes, info string, plain []byte) (string, error) {
	aead, err := derivedKey(master, info)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	rand.Read(nonce) // never fails: it ends the program instead
	return hex.EncodeToString(aead.Seal(nonce, nonce, plain, nil)), nil
}

func openUnder(master *secret.Bytes, info, text string) ([]byte, error) {
	aead, err := derivedKey(master, info)
	if err != nil {
		return nil, err
	}
	sealed, err := hex.DecodeString(text)
	if err != nil || len(sealed) < aead.NonceSize() {
		return nil, errors.New("it is cut")
	}
	return aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], nil)
}

func derivedKey(master *secret.Bytes, info string) (cipher.AEAD, error) {
	key, err := hkdf.Expand(sha256.New, master.Raw(), info, keySize)
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	return cipher.NewGCM(block)
}

// books are the words of shares.
var books = sync.OnceValue(mnemonic.Load)
