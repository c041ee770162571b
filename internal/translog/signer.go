package translog

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Signer signs checkpoints with a key that it does not know: sign makes the raw
// signature of the key's algorithm. It serves as a [note.Signer].
type Signer struct {
	key  *Key
	sign func(message []byte) ([]byte, error)
	at   time.Time
}

// NewSigner returns a signer whose signatures say that they were made at a time,
// where their type has one.
func NewSigner(key *Key, at time.Time, sign func(message []byte) ([]byte, error)) *Signer {
	return &Signer{key: key, sign: sign, at: at}
}

// Name is the name of the key.
func (s *Signer) Name() string { return s.key.name }

// KeyHash is the id of the key.
func (s *Signer) KeyHash() uint32 { return s.key.hash }

// Sign signs the text of a checkpoint, and nothing else.
func (s *Signer) Sign(text []byte) ([]byte, error) {
	seconds := s.at.Unix()
	if seconds <= 0 { // a cosignature of a whole tree has a time, tlog-witness
		return nil, fmt.Errorf("translog: %s is not a time at which a checkpoint can be signed", s.at)
	}
	message, err := s.key.message(text, uint64(seconds))
	if err != nil {
		return nil, err
	}
	signature, err := s.sign(message)
	if err != nil || s.key.kind == Ed25519 {
		return signature, err
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(seconds)), signature...), nil
}
