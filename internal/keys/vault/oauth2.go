package vault

import (
	"encoding/hex"
	"errors"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/hpkebox"
	"latchkey/internal/keys/vault/internal/quorumbox"
)

// A client secret is what an organization has agreed with a provider of OAuth
// 2.0. It leaves the vault only to be sent to that provider.

// MaxClientSecret is how many bytes a client secret may have.
const MaxClientSecret = 1 << 10

const clientSecretInfo = "latchkey oauth2 client secret "

// ClientSecretPublicKey is the P-256 key to which clients seal client secrets,
// uncompressed, in lower-case hex. It is derived from the server's keys.
func (k *ServerKeys) ClientSecretPublicKey() (string, error) {
	private, public, err := k.derivedKey(clientSecretInfo, "")
	if err != nil {
		return "", err
	}
	private.Wipe()
	return hex.EncodeToString(hd.Expand(public)), nil
}

// ImportClientSecret takes over a client secret that was sealed to
// [ServerKeys.ClientSecretPublicKey], in place of the one that the id has had.
func (s *Session) ImportClientSecret(id string, keys *ServerKeys, envelope []byte) error {
	private, _, err := keys.derivedKey(clientSecretInfo, "") // enters the vault itself
	if err != nil {
		return err
	}
	defer private.Wipe()
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	plain, err := quorumbox.Open(s.vault.pool, private, envelope)
	switch {
	case errors.Is(err, quorumbox.ErrForm):
		return fault.Invalid("encryptedClientSecret is not an envelope: make it with encryptOauth2ClientSecret of @turnkey/crypto")
	case errors.Is(err, quorumbox.ErrOpen):
		return fault.Invalid("encryptedClientSecret does not open: it was not sealed to this server's oauth2ClientSecretPublicKey, " +
			"which is in /.well-known/latchkey.json")
	case err != nil:
		return err
	}
	defer plain.Wipe()
	if err := checkClientSecret(plain.Raw()); err != nil {
		return err
	}
	if _, err := s.remove(kindClientSecret, id); err != nil {
		return err
	}
	return s.put(kindClientSecret, id, plain)
}

// checkClientSecret refuses what no provider issues (RFC 6749 appendix A.2).
func checkClientSecret(plain []byte) error {
	if len(plain) == 0 || len(plain) > MaxClientSecret {
		return fault.Invalid("encryptedClientSecret: the client secret has %d bytes, it must have 1 to %d", len(plain), MaxClientSecret)
	}
	for _, b := range plain {
		if b < 0x20 || b > 0x7e {
			return fault.Invalid("encryptedClientSecret: the client secret must be of printable ASCII characters")
		}
	}
	return nil
}

// UseClientSecret hands a client secret to a function, which must not keep it.
// Nothing waits for the function: the vault is not entered while it runs.
func (s *Session) UseClientSecret(id string, use func(secret []byte) error) error {
	revealed, err := s.clientSecret(id)
	if err != nil {
		return err
	}
	defer clear(revealed)
	return use(revealed)
}

func (s *Session) clientSecret(id string) ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	plain, err := s.must(kindClientSecret, id)
	if err != nil {
		return nil, err
	}
	defer plain.Wipe()
	return append([]byte(nil), plain.Raw()...), nil
}

// SealBearer seals a token that a provider gave out to a P-256 point, compressed
// or not, in the text in which credentials travel. It stores nothing.
func (s *Session) SealBearer(token, recipient []byte) (string, error) {
	if err := s.enter(); err != nil {
		return "", err
	}
	defer s.leave()
	point := hd.Expand(recipient)
	if point == nil {
		return "", fault.Invalid("bearerTokenTargetPublicKey is not a point of the curve P-256: send 65 bytes that begin with 04, or 33 that begin with 02 or 03, in hex")
	}
	enc, ciphertext, err := hpkebox.Seal(point, token)
	if err != nil {
		return "", err
	}
	return bundle.Credential(hd.Compress(enc), ciphertext), nil
}
