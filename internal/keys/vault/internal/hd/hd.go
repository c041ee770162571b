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
	point     func(key []byte) ([]byte, error)
	pointSize int
	// retries is set where SLIP-0010 hashes again instead of failing.
	retries bool
}

func groupOf(c curve.KeyCurve) (group, error) {
	switch c {
	case curve.KeySecp256k1: // BIP-32; SLIP-0010 is the same but for retries
		return group{hmacKey: "Bitcoin seed", add: addSecp256k1, point: pointSecp256k1, pointSize: 1 + keySize}, nil
	case curve.KeyP256:
		return group{hmacKey: "Nist256p1 seed", add: addP256, point: pointP256, pointSize: 1 + keySize, retries: true}, nil
	case curve.KeyEd25519:
		return group{hmacKey: "ed25519 seed", add: setEd25519}, nil
	}
	return group{}, fmt.Errorf("hd: unknown curve %q", c)
}

// Nodes returns the node at a path: the private key, the chain code and, where there
// are paths with parts that are not hardened, the compressed public key. The caller
// wipes it.
type Nodes func(path []uint32) (*secret.Bytes, error)

// Below are the nodes below a seed.
func Below(pool *secret.Pool, seed []byte, c curve.KeyCurve) Nodes {
	return func(path []uint32) (*secret.Bytes, error) {
		g, err := groupOf(c)
		if err != nil {
			return nil, err
		}
		node := pool.New(nodeSize + g.pointSize)
		if err := g.descend(pool, node, seed, path); err != nil {
			node.Wipe()
			return nil, err
		}
		return node, nil
	}
}

// Derive returns the private key of 32 bytes at a path. A part with the top bit set
// is hardened; on Ed25519 every part is, because there is nothing else (SLIP-0010).
// All but the last part leads to a node that many keys have in common.
func Derive(pool *secret.Pool, nodes Nodes, c curve.KeyCurve, path []uint32) (*secret.Bytes, error) {
	g, err := groupOf(c)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		root, err := nodes(nil)
		if err == nil {
			root.Shrink(keySize)
		}
		return root, err
	}
	last := len(path) - 1
	node, err := nodes(path[:last])
	if err != nil {
		return nil, err
	}
	if node.Len() != nodeSize+g.pointSize {
		node.Wipe()
		return nil, fmt.Errorf("hd: a node of %d bytes", node.Len())
	}
	w := newWorker(pool)
	defer w.wipe()
	if err := g.child(&w, node, node.Raw()[nodeSize:], path[last]); err != nil {
		node.Wipe()
		return nil, err
	}
	node.Shrink(keySize)
	return node, nil
}

// descend makes a node what is at a path below a seed.
func (g group) descend(pool *secret.Pool, node *secret.Bytes, seed []byte, path []uint32) error {
	if err := g.master(node, seed); err != nil {
		return err
	}
	w := newWorker(pool)
	defer w.wipe()
	for _, index := range path {
		if err := g.child(&w, node, nil, index); err != nil {
			return err
		}
	}
	if g.point == nil {
		return nil
	}
	point, err := g.point(node.Raw()[:keySize])
	copy(node.Raw()[nodeSize:], point)
	return err
}

// worker is the memory that one derivation works in.
type worker struct {
	scratch, digest *secret.Bytes
}

func newWorker(pool *secret.Pool) worker {
	return worker{scratch: pool.New(nodeSize), digest: pool.New(nodeSize)}
}

func (w *worker) wipe() {
	w.scratch.Wipe()
	w.digest.Wipe()
}

// master is the root: BIP-32 "Master key generation".
func (g group) master(node *secret.Bytes, seed []byte) error {
	input := seed
	for {
		sum(hmac.New(sha512.New, []byte(g.hmacKey)), input, node.Raw()[:nodeSize])
		var zero [keySize]byte
		if g.add(zero[:], node.Raw()[:keySize]) {
			clear(zero[:])
			return nil
		}
		if !g.retries {
			return ErrInvalid
		}
		input = node.Raw()[:nodeSize] // SLIP-0010: the hash of the hash
	}
}

// child replaces a node, but for its public key, by one of its children: BIP-32
// "Private parent key to private child key". public is the node's public key; nil:
// it is not known.
func (g group) child(w *worker, node *secret.Bytes, public []byte, index uint32) error {
	if g.point == nil {
		index |= hardened
	}
	key, chain := node.Raw()[:keySize], node.Raw()[keySize:nodeSize]
	data := w.scratch.Raw()[:1+keySize+4]
	if index >= hardened {
		data[0] = 0
		copy(data[1:], key)
	} else {
		if public == nil {
			var err error
			if public, err = g.point(key); err != nil {
				return err
			}
		}
		copy(data, public)
	}
	binary.BigEndian.PutUint32(data[1+keySize:], index)
	mac := hmac.New(sha512.New, chain)
	for {
		sum(mac, data, w.digest.Raw())
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
func sum(mac hash.Hash, input, out []byte) {
	mac.Reset()
	mac.Write(input)
	mac.Sum(out[:0])
}
