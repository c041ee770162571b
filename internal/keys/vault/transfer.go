package vault

import (
	"bytes"
	"errors"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/hpkebox"
	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/secret"
)

// NewImportTarget makes a one-time P-256 key to which a client seals what it
// imports, and returns the public half uncompressed (65 bytes). A successful
// import deletes it.
func (s *Session) NewImportTarget(targetID string) (targetPublic []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	private, public, err := s.vault.randomKey(curve.KeyP256)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	return hd.Expand(public), s.put(kindTarget, targetID, private)
}

// DropImportTarget deletes a target that was not used. Without one it does
// nothing.
func (s *Session) DropImportTarget(targetID string) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	_, err := s.remove(kindTarget, targetID)
	return err
}

// DropExpiredImportTarget deletes an import target that was not used in time. It needs no
// authorization: it gives nothing out, and no request asks for it. Without a target
// it does nothing.
func DropExpiredImportTarget(s CiphertextStore, targetID string) error {
	_, err := (&sealedStore{ciphertexts: s}).remove(kindTarget, targetID)
	return err
}

// ImportSeed takes over a phrase that a client sealed to a target: the words in
// any of the nine languages of BIP-39, and after a line feed the passphrase if
// there is one.
func (s *Session) ImportSeed(id, targetID string, bundle []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	text, err := s.unpack(targetID, bundle)
	if err != nil {
		return err
	}
	defer text.Wipe()
	pool := s.vault.pool
	words, after, _ := bytes.Cut(text.Raw(), []byte("\n"))
	phrase, err := s.vault.books().Decode(pool, words)
	if err != nil {
		return fault.Invalid("invalid mnemonic: %v", err) // Decode never quotes
	}
	defer phrase.Wipe()
	passphrase := pool.New(len(after))
	defer passphrase.Wipe()
	copy(passphrase.Raw(), after)
	if err := s.keepSeed(id, phrase, passphrase); err != nil {
		return err
	}
	_, err = s.remove(kindTarget, targetID)
	return err
}

// ImportKey takes over a private key that a client sealed to a target: 32
// bytes, a scalar in [1, n-1] or an Ed25519 seed.
func (s *Session) ImportKey(id, targetID string, c curve.KeyCurve, bundle []byte) (publicKey []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, ok := curveNumbers[c]; !ok {
		return nil, fault.Invalid("curve %.40q is not supported", c)
	}
	private, err := s.unpack(targetID, bundle)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	if n := private.Len(); n != privateSize {
		return nil, fault.Invalid("encryptedBundle: the private key has %d bytes, it must have %d", n, privateSize)
	}
	public, err := hd.Public(c, private.Raw())
	if err != nil {
		return nil, fault.Invalid("encryptedBundle: the private key must be in [1, n-1], where n is the order of %s", c)
	}
	if err := s.keepKey(id, c, private, public); err != nil {
		return nil, err
	}
	_, err = s.remove(kindTarget, targetID)
	return public, err
}

// unpack opens a client's bundle with the target that it was sealed to.
func (s *Session) unpack(targetID string, text []byte) (*secret.Bytes, error) {
	sealed, err := bundle.ParseEncrypted(text)
	if err != nil {
		return nil, err
	}
	target, err := s.get(kindTarget, targetID)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, fault.Invalid("there is no import to finish: the import target was used or never made; start the import again")
	}
	defer target.Wipe()
	plain, err := hpkebox.Open(s.vault.pool, target, sealed.Enc, sealed.Ciphertext)
	if errors.Is(err, hpkebox.ErrOpen) {
		return nil, fault.Invalid("encryptedBundle does not open: it was not sealed to the newest import target of this user")
	}
	return plain, err
}

// ExportKey seals a private key (32 bytes) to a P-256 point, compressed or not.
func (s *Session) ExportKey(keyID string, recipient []byte) (enc, ciphertext []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	point, err := recipientPoint(recipient)
	if err != nil {
		return nil, nil, err
	}
	record, err := s.keyRecord(keyID, "")
	if err != nil {
		return nil, nil, err
	}
	defer record.whole.Wipe()
	return hpkebox.Seal(point, record.private())
}

// ExportSeed seals a phrase to a P-256 point, compressed or not: the words, and
// after a line feed the passphrase if there is one. The words are written from
// the entropy in the language, MNEMONIC_LANGUAGE_*; nothing is the language in
// which the wallet was created (English) or imported.
//
// BIP-39 makes the seed from the text of the words: only in that language do
// they lead other software to this wallet's keys. Another one must be asked
// for by name.
func (s *Session) ExportSeed(seedID, language string, recipient []byte) (enc, ciphertext []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	l, ok := mnemonic.ParseLanguage(language)
	if !ok && language != "" {
		return nil, nil, fault.Invalid("language %.60q is not supported", language)
	}
	point, err := recipientPoint(recipient)
	if err != nil {
		return nil, nil, err
	}
	record, err := s.seedRecord(seedID)
	if err != nil {
		return nil, nil, err
	}
	defer record.whole.Wipe()
	if language == "" {
		l = record.language()
	}
	words, err := s.vault.books().Encode(s.vault.pool, record.entropy(), l)
	if err != nil {
		return nil, nil, err
	}
	defer words.Wipe()
	passphrase := record.passphrase()
	if len(passphrase) == 0 {
		return hpkebox.Seal(point, words.Raw())
	}
	text := s.vault.pool.New(words.Len() + 1 + len(passphrase))
	defer text.Wipe()
	n := copy(text.Raw(), words.Raw())
	text.Raw()[n] = '\n'
	copy(text.Raw()[n+1:], passphrase)
	return hpkebox.Seal(point, text.Raw())
}

// NewCredential makes a P-256 key pair for a login and seals the private half
// to a P-256 point, compressed or not. It stores nothing.
func (s *Session) NewCredential(recipient []byte) (publicKey []byte, text string, err error) {
	if err := s.enter(); err != nil {
		return nil, "", err
	}
	defer s.leave()
	point, err := recipientPoint(recipient)
	if err != nil {
		return nil, "", err
	}
	private, public, err := s.vault.randomKey(curve.KeyP256)
	if err != nil {
		return nil, "", err
	}
	defer private.Wipe()
	enc, ciphertext, err := hpkebox.Seal(point, private.Raw())
	if err != nil {
		return nil, "", err
	}
	return public, bundle.Credential(hd.Compress(enc), ciphertext), nil
}

// recipientPoint returns a client's public key uncompressed.
func recipientPoint(recipient []byte) ([]byte, error) {
	point := hd.Expand(recipient)
	if point == nil {
		return nil, fault.Invalid("targetPublicKey is not a point of the curve P-256: send 65 bytes that begin with 04, or 33 that begin with 02 or 03, in hex")
	}
	return point, nil
}
