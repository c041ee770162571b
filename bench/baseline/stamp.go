package baseline

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"
)

// stamps verifies stamps and keeps the keys that it has parsed.
type stamps struct {
	keys sync.Map // of *ecdsa.PublicKey by their hex
}

var (
	errStamp     = errors.New("X-Stamp is not base64url of a stamp by a P-256 key")
	errSignature = errors.New("the signature does not fit the body and the public key")
)

// verify checks a stamp over a body and returns the hash that was signed.
func (s *stamps) verify(header string, body []byte) (digest [32]byte, err error) {
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return digest, errStamp
	}
	var stamp struct {
		PublicKey string `json:"publicKey"`
		Scheme    string `json:"scheme"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(text, &stamp); err != nil || stamp.Scheme != "SIGNATURE_SCHEME_TK_API_P256" {
		return digest, errStamp
	}
	key, err := s.key(stamp.PublicKey)
	if err != nil {
		return digest, err
	}
	signature, err := hex.DecodeString(stamp.Signature)
	if err != nil {
		return digest, errStamp
	}
	digest = sha256.Sum256(body)
	if !ecdsa.VerifyASN1(key, digest[:], signature) {
		return digest, errSignature
	}
	return digest, nil
}

func (s *stamps) key(text string) (*ecdsa.PublicKey, error) {
	if key, ok := s.keys.Load(text); ok {
		return key.(*ecdsa.PublicKey), nil
	}
	compressed, err := hex.DecodeString(text)
	if err != nil {
		return nil, errStamp
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), compressed)
	if x == nil {
		return nil, errStamp
	}
	point := append(make([]byte, 0, 65), 4) // uncompressed, SEC1 section 2.3.3
	point = append(point, x.FillBytes(make([]byte, 32))...)
	point = append(point, y.FillBytes(make([]byte, 32))...)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, errStamp
	}
	s.keys.Store(text, key)
	return key, nil
}
