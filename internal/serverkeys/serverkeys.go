// Package serverkeys keeps the server's own two signing keys in a file: one
// signs the bundles in which keys are imported and exported, the other signs
// sessions. Clients check both signatures against the public halves, so the
// keys stay the same for the life of an installation, on every node of it.
package serverkeys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/secretfile"
)

// Keys are the server's signing keys.
type Keys struct {
	signer, session *ecdsa.PrivateKey
}

// SignerPublicKey is the key of bundles, uncompressed, in hex.
func (k *Keys) SignerPublicKey() string { return publicHex(k.signer) }

// SessionPublicKey is the key of sessions, uncompressed, in hex.
func (k *Keys) SessionPublicKey() string { return publicHex(k.session) }

// String keeps the keys out of logs.
func (*Keys) String() string { return "[secret]" }

// GoString keeps the keys out of logs.
func (*Keys) GoString() string { return "[secret]" }

// MarshalJSON keeps the keys out of every document but their own file.
func (*Keys) MarshalJSON() ([]byte, error) {
	return nil, errors.New("serverkeys: the keys are secret")
}

// file is the form on disk: private scalars in hex.
type file struct {
	Signer  string `json:"signerPrivateKey"`
	Session string `json:"sessionPrivateKey"`
}

// Load reads the keys. It refuses a file that others than its owner can read.
func Load(path string) (*Keys, error) {
	text, err := secretfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("server keys: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		// The text of the error could quote what it stumbled over.
		return nil, fmt.Errorf("server keys: %s is not a file of server keys", path)
	}
	signer, err := parse(f.Signer)
	if err != nil {
		return nil, fmt.Errorf("server keys: signerPrivateKey in %s: %w", path, err)
	}
	session, err := parse(f.Session)
	if err != nil {
		return nil, fmt.Errorf("server keys: sessionPrivateKey in %s: %w", path, err)
	}
	return &Keys{signer: signer, session: session}, nil
}

// LoadOrCreate reads the keys, and makes them when the file does not exist.
func LoadOrCreate(path string) (*Keys, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return Load(path)
	}
	var f file
	for _, target := range []*string{&f.Signer, &f.Session} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		scalar, err := key.Bytes()
		if err != nil {
			return nil, err
		}
		*target = hex.EncodeToString(scalar)
	}
	text, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	if err := secretfile.Write(path, append(text, '\n')); err != nil {
		return nil, fmt.Errorf("server keys: %w", err)
	}
	return Load(path)
}

func parse(text string) (*ecdsa.PrivateKey, error) {
	scalar, err := hex.DecodeString(text)
	if err != nil {
		return nil, errors.New("is not hex")
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		return nil, errors.New("is not a P-256 private key of 32 bytes")
	}
	return key, nil
}

func publicHex(key *ecdsa.PrivateKey) string {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic("serverkeys: a key that was parsed has no point: " + err.Error())
	}
	return hex.EncodeToString(point)
}
