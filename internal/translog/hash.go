package translog

import (
	"crypto/sha256"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a hash of the tree. It prints as base64, as C2SP writes hashes.
type Hash = tlog.Hash

// HashSize is the number of bytes of a hash.
const HashSize = tlog.HashSize

// EntryHash is the entry of a record: SHA-256 of salt and text. Without the salt
// it says nothing about the record, not even to one who can guess it.
func EntryHash(salt [32]byte, record []byte) [32]byte {
	var buffer [1024]byte // most records fit: nothing is allocated
	return sha256.Sum256(append(append(buffer[:0], salt[:]...), record...))
}

// LeafHash is the hash of an entry as a leaf of the tree, RFC 6962 section 2.1.
func LeafHash(entry [32]byte) Hash {
	var leaf [1 + len(entry)]byte
	copy(leaf[1:], entry[:])
	return sha256.Sum256(leaf[:])
}
