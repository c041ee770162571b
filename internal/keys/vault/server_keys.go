package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"latchkey/internal/devseed"
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

// LoadOrCreateServerKeys reads the keys from the instance's ciphertexts, and makes
// them when there are none. It returns the refusal of [Vault.Check] for a wrong master
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
		err = fmt.Errorf("vault: the server's keys have an unknown form")
	}
	if err != nil {
		keys.Wipe()
		return nil, err
	}
	v.ring.hold(keys)
	return i, nil
}

// SeedServerKeys makes the keys of a development server from a seed, unless there are
// some: pages in which they are built in stay good for its next start.
func (v *Vault) SeedServerKeys(s CiphertextStore, seed devseed.Seed) error {
	if err := v.enter(); err != nil {
		return err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	if _, err := d.sealing(); err != nil {
		return err
	}
	keys, err := d.get(kindServerKeys, "")
	if err == nil && keys == nil {
		keys, err = d.storeIdentity(func(n int, into []byte) error {
			return seed.Private("server key "+strconv.Itoa(n), func(private [32]byte) error {
				copy(into, private[:])
				_, err := hd.Public(curve.KeyP256, into)
				return err
			})
		})
	}
	if err == nil {
		keys.Wipe()
	}
	return err
}

func (s *sealedStore) createIdentity() (*secret.Bytes, error) {
	return s.storeIdentity(func(_ int, into []byte) error {
		private, _, err := s.vault.randomKey(curve.KeyP256)
		if err == nil {
			copy(into, private.Raw())
			private.Wipe()
		}
		return err
	})
}

// storeIdentity stores two keys, each of which make writes into its place.
func (s *sealedStore) storeIdentity(make func(n int, into []byte) error) (*secret.Bytes, error) {
	keys := s.vault.pool.New(2 * privateSize)
	for n := range 2 {
		if err := make(n, keys.Raw()[n*privateSize:][:privateSize]); err != nil {
			keys.Wipe()
			return nil, err
		}
	}
	if err := s.put(kindServerKeys, "", keys); err != nil {
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

func (k *ServerKeys) signerKey() []byte { return k.keys.Raw()[:privateSize] }

func (k *ServerKeys) sessionKey() []byte { return k.keys.Raw()[privateSize:] }

// SignerPublicKey is the key of bundles and tokens, uncompressed, in
// lower-case hex.
func (k *ServerKeys) SignerPublicKey() string { return k.signer }

// SessionPublicKey is the key of sessions, uncompressed, in lower-case hex.
func (k *ServerKeys) SessionPublicKey() string { return k.session }

// String keeps the fields out of logs.
func (*ServerKeys) String() string { return "[server keys]" }

// GoString keeps the fields out of logs.
func (*ServerKeys) GoString() string { return "[server keys]" }

// SignBundle signs SHA-256 of data with the signer key: DER, of short lengths
// only.
func (k *ServerKeys) SignBundle(data []byte) (der []byte, err error) {
	sig, err := k.sign(k.signerKey, sha256.Sum256(data))
	if err != nil {
		return nil, err
	}
	return sig.DER()
}

// SignToken signs as ES256 does (RFC 7518 section 3.4) with the signer key: r
// and s, 32 bytes each.
func (k *ServerKeys) SignToken(headerDotPayload []byte) (raw64 []byte, err error) {
	sig, err := k.sign(k.signerKey, sha256.Sum256(headerDotPayload))
	return raw(sig, err)
}

// SignSession signs with the session key as the clients expect of sessions:
// like ES256, but over the hash of the hash.
func (k *ServerKeys) SignSession(headerDotPayload []byte) (raw64 []byte, err error) {
	once := sha256.Sum256(headerDotPayload)
	sig, err := k.sign(k.sessionKey, sha256.Sum256(once[:]))
	return raw(sig, err)
}

func raw(sig sign.Signature, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return slices.Concat(sig.R[:], sig.S[:]), nil
}

func (k *ServerKeys) sign(key func() []byte, digest [32]byte) (sign.Signature, error) {
	if err := k.vault.enter(); err != nil {
		return sign.Signature{}, err
	}
	defer k.vault.leave()
	return sign.P256(key(), digest)
}
