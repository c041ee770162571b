package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/hpkebox"
)

// A sealed message is something short-lived that the database should not show, such as a
// one-time code on its way to its reader. It is not a key, and the server may
// read it again.

// The purposes for which HKDF (RFC 5869) derives from the server's keys.
const (
	messageInfo = "latchkey note "
	macInfo     = "latchkey mac "
)

// MAC is a keyed hash that only this installation can make, for one purpose:
// what it is made of cannot be guessed from it without the server.
func (k *ServerKeys) MAC(purpose string, data []byte) ([]byte, error) {
	key, err := k.derive(macInfo + purpose)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil), nil
}

// SealMessage encrypts a message for one purpose.
func (k *ServerKeys) SealMessage(purpose string, message []byte) ([]byte, error) {
	aead, err := k.messageKey(purpose)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(message)+aead.Overhead())
	rand.Read(nonce)
	return aead.Seal(nonce, nonce, message, []byte(purpose)), nil
}

// OpenMessage decrypts a message that was sealed for the purpose.
func (k *ServerKeys) OpenMessage(purpose string, sealed []byte) ([]byte, error) {
	aead, err := k.messageKey(purpose)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("vault: a sealed message is too short")
	}
	message, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(purpose))
	if err != nil {
		return nil, errors.New("vault: a sealed message does not open: it was sealed for another purpose, by another installation, or is damaged")
	}
	return message, nil
}

func (k *ServerKeys) messageKey(purpose string) (cipher.AEAD, error) {
	key, err := k.derive(messageInfo + purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (k *ServerKeys) derive(info string) ([]byte, error) {
	if err := k.vault.enter(); err != nil {
		return nil, err
	}
	defer k.vault.leave()
	return hkdf.Key(sha256.New, k.keys.Raw(), nil, info, 32)
}

// NewMessageTarget makes a P-256 key to which a client seals a message, and returns
// the public half uncompressed (65 bytes).
func (s *Session) NewMessageTarget(targetID string) (targetPublic []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	private, public, err := s.vault.randomKey(curve.KeyP256)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	return hd.Expand(public), s.put(kindMessageTarget, targetID, private)
}

// OpenMessageBundle opens what a client sealed to a message target. It can open
// nothing that was sealed to an import target: those are another kind.
func (s *Session) OpenMessageBundle(targetID string, text []byte) ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	sealed, err := bundle.ParseEncrypted(text)
	if err != nil {
		return nil, err
	}
	target, err := s.must(kindMessageTarget, targetID)
	if err != nil {
		return nil, err
	}
	defer target.Wipe()
	plain, err := hpkebox.Open(s.vault.pool, target, sealed.Enc, sealed.Ciphertext)
	if errors.Is(err, hpkebox.ErrOpen) {
		return nil, fault.Invalid("encryptedOtpBundle does not open: it was not sealed to the target of this code")
	}
	if err != nil {
		return nil, err
	}
	defer plain.Wipe()
	return append([]byte(nil), plain.Raw()...), nil
}

// DropMessageTarget deletes a message target. It needs no authorization: it gives nothing
// out. Without one it does nothing.
func DropMessageTarget(s CiphertextStore, targetID string) error {
	_, err := (&sealedStore{ciphertexts: s}).remove(kindMessageTarget, targetID)
	return err
}
