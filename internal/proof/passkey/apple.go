package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
)

// verifyApple follows WebAuthn section 8.8, but for the path to Apple's root.
// Such a statement has no signature of its own: the certificate carries a hash
// of what it was made for.
func verifyApple(s statement, k key, signed []byte) error {
	cert := s.certs[0]
	value, ok := extension(cert, asn1.ObjectIdentifier{1, 2, 840, 113635, 100, 8, 2})
	if !ok {
		return errors.New("the first certificate must have the extension 1.2.840.113635.100.8.2")
	}
	var in struct {
		Nonce []byte `asn1:"tag:1,explicit"`
	}
	if rest, err := asn1.Unmarshal(value, &in); err != nil || len(rest) > 0 {
		return because(err, "the certificate's extension 1.2.840.113635.100.8.2 must hold a nonce")
	}
	if nonce := sha256.Sum256(signed); !bytes.Equal(in.Nonce, nonce[:]) {
		return errors.New("the nonce in the first certificate must be the SHA-256 of authData and the SHA-256 of clientDataJSON")
	}
	if !k.certified(cert) {
		return errors.New("the first certificate must be that of the new key")
	}
	return nil
}
