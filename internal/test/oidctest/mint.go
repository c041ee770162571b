package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // SHA-384 and SHA-512 by name
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"time"
)

// Token asks for a token; the package comment says what the members mean.
type Token struct {
	Claims map[string]any `json:"claims"`
	Alg    string         `json:"alg"`
	Key    string         `json:"key"`
	Header map[string]any `json:"header"`
}

// ring holds one key of each kind.
type ring struct {
	name string
	keys map[string]crypto.Signer // by kind: rsa, p256, p384, ed25519
}

// algorithms says what each algorithm signs with.
var algorithms = map[string]struct {
	kind string
	hash crypto.Hash
}{
	"RS256": {"rsa", crypto.SHA256},
	"RS384": {"rsa", crypto.SHA384},
	"RS512": {"rsa", crypto.SHA512},
	"PS256": {"rsa", crypto.SHA256},
	"ES256": {"p256", crypto.SHA256},
	"ES384": {"p384", crypto.SHA384},
	"EdDSA": {"ed25519", 0},
	"HS256": {"rsa", crypto.SHA256},
	"none":  {"rsa", 0},
}

func newRing(name string) (*ring, error) {
	r := &ring{name: name, keys: make(map[string]crypto.Signer)}
	for kind, generate := range map[string]func() (crypto.Signer, error){
		"rsa":     func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
		"p256":    func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		"p384":    func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) },
		"ed25519": func() (crypto.Signer, error) { _, k, err := ed25519.GenerateKey(rand.Reader); return k, err },
	} {
		k, err := generate()
		if err != nil {
			return nil, err
		}
		r.keys[kind] = k
	}
	return r, nil
}

func (r *ring) id(kind string) string { return kind + "-" + r.name }

// rotate makes new keys the current ones.
func (s *server) rotate(keep bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := newRing(fmt.Sprint(len(s.rings) + 1))
	if err != nil {
		return err
	}
	if !keep {
		s.published = nil
	}
	s.rings, s.published = append(s.rings, fresh), append(s.published, fresh)
	return nil
}

// keySet is the JWK set (RFC 7517). The keys do not say for which algorithm
// they are, as one RSA key serves several.
func (s *server) keySet() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := []map[string]string{}
	for _, r := range s.published {
		for kind, k := range r.keys {
			jwk := map[string]string{"kid": r.id(kind), "use": "sig"}
			switch k := k.Public().(type) {
			case *rsa.PublicKey:
				jwk["kty"], jwk["n"], jwk["e"] = "RSA", encode(k.N.Bytes()), encode(big.NewInt(int64(k.E)).Bytes())
			case *ecdsa.PublicKey:
				point, err := k.Bytes() // 04, x, y
				if err != nil {
					continue
				}
				half := len(point) / 2
				jwk["kty"], jwk["crv"] = "EC", k.Curve.Params().Name
				jwk["x"], jwk["y"] = encode(point[1:1+half]), encode(point[1+half:])
			case ed25519.PublicKey:
				jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", encode(k)
			}
			keys = append(keys, jwk)
		}
	}
	if s.mode == "keys-none" {
		keys = keys[:0]
	}
	return map[string]any{"keys": keys}
}

// mint makes a token.
func (s *server) mint(t Token) (string, error) {
	if t.Alg == "" {
		t.Alg = "RS256"
	}
	a, ok := algorithms[t.Alg]
	if !ok {
		return "", fmt.Errorf("alg %q is not known", t.Alg)
	}
	signer, id, err := s.choose(t.Key, a.kind)
	if err != nil {
		return "", err
	}
	header := map[string]any{"alg": t.Alg, "typ": "JWT", "kid": id}
	now := time.Now().Unix()
	claims := map[string]any{"iss": s.url, "sub": "user", "aud": "client", "iat": now, "exp": now + 3600}
	var signed string
	for i, part := range []struct{ base, given map[string]any }{{header, t.Header}, {claims, t.Claims}} {
		maps.Copy(part.base, part.given)
		maps.DeleteFunc(part.base, func(_ string, v any) bool { return v == nil })
		text, err := json.Marshal(part.base)
		if err != nil {
			return "", err
		}
		if i > 0 {
			signed += "."
		}
		signed += encode(text)
	}
	signature, err := sign(t.Alg, a.hash, signer, signed)
	if err != nil {
		return "", err
	}
	return signed + "." + encode(signature), nil
}

// choose finds the key that a token is signed with, and the id that it claims.
func (s *server) choose(which, kind string) (crypto.Signer, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.rings[len(s.rings)-1]
	switch which {
	case "", "current":
		return current.keys[kind], current.id(kind), nil
	case "previous":
		if len(s.rings) < 2 {
			return nil, "", fmt.Errorf("there was no rotation, so there is no previous key")
		}
		previous := s.rings[len(s.rings)-2]
		return previous.keys[kind], previous.id(kind), nil
	case "stranger", "impostor":
		if s.stranger == nil {
			r, err := newRing("stranger")
			if err != nil {
				return nil, "", err
			}
			s.stranger = r
		}
		if which == "impostor" {
			return s.stranger.keys[kind], current.id(kind), nil
		}
		return s.stranger.keys[kind], s.stranger.id(kind), nil
	}
	return nil, "", fmt.Errorf("key %q is not one of current, previous, stranger, impostor", which)
}

// sign makes the signature of RFC 7518, section 3. It shares no code with what
// verifies it.
func sign(alg string, hash crypto.Hash, signer crypto.Signer, text string) ([]byte, error) {
	message := []byte(text)
	if hash != 0 {
		h := hash.New()
		h.Write(message)
		message = h.Sum(nil)
	}
	switch alg {
	case "none":
		return nil, nil
	case "HS256":
		der, err := x509.MarshalPKIXPublicKey(signer.Public())
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		mac.Write([]byte(text))
		return mac.Sum(nil), nil
	case "PS256":
		return signer.Sign(rand.Reader, message, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash})
	}
	key, ok := signer.(*ecdsa.PrivateKey)
	if !ok {
		return signer.Sign(rand.Reader, message, hash)
	}
	r, s, err := ecdsa.Sign(rand.Reader, key, message)
	if err != nil {
		return nil, err
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	both := make([]byte, 2*size)
	r.FillBytes(both[:size])
	s.FillBytes(both[size:])
	return both, nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
