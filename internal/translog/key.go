package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"filippo.io/mldsa"
)

// KeyType is the signature type of a key, C2SP signed-note.
type KeyType byte

// The types that are used here.
const (
	Ed25519            KeyType = 0x01 // of a log, over the note's text
	Ed25519Cosignature KeyType = 0x04 // of a witness, with a time
	MLDSA44            KeyType = 0x06 // of a log or a witness, with a time
)

// maxName bounds the name of a key and an origin: an ML-DSA-44 signature covers
// both with a length of one byte.
const maxName = 255

// Key is a public key that verifies signatures on checkpoints. It serves as a
// [note.Verifier].
type Key struct {
	name   string
	hash   uint32
	kind   KeyType
	public []byte
	mldsa  *mldsa.PublicKey // of type MLDSA44
}

// NewKey returns the key of a name, type and public key in its standard encoding.
func NewKey(name string, kind KeyType, public []byte) (*Key, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	k := &Key{name: name, kind: kind, public: append([]byte(nil), public...)}
	switch kind {
	case Ed25519, Ed25519Cosignature:
		if len(public) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("an Ed25519 key has %d bytes, not %d", ed25519.PublicKeySize, len(public))
		}
	case MLDSA44:
		var err error
		if k.mldsa, err = mldsa.NewPublicKey(mldsa.MLDSA44(), public); err != nil {
			return nil, fmt.Errorf("not an ML-DSA-44 public key of %d bytes: %w", mldsa.MLDSA44PublicKeySize, err)
		}
	default:
		return nil, fmt.Errorf("keys of signature type %#02x are not known here; known are 0x01, 0x04 (Ed25519) and 0x06 (ML-DSA-44)", byte(kind))
	}
	sum := sha256.Sum256(append([]byte(name+"\n"+string([]byte{byte(kind)})), public...))
	k.hash = binary.BigEndian.Uint32(sum[:])
	return k, nil
}

// CheckName refuses what cannot be the name of a key.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.Contains(name, "+") ||
		strings.IndexFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0 {
		return fmt.Errorf("%.80q cannot be the name of a key: 1 to %d bytes, without white space and without +", name, maxName)
	}
	return nil
}

// ParseKey reads the text of a verifier key: name+id+base64.
func ParseKey(text string) (*Key, error) {
	name, rest, _ := strings.Cut(text, "+")
	id, encoded, found := strings.Cut(rest, "+")
	material, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil || len(material) < 2 {
		return nil, fmt.Errorf("verifier key %.80q: it is not of the form name+id+base64", text)
	}
	k, err := NewKey(name, KeyType(material[0]), material[1:])
	if err != nil {
		return nil, fmt.Errorf("verifier key %.80q: %w", text, err)
	}
	if want := fmt.Sprintf("%08x", k.hash); id != want {
		return nil, fmt.Errorf("verifier key %.80q: its id is %q, but that of its key is %q; a part of it was changed", text, id, want)
	}
	return k, nil
}

// Text is the verifier key as text.
func (k *Key) Text() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.hash, base64.StdEncoding.EncodeToString(append([]byte{byte(k.kind)}, k.public...)))
}

// String is short: name, id and algorithm.
func (k *Key) String() string {
	algorithm := "Ed25519"
	if k.kind == MLDSA44 {
		algorithm = "ML-DSA-44"
	}
	return fmt.Sprintf("%s+%08x (%s)", k.name, k.hash, algorithm)
}

// Name is the key's name: the origin of a log, or the name of a witness.
func (k *Key) Name() string { return k.name }

// KeyHash is the key's id.
func (k *Key) KeyHash() uint32 { return k.hash }

// Public is the public key in its standard encoding.
func (k *Key) Public() []byte { return append([]byte(nil), k.public...) }

// Type is the signature type.
func (k *Key) Type() KeyType { return k.kind }

// Verify reports whether sig, as a note carries it, is the key's signature on the
// text of a checkpoint.
func (k *Key) Verify(text, sig []byte) bool {
	var seconds uint64
	if k.kind != Ed25519 {
		if len(sig) < 8 {
			return false
		}
		seconds, sig = binary.BigEndian.Uint64(sig), sig[8:]
	}
	message, err := k.message(text, seconds)
	if err != nil {
		return false
	}
	if k.kind == MLDSA44 {
		return mldsa.Verify(k.mldsa, message, sig, nil) == nil
	}
	return len(sig) == ed25519.SignatureSize && ed25519.Verify(k.public, message, sig)
}

// message is what a signature on the text of a checkpoint is over. Types with a
// time are those of C2SP tlog-cosignature.
func (k *Key) message(text []byte, seconds uint64) ([]byte, error) {
	c, err := ParseCheckpoint(string(text))
	switch {
	case err != nil:
		return nil, err
	case seconds > 1<<63-1:
		return nil, fmt.Errorf("the time of a cosignature is above 2^63-1")
	case k.kind == Ed25519:
		return text, nil
	case k.kind == Ed25519Cosignature:
		message := strconv.AppendUint([]byte("cosignature/v1\ntime "), seconds, 10)
		return append(append(message, '\n'), text...), nil
	}
	m := append([]byte("subtree/v1\n\x00"), byte(len(k.name)))
	m = append(m, k.name...)
	m = binary.BigEndian.AppendUint64(m, seconds)
	m = append(append(m, byte(len(c.Origin))), c.Origin...)
	m = binary.BigEndian.AppendUint64(m, 0) // from the first entry
	m = binary.BigEndian.AppendUint64(m, uint64(c.Size))
	return append(m, c.Root[:]...), nil
}
