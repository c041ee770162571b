package client

import (
	"bytes"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/mr-tron/base58"
)

// Everything is sealed by HPKE (RFC 9180): base mode, DHKEM(P-256,
// HKDF-SHA256), HKDF-SHA256, AES-256-GCM, this info, one message. Its
// additional data is the encapsulated key and the receiver's, both
// uncompressed.
const hpkeInfo = "turnkey_hpke"

// Recipient is a key to which the server encrypts exports and credentials. It
// prints as [secret] and does not marshal.
type Recipient struct {
	private hpke.PrivateKey
	public  []byte // uncompressed
}

// NewRecipient makes a recipient with a new key, for one export or login.
func NewRecipient() (*Recipient, error) {
	key, err := GenerateKey(P256)
	if err != nil {
		return nil, err
	}
	return key.Recipient()
}

// Recipient is the key as a recipient. It must be on P-256. It is for bundles
// that come later, by e-mail say: the key can be kept in its file until then.
func (k PrivateKey) Recipient() (*Recipient, error) {
	if k.curve != P256 {
		return nil, fmt.Errorf("a recipient's key is on p256, and this one is on %q", string(k.curve))
	}
	key, err := k.secret.p256.ECDH()
	if err != nil {
		return nil, fmt.Errorf("making a recipient: %w", err)
	}
	private, err := hpke.DHKEM(ecdh.P256()).NewPrivateKey(key.Bytes())
	if err != nil {
		return nil, fmt.Errorf("making a recipient: %w", err)
	}
	return &Recipient{private: private, public: key.PublicKey().Bytes()}, nil
}

// PublicKey is the TargetPublicKey of requests: uncompressed, in hex.
func (r *Recipient) PublicKey() string { return hex.EncodeToString(r.public) }

// OpenCredential decrypts the CredentialBundle of [Client.OAuth],
// [Client.OTPAuth] and [Client.CreateReadWriteSession], or of an e-mail: a P-256
// key that the server has registered. Such bundles are not signed; that the
// server accepts the key proves them.
func (r *Recipient) OpenCredential(credentialBundle string) (PrivateKey, error) {
	enc, ciphertext, err := readCredential(credentialBundle)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("credential bundle: %w", err)
	}
	scalar, err := r.open(enc, ciphertext)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("credential bundle: %w", err)
	}
	defer clear(scalar)
	return ParsePrivateKey(P256, hex.EncodeToString(scalar))
}

const (
	compressedSize = 33
	checksumSize   = 4
)

// readCredential takes a credential bundle apart: Base58Check without a version
// byte, of a compressed point and a ciphertext. It returns the point
// uncompressed.
func readCredential(text string) (enc, ciphertext []byte, err error) {
	if len(text) > 1024 {
		return nil, nil, errors.New("it is too long")
	}
	raw, err := base58.Decode(text)
	if err != nil {
		return nil, nil, errors.New("it is not base58")
	}
	if len(raw) <= compressedSize+checksumSize {
		return nil, nil, errors.New("it is too short")
	}
	payload, checksum := raw[:len(raw)-checksumSize], raw[len(raw)-checksumSize:]
	once := sha256.Sum256(payload)
	if twice := sha256.Sum256(once[:]); !bytes.Equal(twice[:checksumSize], checksum) {
		return nil, nil, errors.New("its checksum is wrong: some characters are missing or changed")
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), payload[:compressedSize])
	if x == nil {
		return nil, nil, errors.New("it does not begin with a point of P-256")
	}
	const size = 32
	enc = make([]byte, 1+2*size)
	enc[0] = 4
	x.FillBytes(enc[1 : 1+size])
	y.FillBytes(enc[1+size:])
	return enc, payload[compressedSize:], nil
}

func (r *Recipient) open(enc, ciphertext []byte) ([]byte, error) {
	recipient, err := hpke.NewRecipient(enc, r.private, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(hpkeInfo))
	if err != nil {
		return nil, errors.New("its encapsulated key is no uncompressed point of P-256")
	}
	secret, err := recipient.Open(slices.Concat(enc, r.public), ciphertext)
	if err != nil {
		return nil, errors.New("it is encrypted to another key, or damaged")
	}
	return secret, nil
}

// sealTo encrypts to an uncompressed point.
func sealTo(receiver, secret []byte) (string, error) {
	public, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(receiver)
	if err != nil {
		return "", errors.New("the target is no uncompressed point of P-256")
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(hpkeInfo))
	if err != nil {
		return "", fmt.Errorf("encrypting: %w", err)
	}
	ciphertext, err := sender.Seal(slices.Concat(enc, receiver), secret)
	if err != nil {
		return "", fmt.Errorf("encrypting: %w", err)
	}
	text, err := json.Marshal(struct {
		Encapped   string `json:"encappedPublic"`
		Ciphertext string `json:"ciphertext"`
	}{hex.EncodeToString(enc), hex.EncodeToString(ciphertext)})
	return string(text), err
}

// Format prints [secret], whatever the verb.
func (r *Recipient) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue logs [secret].
func (r *Recipient) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText refuses.
func (r *Recipient) MarshalText() ([]byte, error) { return nil, errMarshal }
