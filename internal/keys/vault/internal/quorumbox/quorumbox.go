// Package quorumbox opens what clients seal to a lasting P-256 key in the
// envelope of an enclave's quorum key. It is older than the HPKE profile of
// hpkebox, and not HPKE.
//
// The envelope is a nonce of 12 bytes, the sender's ephemeral point uncompressed
// (65 bytes), the length of what follows (4 bytes, little-endian), and the
// ciphertext of AES-256-GCM with its tag. The key is the first half of
// HMAC-SHA-512 of a constant text, keyed by both points and the x coordinate of
// the shared one. The additional data is both points, each followed by its
// length in one byte.
package quorumbox

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"slices"

	"latchkey/internal/keys/vault/internal/secret"
)

// The clients have this text compiled in.
const macMessage = "qos_encryption_hmac_message"

const (
	nonceSize  = 12
	pointSize  = 65
	headerSize = nonceSize + pointSize + 4
	keySize    = 32
	tagSize    = 16
)

// Overhead is how many bytes an envelope has besides what is in it.
const Overhead = headerSize + tagSize

var (
	// ErrForm says that something is not an envelope.
	ErrForm = errors.New("quorumbox: not an envelope")
	// ErrOpen says that an envelope was not sealed to the key, or was altered.
	ErrOpen = errors.New("quorumbox: the envelope does not open")
)

// Open decrypts what was sealed to the public half of a private key of 32 bytes.
func Open(pool *secret.Pool, private *secret.Bytes, envelope []byte) (*secret.Bytes, error) {
	if len(envelope) < Overhead {
		return nil, ErrForm
	}
	nonce, point := envelope[:nonceSize], envelope[nonceSize:nonceSize+pointSize]
	ciphertext := envelope[headerSize:]
	if uint64(binary.LittleEndian.Uint32(envelope[nonceSize+pointSize:])) != uint64(len(ciphertext)) {
		return nil, ErrForm
	}
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, ErrForm
	}
	receiver, err := ecdh.P256().NewPrivateKey(private.Raw())
	if err != nil {
		return nil, errors.New("quorumbox: the target is not a P-256 private key")
	}
	shared, err := receiver.ECDH(sender)
	if err != nil {
		return nil, ErrOpen
	}
	defer clear(shared)
	own := receiver.PublicKey().Bytes()
	keyed := slices.Concat(point, own, shared)
	defer clear(keyed)
	mac := hmac.New(sha512.New, keyed)
	mac.Write([]byte(macMessage))
	key := mac.Sum(nil)
	defer clear(key)
	block, err := aes.NewCipher(key[:keySize])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	length := []byte{pointSize}
	plain, err := aead.Open(nil, nonce, ciphertext, slices.Concat(point, length, own, length))
	if err != nil {
		return nil, ErrOpen
	}
	return pool.Of(plain), nil
}
