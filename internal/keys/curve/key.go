package curve

import (
	"crypto/elliptic"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// KeyCurve names the curve of a wallet account or a private key, as the
// interface does. API keys name theirs otherwise: see [Curve].
type KeyCurve string

// The curves of wallet accounts and private keys.
const (
	KeySecp256k1 KeyCurve = "CURVE_SECP256K1"
	KeyEd25519   KeyCurve = "CURVE_ED25519"
	KeyP256      KeyCurve = "CURVE_P256"
)

// Enum lists the curves for the schema.
func (KeyCurve) Enum() []string {
	return []string{string(KeySecp256k1), string(KeyEd25519), string(KeyP256)}
}

// Uncompressed writes a public key with both coordinates. An Ed25519 key has
// one form only.
func Uncompressed(c KeyCurve, publicKey []byte) ([]byte, error) {
	switch c {
	case KeySecp256k1:
		key, err := secp256k1.ParsePubKey(publicKey)
		if err != nil {
			return nil, err
		}
		return key.SerializeUncompressed(), nil
	case KeyP256:
		x, y := elliptic.UnmarshalCompressed(elliptic.P256(), publicKey)
		if x == nil {
			return nil, errors.New("not a compressed point of P-256")
		}
		point := append(make([]byte, 0, uncompressedSize), 4)
		point = append(point, x.FillBytes(make([]byte, coordinateSize))...)
		return append(point, y.FillBytes(make([]byte, coordinateSize))...), nil
	default:
		return publicKey, nil
	}
}
