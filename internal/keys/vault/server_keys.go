package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/keys/vault/internal/sign"
)

// ServerKeys is the server's own two P-256 signing keys, as clients know them:
// one signs bundles and tokens, the other sessions. They stay the same for the
// life of an installation, on every node of it. It is safe for concurrent use.
type ServerKeys struct {
	vault           *Vault
	keys            *secret.Bytes // the signer's, then that of sessions
	signer, session string
}

// LoadOrCreateServerKeys reads the identity from the instance's shelf, and makes
// it when there is none. It returns the refusal of Check for a wrong master
// key.
func (v *Vault) LoadOrCreateServerKeys(s CiphertextStore) (*ServerKeys, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	if _, err := d.sealing(); err != nil {
		return nil, err
	}
	keys, err := d.get(kindServerKeys, "")
	if err == nil && keys == nil {
		keys, err = d.createIdentity()
	}
	if err != nil {
		return nil, err
	}
	i := &ServerKeys{vault: v, keys: keys}
	if keys.Len() == 2*privateSize {
		i.signer, err = publicText(i.signerKey())
		if err == nil {
			i.session, err = publicText(i.sessionKey())
		}
	} else {
		err = fmt.Errorf("vault: the server's identity has an unknown form")
	}
	if err != nil {
		keys.Wipe()
		return nil, err
	}
	v.ring.hold(keys)
	return i, nil
}

func (d *sealedStore) createIdentity() (*secret.Bytes, error) {
	keys := d.vault.pool.New(2 * privateSize)
	for n := range 2 {
		private, _, err := d.vault.randomKey(curve.KeyP256)
		if err != nil {
			keys.Wipe()
			return nil, err
		}
		copy(keys.Raw()[n*privateSize:], private.Raw())
		private.Wipe()
	}
	if err := d.put(kindServerKeys, "", keys); err != nil {
		keys.Wipe()
		return nil, err
	}
	return keys, nil
}

func publicText(private []byte) (string, error) {
	public, err := hd.Public(curve.KeyP256, private)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(hd.Expand(public)), nil
}

func (i *ServerKeys) signerKey() []byte { return i.keys.Raw()[:privateSize] }

func (i *ServerKeys) sessionKey() []byte { return i.keys.Raw()[privateSize:] }

// SignerPublicKey is the key of bundles and tokens, uncompressed, in
// lower-case hex.
func (i *ServerKeys) SignerPublicKey() string { return i.signer }

// SessionPublicKey is the key of sessions, uncompressed, in lower-case hex.
func (i *ServerKeys) SessionPublicKey() string { return i.session }

// String keeps the fields out of logs.
func (*ServerKeys) String() string { return "[identity]" }

// GoString keeps the fields out of logs.
func (*ServerKeys) GoString() string { return "[identity]" }

// SignBundle signs SHA-256 of data with the signer key: DER, of short lengths
// only.
func (i *ServerKeys) SignBundle(data []byte) (der []byte, err error) {
	sig, err := i.sign(i.signerKey, sha256.Sum256(data))
	if err != nil {
		return nil, err
	}
	return sig.DER()
}

// SignToken signs as ES256 does (RFC 7518 section 3.4) with the signer key: r
// and s, 32 bytes each.
func (i *ServerKeys) SignToken(headerDotPayload []byte) (raw64 []byte, err error) {
	sig, err := i.sign(i.signerKey, sha256.Sum256(headerDotPayload))
	return raw(sig, err)
}

// SignSession signs with the session key as the clients expect of sessions:
// like ES256, but over the hash of the hash.
func (i *ServerKeys) SignSession(headerDotPayload []byte) (raw64 []byte, err error) {
	once := sha256.Sum256(headerDotPayload)
	sig, err := i.sign(i.sessionKey, sha256.Sum256(once[:]))
	return raw(sig, err)
}

func raw(sig sign.Signature, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return slices.Concat(sig.R[:], sig.S[:]), nil
}

func (i *ServerKeys) sign(key func() []byte, digest [32]byte) (sign.Signature, error) {
	if err := i.vault.enter(); err != nil {
		return sign.Signature{}, err
	}
	defer i.vault.leave()
	return sign.P256(key(), digest)
}
