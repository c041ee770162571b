package client

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Curve is the curve of an API key, as a key file names it.
type Curve string

// The curves of API keys.
const (
	P256      Curve = "p256"
	Secp256k1 Curve = "secp256k1"
	Ed25519   Curve = "ed25519"
)

// CurveType is the curve as a request names it when a key is registered; empty
// when the curve is not known.
func (c Curve) CurveType() string {
	switch c {
	case P256:
		return "API_KEY_CURVE_P256"
	case Secp256k1:
		return "API_KEY_CURVE_SECP256K1"
	case Ed25519:
		return "API_KEY_CURVE_ED25519"
	}
	return ""
}

// PrivateKey is the private key of an API key. It prints as [secret] however it
// is printed, and does not marshal; [PrivateKey.KeyFile] is the one way to get at
// the secret. Its zero value is no key and cannot sign.
type PrivateKey struct {
	curve  Curve
	public string
	// Behind a pointer, since fmt prints the fields of a struct that holds a
	// key without asking the key.
	secret *secret
}

// secret holds one key; by curve, one of the three is set.
type secret struct {
	p256    *ecdsa.PrivateKey
	k256    *secp256k1.PrivateKey
	edwards ed25519.PrivateKey
}

// GenerateKey makes a new key.
func GenerateKey(c Curve) (PrivateKey, error) {
	switch c {
	case P256:
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return PrivateKey{}, fmt.Errorf("generating key: %w", err)
		}
		return fromP256(key)
	case Secp256k1:
		key, err := secp256k1.GeneratePrivateKey()
		if err != nil {
			return PrivateKey{}, fmt.Errorf("generating key: %w", err)
		}
		return fromSecp256k1(key), nil
	case Ed25519:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return PrivateKey{}, fmt.Errorf("generating key: %w", err)
		}
		return fromEd25519(key), nil
	}
	return PrivateKey{}, unknownCurve(c)
}

func unknownCurve(c Curve) error {
	return fmt.Errorf("curve %.20q is not known: use p256, secp256k1 or ed25519", string(c))
}

// ParsePrivateKey reads a private key from hex: the 32-byte scalar on P-256 and
// secp256k1; for Ed25519 the 32-byte seed, or the seed and the public key.
// Errors do not repeat the text.
func ParsePrivateKey(c Curve, privateKeyHex string) (PrivateKey, error) {
	if c.CurveType() == "" {
		return PrivateKey{}, unknownCurve(c)
	}
	raw, err := hex.DecodeString(privateKeyHex)
	if err != nil {
		return PrivateKey{}, errors.New("private key is not hex")
	}
	defer clear(raw)
	if len(raw) != 32 && (c != Ed25519 || len(raw) != ed25519.PrivateKeySize) {
		return PrivateKey{}, fmt.Errorf("private key is %d bytes long: 32 are needed (64 hex digits)", len(raw))
	}
	switch c {
	case P256:
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
		if err != nil {
			return PrivateKey{}, errOutOfRange
		}
		return fromP256(key)
	case Secp256k1:
		var scalar secp256k1.ModNScalar
		if scalar.SetByteSlice(raw) || scalar.IsZero() {
			return PrivateKey{}, errOutOfRange
		}
		return fromSecp256k1(secp256k1.NewPrivateKey(&scalar)), nil
	case Ed25519:
		key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
		// Signing with a public half that is not the seed's would give the
		// seed away.
		if len(raw) == ed25519.PrivateKeySize && string(raw) != string(key) {
			return PrivateKey{}, errors.New("private key is damaged: its second half is not the public key of its first")
		}
		return fromEd25519(key), nil
	}
	return PrivateKey{}, unknownCurve(c)
}

var errOutOfRange = errors.New("private key is not a scalar of the curve: it is zero or too large")

func fromP256(key *ecdsa.PrivateKey) (PrivateKey, error) {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return PrivateKey{}, fmt.Errorf("encoding public key: %w", err)
	}
	// SEC1 compressed: the parity of y, then x, out of 04 | x | y.
	compressed := append([]byte{2 | point[64]&1}, point[1:33]...)
	return PrivateKey{P256, hex.EncodeToString(compressed), &secret{p256: key}}, nil
}

func fromSecp256k1(key *secp256k1.PrivateKey) PrivateKey {
	public := hex.EncodeToString(key.PubKey().SerializeCompressed())
	return PrivateKey{Secp256k1, public, &secret{k256: key}}
}

func fromEd25519(key ed25519.PrivateKey) PrivateKey {
	public := hex.EncodeToString(key[ed25519.SeedSize:])
	return PrivateKey{Ed25519, public, &secret{edwards: key}}
}

// ParseKeyFile reads the text of a private key file:
//
//	<private key in hex>:p256|secp256k1|ed25519
//
// 64 hex digits without a curve are a P-256 key, as older files have it. White
// space around the text is ignored. Errors do not repeat the text.
func ParseKeyFile(text string) (PrivateKey, error) {
	digits, name, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok {
		if len(digits) != 64 {
			return PrivateKey{}, errors.New("key file is not <hex>:<curve>, nor 64 hex digits alone")
		}
		name = string(P256)
	}
	c := Curve(name)
	if c.CurveType() == "" {
		// The text after the colon may be a secret that was put in the wrong
		// place.
		return PrivateKey{}, errors.New("key file names no known curve: it must end in :p256, :secp256k1 or :ed25519")
	}
	return ParsePrivateKey(c, digits)
}

// KeyFile is the text of a private key file: the secret. It is empty for the
// zero value.
func (k PrivateKey) KeyFile() string {
	var raw []byte
	switch k.curve {
	case P256:
		var err error
		if raw, err = k.secret.p256.Bytes(); err != nil { // only for curves that are not NIST's
			return ""
		}
	case Secp256k1:
		raw = k.secret.k256.Serialize()
	case Ed25519:
		raw = k.secret.edwards
	default:
		return ""
	}
	return hex.EncodeToString(raw) + ":" + string(k.curve)
}

// Curve is the key's curve.
func (k PrivateKey) Curve() Curve { return k.curve }

// PublicKey is the public key in lower-case hex, as it is registered.
func (k PrivateKey) PublicKey() string { return k.public }

// Registration is what [Client.CreateAPIKeys], [Client.CreateUsers] and
// [Client.CreateSubOrganization] take to register the key under a name.
func (k PrivateKey) Registration(name string) APIKeyParameters {
	return APIKeyParameters{APIKeyName: name, PublicKey: k.public, CurveType: APIKeyCurve(k.curve.CurveType())}
}

const redacted = "[secret]"

// Format prints [secret], whatever the verb.
func (k PrivateKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue logs [secret].
func (k PrivateKey) LogValue() slog.Value { return slog.StringValue(redacted) }

var errMarshal = errors.New("client: a private key does not marshal: use KeyFile")

// MarshalText refuses.
func (k PrivateKey) MarshalText() ([]byte, error) { return nil, errMarshal }

// MarshalBinary refuses.
func (k PrivateKey) MarshalBinary() ([]byte, error) { return nil, errMarshal }
