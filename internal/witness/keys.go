package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"

	"latchkey/internal/secretfile"
	"latchkey/internal/translog"
)

// privateKeys are the keys of a witness.
type privateKeys struct {
	ed25519 ed25519.PrivateKey
	mldsa44 *mldsa.PrivateKey
	public  translog.Keys // in this order
}

// keyFile is witness.key.
type keyFile struct {
	Name    string `json:"name"`
	Ed25519 string `json:"ed25519Seed"`
	MLDSA44 string `json:"mldsa44Seed"`
}

// loadOrCreateKeys reads the keys of a folder, and makes them when there are none.
// A name that is given must be that of the keys: it is part of what they sign.
func loadOrCreateKeys(dir, name string) (*privateKeys, error) {
	path := filepath.Join(dir, "witness.key")
	text, err := secretfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newKeyFile(name); err == nil {
			err = secretfile.Create(path, text)
		}
	}
	if err != nil {
		return nil, err
	}
	var file keyFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is not a key file of a witness", path) // the text is secret
	}
	if name != "" && name != file.Name {
		return nil, fmt.Errorf("the witness in %s is called %s, not %s; a witness keeps its name", dir, file.Name, name)
	}
	keys, err := file.keys()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

func newKeyFile(name string) ([]byte, error) {
	seeds := make([]byte, 64+4)
	rand.Read(seeds) // never fails: it ends the program instead
	if name == "" {
		name = "latchkey-witness/" + hex.EncodeToString(seeds[64:])
	}
	return json.Marshal(keyFile{Name: name, Ed25519: hex.EncodeToString(seeds[:32]), MLDSA44: hex.EncodeToString(seeds[32:64])})
}

var errSeed = errors.New("it does not hold two seeds of 32 bytes in hex")

func (f keyFile) keys() (*privateKeys, error) {
	first, err1 := hex.DecodeString(f.Ed25519)
	second, err2 := hex.DecodeString(f.MLDSA44)
	if err1 != nil || err2 != nil || len(first) != ed25519.SeedSize || len(second) != mldsa.PrivateKeySize {
		return nil, errSeed
	}
	k := &privateKeys{ed25519: ed25519.NewKeyFromSeed(first)}
	var err error
	if k.mldsa44, err = mldsa.NewPrivateKey(mldsa.MLDSA44(), second); err != nil {
		return nil, errSeed
	}
	ed, err := translog.NewKey(f.Name, translog.Ed25519Cosignature, k.ed25519.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	ml, err := translog.NewKey(f.Name, translog.MLDSA44, k.mldsa44.PublicKey().Bytes())
	k.public = translog.Keys{ed, ml}
	return k, err
}

// signers sign as of a time.
func (k *privateKeys) signers(at time.Time) []note.Signer {
	return []note.Signer{
		translog.NewSigner(k.public[0], at, func(m []byte) ([]byte, error) { return ed25519.Sign(k.ed25519, m), nil }),
		translog.NewSigner(k.public[1], at, func(m []byte) ([]byte, error) { return k.mldsa44.Sign(nil, m, nil) }),
	}
}
