package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what an issuer may publish. The largest keys and sets in use are a
// fraction of them; a hostile issuer must not make signatures expensive.
const (
	maxKeys    = 50
	maxKeyID   = 256
	minRSABits = 2048 // RFC 7518, section 3.3
	maxRSABits = 8192
)

// errNoKey is why a token is refused that none of the issuer's keys fits.
var errNoKey = errors.New("no key fits")

// algorithms says which keys may check a signature of which algorithm. It
// holds asymmetric ones only: under HS256, the issuer's public key would be
// the secret.
var algorithms = map[string]func(crypto.PublicKey) bool{
	oidc.RS256: isRSA,
	oidc.RS384: isRSA,
	oidc.RS512: isRSA,
	oidc.PS256: isRSA,
	oidc.ES256: isOn(elliptic.P256()),
	oidc.ES384: isOn(elliptic.P384()),
	oidc.EdDSA: isEd25519,
}

func algorithmNames() string {
	return strings.Join(slices.Sorted(maps.Keys(algorithms)), ", ")
}

func isRSA(k crypto.PublicKey) bool {
	r, ok := k.(*rsa.PublicKey)
	return ok && r.N.BitLen() >= minRSABits && r.N.BitLen() <= maxRSABits
}

func isOn(c elliptic.Curve) func(crypto.PublicKey) bool {
	return func(k crypto.PublicKey) bool {
		e, ok := k.(*ecdsa.PublicKey)
		return ok && e.Curve == c
	}
}

func isEd25519(k crypto.PublicKey) bool {
	e, ok := k.(ed25519.PublicKey)
	return ok && len(e) == ed25519.PublicKeySize
}

// key is a public key of an issuer.
type key struct {
	id, algorithm string // empty: not said
	public        crypto.PublicKey
}

// keySet is what an issuer published at one time. It does not change.
type keySet struct {
	keys []key
}

// parseKeys reads a JWK set (RFC 7517). As section 5 there advises, it leaves
// out the keys that are of no use here, rather than refuse the set.
func parseKeys(document []byte) (*keySet, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%d keys", len(set.Keys))
	}
	var usable keySet
	for _, text := range set.Keys {
		if k, ok := parseKey(text); ok {
			usable.keys = append(usable.keys, k)
		}
	}
	return &usable, nil
}

// jwk holds the members of a key that matter. Everything else stays away from
// the library, above all certificates: checking them is expensive, and an
// issuer chooses their size.
type jwk struct {
	Type      string `json:"kty,omitzero"`
	ID        string `json:"kid,omitzero"`
	Algorithm string `json:"alg,omitzero"`
	Use       string `json:"use,omitzero"`
	Curve     string `json:"crv,omitzero"`
	N         string `json:"n,omitzero"`
	E         string `json:"e,omitzero"`
	X         string `json:"x,omitzero"`
	Y         string `json:"y,omitzero"`

	Private jsontext.Value `json:"d,omitzero"`
}

func parseKey(text jsontext.Value) (key, bool) {
	var j jwk
	if err := json.Unmarshal(text, &j); err != nil {
		return key{}, false
	}
	// With a private key that the issuer publishes, anyone can sign.
	if j.Use != "" && j.Use != "sig" || len(j.ID) > maxKeyID || j.Private != nil {
		return key{}, false
	}
	if len(j.N) > maxRSABits/6+4 || len(j.E) > 8 || len(j.X) > 128 || len(j.Y) > 128 {
		return key{}, false
	}
	bare, err := json.Marshal(j)
	if err != nil {
		return key{}, false
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(bare); err != nil || !parsed.IsPublic() || !parsed.Valid() {
		return key{}, false
	}
	k := key{id: j.ID, algorithm: j.Algorithm, public: parsed.Key}
	for algorithm := range algorithms {
		if k.fits(algorithm) {
			return k, true
		}
	}
	return key{}, false
}

// fits reports whether signatures of the algorithm may be checked by the key.
func (k key) fits(algorithm string) bool {
	may, ok := algorithms[algorithm]
	return ok && (k.algorithm == "" || k.algorithm == algorithm) && may(k.public)
}

// candidates are the keys that may have signed the token.
func (s *keySet) candidates(t *token) []crypto.PublicKey {
	var found []crypto.PublicKey
	for _, k := range s.keys {
		if k.fits(t.algorithm) && (t.keyID == "" || t.keyID == k.id) {
			found = append(found, k.public)
		}
	}
	return found
}

// signature remembers whether the signature was the reason for a refusal.
type signature struct {
	oidc.StaticKeySet
	good bool
}

func (s *signature) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := s.StaticKeySet.VerifySignature(ctx, jwt)
	s.good = err == nil
	return payload, err
}

// verify checks the token by the keys of its issuer.
func (t *token) verify(ctx context.Context, set *keySet, now func() time.Time) error {
	keys := set.candidates(t)
	issuer := quote(t.claims.Issuer)
	if len(keys) == 0 && t.keyID == "" {
		return problemf(errNoKey, "issuer %s publishes no key for %s, by which it is signed", issuer, t.algorithm)
	}
	if len(keys) == 0 {
		return problemf(errNoKey, "it is signed by key %s for %s, which issuer %s does not publish: get a new one from the issuer",
			quote(t.keyID), t.algorithm, issuer)
	}
	s := &signature{StaticKeySet: oidc.StaticKeySet{PublicKeys: keys}}
	_, err := oidc.NewVerifier(t.claims.Issuer, s, &oidc.Config{
		SkipClientIDCheck:    true, // any audience may be registered; users are found by it
		SupportedSigningAlgs: []string{t.algorithm},
		Now:                  now,
	}).Verify(ctx, t.text)
	switch {
	case !s.good:
		return problemf(errNoKey, "its signature does not fit the keys that issuer %s publishes: send the JWT as issued", issuer)
	case err != nil:
		// The issuer may have taken so long that the token has expired by now.
		if expired := t.checkTimes(now()); expired != nil {
			return expired
		}
		return problemf(err, "its claims contradict OpenID Connect: get a new one from the issuer")
	}
	return nil
}
