// Package seal turns secrets into ciphertext that opens in one place only.
//
// A sealed item is
//
//	version (1) | data key id (16) | nonce (12) | AES-256-GCM ciphertext and tag
//
// and a data key wrapped by a master key is
//
//	version (1) | master key id (16) | nonce (12) | AES-256-GCM ciphertext and tag
//
// The additional data of both is the Context: format version, organization,
// kind and id, each with its length in front, so that no two contexts have
// the same bytes and a row that was moved elsewhere does not open. The key ids
// follow from the keys, so that the right key is found, or known to be absent,
// without trying.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"latchkey/internal/keys/vault/internal/secret"
)

const (
	version   = 1
	keySize   = 32
	idSize    = 16
	nonceSize = 12
	tagSize   = 16
	header    = 1 + idSize
	// Overhead is what a sealed item is longer than its secret.
	Overhead = header + nonceSize + tagSize
)

// ID names a key without revealing it.
type ID [idSize]byte

// Context is the one place where a ciphertext opens.
type Context struct {
	Org, Kind, ID string
}

func (c Context) bytes() []byte {
	const domain = "latchkey vault"
	b := make([]byte, 0, len(domain)+1+3*4+len(c.Org)+len(c.Kind)+len(c.ID))
	b = append(b, domain...)
	b = append(b, version)
	for _, part := range []string{c.Org, c.Kind, c.ID} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return b
}

// Key seals and opens. It holds a key schedule on the heap: make one for an
// operation or a session, and keep only the secret.
type Key struct {
	id   ID
	aead cipher.AEAD
}

// The purposes for which HKDF (RFC 5869) derives from a key.
const (
	idInfo   = "latchkey vault key id"
	wrapInfo = "latchkey vault wrapping key"
)

// IDOf names a key of 32 random bytes: HKDF-Expand, one way.
func IDOf(key *secret.Bytes) (ID, error) {
	var id ID
	derived, err := hkdf.Expand(sha256.New, key.Raw(), idInfo, idSize)
	copy(id[:], derived)
	return id, err
}

// DataKey is the key that seals items, for a data key whose id is known.
func DataKey(key *secret.Bytes, id ID) (*Key, error) {
	return newKey(key.Raw(), id)
}

// WrappingKey is the key under which a master key wraps in one context. Each
// context has its own key, so that random nonces never run short.
func WrappingKey(master *secret.Bytes, id ID, c Context) (*Key, error) {
	derived, err := hkdf.Expand(sha256.New, master.Raw(), wrapInfo+"\x00"+string(c.bytes()), keySize)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	return newKey(derived, id)
}

func newKey(key []byte, id ID) (*Key, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &Key{id: id, aead: aead}, nil
}

// ID names the key.
func (k *Key) ID() ID { return k.id }

// Seal encrypts plain for one context, with a random nonce. A data key seals
// far fewer than the 2^32 items to which NIST SP 800-38D limits that.
func (k *Key) Seal(c Context, plain *secret.Bytes) []byte {
	sealed := make([]byte, header+nonceSize, Overhead+plain.Len())
	sealed[0] = version
	copy(sealed[1:], k.id[:])
	nonce := sealed[header : header+nonceSize]
	rand.Read(nonce) // never fails: it ends the program instead
	return k.aead.Seal(sealed, nonce, plain.Raw(), c.bytes())
}

var (
	errFormat = errors.New("seal: the sealed record has an unknown format")
	errOpen   = errors.New("seal: the sealed record was damaged or moved: it does not open for its place")
)

// KeyID reads which key sealed an item.
func KeyID(sealed []byte) (ID, error) {
	if len(sealed) < Overhead || sealed[0] != version {
		return ID{}, errFormat
	}
	return ID(sealed[1:header]), nil
}

// Open decrypts into the pool. It refuses an item of another key or context.
func (k *Key) Open(c Context, sealed []byte, pool *secret.Pool) (*secret.Bytes, error) {
	id, err := KeyID(sealed)
	if err != nil {
		return nil, err
	}
	if id != k.id {
		return nil, errOpen
	}
	plain := pool.New(len(sealed) - Overhead)
	nonce, text := sealed[header:header+nonceSize], sealed[header+nonceSize:]
	// Decrypting straight into locked memory: the buffer has the room.
	if _, err := k.aead.Open(plain.Raw()[:0], nonce, text, c.bytes()); err != nil {
		plain.Wipe()
		return nil, errOpen
	}
	return plain, nil
}
