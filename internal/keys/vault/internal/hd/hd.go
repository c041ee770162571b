// Package hd derives keys from seeds: BIP-32 on secp256k1, SLIP-0010 on P-256
// and Ed25519.
//
// It derives private keys only; nothing here goes from public key to public
// key. Its own arithmetic on the curve library's scalars takes half the time
// of a general BIP-32 package, which converts at every level.
package hd

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/secret"
)

const (
	hardened = 1 << 31
	keySize  = 32
	nodeSize = 2 * keySize // private key, then chain code
)

// ErrInvalid is the result of a derivation that hits no key. By BIP-32 the
// next index is to be taken; it has a probability below 2^-127.
var ErrInvalid = errors.New("hd: this path has no key")

// group is what the derivation needs of a curve.
type group struct {
	hmacKey string
	// add makes key the sum of key and tweak modulo the group's order. It is
	// false, and key unchanged, when there is no such key.
	add func(key, tweak []byte) bool
	// point is the compressed public key; nil where no path has
	// non-hardened parts.
	point func(key []byte) ([]byte, error)
	// retries is set where SLIP-0010 hashes again instead of failing.
	retries bool
}

func groupOf(c curve.KeyCurve) (group, error) {
	switch c {
	case curve.KeySecp256k1: // BIP-32; SLIP-0010 is the same but for retries
		return group{hmacKey: "Bitcoin seed", add: addSecp256k1, point: pointSecp256k1}, nil
	case curve.KeyP256:
		return group{hmacKey: "Nist256p1 seed", add: addP256, point: pointP256, retries: true}, nil
	case curve.KeyEd25519:
		return group{hmacKey: "ed25519 seed", add: setEd25519}, nil
	}
	return group{}, fmt.Errorf("hd: unknown curve %q", c)
}

// Derive returns the private key of 32 bytes at a path below a seed. A part
// with the top bit set is hardened; on Ed25519 every part is, because there
// is nothing else (SLIP-0010).
func Derive(pool *secret.Pool, seed []byte, c curve.KeyCurve, path []uint32) (*secret.Bytes, error) {
	g, err := groupOf(c)
	if err != nil {
		return nil, err
	}
	node := pool.New(nodeSize)
	if err := g.master(node, seed); err != nil {
		node.Wipe()
		return nil, err
	}
	w := worker{scratch: pool.New(nodeSize), digest: pool.New(nodeSize)}
	defer w.scratch.Wipe()
	defer w.digest.Wipe()
	for _, index := range path {
		if err := g.child(&w, node, index); err != nil {
			node.Wipe()
			return nil, err
		}
	}
	node.Shrink(keySize)
	return node, nil
}

// worker is the memory that one derivation works in.
type worker struct {
	scratch, digest *secret.Bytes
}

// master is the root: BIP-32 "Master key generation".
func (g group) master(node *secret.Bytes, seed []byte) error {
	input := seed
	for {
		sum(hmac.New(sha512.New, []byte(g.hmacKey)), input, node)
		var zero [keySize]byte
		if g.add(zero[:], node.Raw()[:keySize]) {
			clear(zero[:])
			return nil
		}
		if !g.retries {
			return ErrInvalid
		}
		input = node.Raw() // SLIP-0010: the hash of the hash
	}
}

// child replaces a node by one of its children: BIP-32 "Private parent key to
// private child key".
func (g group) child(w *worker, node *secret.Bytes, index uint32) error {
	if g.point == nil {
		index |= hardened
	}
	key, chain := node.Raw()[:keySize], node.Raw()[keySize:]
	data := w.scratch.Raw()[:1+keySize+4]
	if index >= hardened {
		data[0] = 0
		copy(data[1:], key)
	} else {
		point, err := g.point(key)
		if err != nil {
			return err
		}
		copy(data, point)
	}
	binary.BigEndian.PutUint32(data[1+keySize:], index)
	mac := hmac.New(sha512.New, chain)
	for {
		sum(mac, data, w.digest)
		if g.add(key, w.digest.Raw()[:keySize]) {
			copy(chain, w.digest.Raw()[keySize:])
			return nil
		}
		if !g.retries {
			return ErrInvalid
		}
		data[0] = 1 // SLIP-0010: 1, the right half of the hash, the index
		copy(data[1:], w.digest.Raw()[keySize:])
	}
}

// sum writes the MAC of input into out, which may be input.
func sum(mac hash.Hash, input []byte, out *secret.Bytes) {
	mac.Reset()
	mac.Write(input)
	mac.Sum(out.Raw()[:0])
}
