package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"latchkey/internal/keys/vault/internal/secret"
)

// RowKeys are the keys with which the store marks what it writes, so that it
// uses and shows nothing else. They follow from one root, which is sealed among
// the instance's ciphertexts and stays the same for the life of an installation,
// also when the master key is replaced.
type RowKeys struct {
	vault *Vault
	root  *secret.Bytes
	known kept[string] // by organization: deriving costs more than to mark a row
}

const rowRootSize = 32

// LoadRowKeys reads the root from the instance's ciphertexts; nil: there is
// none.
func (v *Vault) LoadRowKeys(s CiphertextStore) (*RowKeys, error) {
	return v.loadRowKeys(kindRowRoot, s)
}

func (v *Vault) loadRowKeys(kind string, s CiphertextStore) (*RowKeys, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	root, err := d.get(kind, "")
	if err != nil || root == nil {
		return nil, err
	}
	if root.Len() != rowRootSize {
		root.Wipe()
		return nil, errors.New("vault: the root of the row keys has an unknown form")
	}
	return newRowKeys(v, root), nil
}

func newRowKeys(v *Vault, root *secret.Bytes) *RowKeys {
	k := &RowKeys{vault: v, root: root, known: kept[string]{most: maxKeys}}
	v.ring.hold(root)
	v.ring.hold(&k.known)
	return k
}

// CreateRowKeys makes the root. It refuses a second one.
func (v *Vault) CreateRowKeys(s CiphertextStore) (*RowKeys, error) {
	return v.createRowKeys(kindRowRoot, s)
}

func (v *Vault) createRowKeys(kind string, s CiphertextStore) (*RowKeys, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	root := v.pool.Random(rowRootSize)
	if err := d.put(kind, "", root); err != nil {
		root.Wipe()
		return nil, err
	}
	return newRowKeys(v, root), nil
}

// AdoptingRowKeys reads, or makes, the root with which the rows of a database of
// an earlier version are being marked. It is under another name until all are:
// what was marked in part is never taken for the whole, and what is whole can
// not be made to look as if it were only marked in part.
func (v *Vault) AdoptingRowKeys(s CiphertextStore) (*RowKeys, error) {
	keys, err := v.loadRowKeys(kindAdoptingRowRoot, s)
	if err != nil || keys != nil {
		return keys, err
	}
	return v.createRowKeys(kindAdoptingRowRoot, s)
}

// Adopted makes keys of [Vault.AdoptingRowKeys] those of the installation.
func (k *RowKeys) Adopted(s CiphertextStore) error {
	if err := k.vault.enter(); err != nil {
		return err
	}
	defer k.vault.leave()
	d := &sealedStore{vault: k.vault, org: Instance, ciphertexts: s}
	if err := d.put(kindRowRoot, "", k.root); err != nil {
		return err
	}
	return s.Delete(kindAdoptingRowRoot)
}

// AuthenticateState returns a code that only this installation can make, for what
// it remembers outside of the database.
func (k *RowKeys) AuthenticateState(text []byte) ([]byte, error) {
	if err := k.vault.enter(); err != nil {
		return nil, err
	}
	defer k.vault.leave()
	// No organization has a key that begins like this.
	key, err := hkdf.Expand(sha256.New, k.root.Raw(), "latchkey state file", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("vault: the key of the state file: %w", err)
	}
	defer clear(key)
	code := hmac.New(sha256.New, key)
	code.Write(text)
	return code.Sum(nil), nil
}

// Organization returns the keys of one organization. They are on the heap: take
// them for a transaction, and forget them with it.
func (k *RowKeys) Organization(org string) (*RowKey, error) {
	if err := k.vault.enter(); err != nil {
		return nil, err
	}
	defer k.vault.leave()
	var key *RowKey
	take := func(derived *secret.Bytes) { key = newRowKey(org, derived.Raw()) }
	if k.known.use(org, take) {
		return key, nil
	}
	derived, err := hkdf.Expand(sha256.New, k.root.Raw(), "latchkey row keys\x00"+org, 3*sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("vault: the row keys of %q: %w", org, err)
	}
	keep := k.vault.pool.Of(derived)
	take(keep)
	k.known.put(org, keep)
	return key, nil
}

// String keeps the fields out of logs.
func (*RowKeys) String() string { return "[row keys]" }

// GoString keeps the fields out of logs.
func (*RowKeys) GoString() string { return "[row keys]" }

// RowKey marks the rows of one organization. It is not safe for concurrent
// use.
type RowKey struct {
	org      string
	tags     hash.Hash
	names    []byte // of the mark that is made; used again
	elements [32]byte
	summands hash.Hash // by the key for elements, once one was asked for
	heads    [32]byte
}

func newRowKey(org string, derived []byte) *RowKey {
	key := &RowKey{org: org, tags: hmac.New(sha256.New, derived[:32])}
	key.elements, key.heads = [32]byte(derived[32:64]), [32]byte(derived[64:])
	return key
}

// RowMark says what a row is, and that this installation wrote it.
type RowMark [32]byte

// Mark computes the mark of a row from its names and its body, each of which counts
// with its length.
func (k *RowKey) Mark(body []byte, names ...string) RowMark {
	k.names = k.names[:0]
	for _, name := range names {
		k.names = append(binary.BigEndian.AppendUint32(k.names, uint32(len(name))), name...)
	}
	k.names = binary.BigEndian.AppendUint32(k.names, uint32(len(body)))
	k.tags.Reset()
	k.tags.Write(k.names)
	k.tags.Write(body)
	k.names = k.tags.Sum(k.names[:0])
	return RowMark(k.names)
}

// Element is what a row adds to a digest over many rows. It does not follow from
// the mark without the key, so that no one else can find rows with a given sum.
func (k *RowKey) Element(mark RowMark) (element [32]byte) {
	if k.summands == nil {
		k.summands = hmac.New(sha256.New, k.elements[:])
	}
	k.summands.Reset()
	k.summands.Write(mark[:])
	k.summands.Sum(element[:0])
	return element
}

// SealHead encrypts and authenticates a digest for one context.
func (k *RowKey) SealHead(context, plain []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	rand.Read(sealed) // never fails: it ends the program instead
	return aead.Seal(sealed, sealed, plain, context), nil
}

// OpenHead is the reverse of [RowKey.SealHead].
func (k *RowKey) OpenHead(context, sealed []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("vault: the head is too short")
	}
	return aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], context)
}

func (k *RowKey) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.heads[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// String keeps the fields out of logs.
func (*RowKey) String() string { return "[row key]" }

// GoString keeps the fields out of logs.
func (*RowKey) GoString() string { return "[row key]" }
