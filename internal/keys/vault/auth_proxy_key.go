package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/secret"
)

// The key of an organization's auth proxy is derived from the server's keys: it
// is stored nowhere, the same on every node, and another one for each proxy.

const authProxyInfo = "latchkey auth proxy "

// AuthProxyPublicKey is the P-256 key that signs for the auth proxy with this
// id, compressed, in lower-case hex.
func (k *ServerKeys) AuthProxyPublicKey(id string) (string, error) {
	private, public, err := k.authProxyKey(id)
	if err != nil {
		return "", err
	}
	private.Wipe()
	return hex.EncodeToString(public), nil
}

// SignForAuthProxy signs SHA-256 of a request with the key of the auth proxy
// with this id: DER.
func (k *ServerKeys) SignForAuthProxy(id string, body []byte) (der []byte, err error) {
	private, _, err := k.authProxyKey(id)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	sig, err := k.sign(private.Raw, sha256.Sum256(body))
	if err != nil {
		return nil, err
	}
	return sig.DER()
}

func (k *ServerKeys) authProxyKey(id string) (private *secret.Bytes, public []byte, err error) {
	return k.derivedKey(authProxyInfo, id)
}

// derivedKey derives a P-256 key for a purpose until the bytes are one, as
// [Vault.randomKey] draws.
func (k *ServerKeys) derivedKey(purpose, id string) (private *secret.Bytes, public []byte, err error) {
	private = k.vault.pool.New(privateSize)
	const tries = 64
	for try := range tries {
		var derived []byte
		if derived, err = k.derive(purpose + strconv.Itoa(try) + " " + id); err != nil {
			break
		}
		copy(private.Raw(), derived)
		clear(derived)
		if public, err = hd.Public(curve.KeyP256, private.Raw()); err == nil {
			return private, public, nil
		}
	}
	private.Wipe()
	return nil, nil, err
}
