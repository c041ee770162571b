package vault

import (
	"crypto/sha256"
	"encoding/hex"

	"latchkey/internal/keys/vault/internal/hd"
)

// The key with which the server is an OpenID Connect issuer is derived from its
// keys, as those of auth proxies are. It signs identities and nothing else.

const issuerInfo = "latchkey oidc issuer "

// IssuerPublicKey is the public half of the issuer's P-256 key: an id, which
// follows from it, and the point uncompressed (65 bytes).
func (k *ServerKeys) IssuerPublicKey() (id string, point []byte, err error) {
	private, public, err := k.derivedKey(issuerInfo, "")
	if err != nil {
		return "", nil, err
	}
	private.Wipe()
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8]), hd.Expand(public), nil
}

// SignIdentity signs as ES256 does (RFC 7518 section 3.4) with the issuer's key:
// r and s, 32 bytes each.
func (k *ServerKeys) SignIdentity(headerDotPayload []byte) (raw64 []byte, err error) {
	private, _, err := k.derivedKey(issuerInfo, "")
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	return raw(k.sign(private.Raw, sha256.Sum256(headerDotPayload)))
}
