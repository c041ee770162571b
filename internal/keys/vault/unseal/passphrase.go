package unseal

import (
	"bytes"
	"errors"
	"fmt"

	"filippo.io/age"

	"latchkey/internal/secretfile"
)

// workFactor is the logarithm of scrypt's N when a file is made: about a
// second. maxWorkFactor bounds what a file may ask for.
const (
	workFactor    = 18
	maxWorkFactor = 20
)

// Passphrase reads the key from a file that age encrypted with a passphrase
// (scrypt). ask provides the passphrase; it is called once for each Unseal,
// and what it returns is wiped.
func Passphrase(path string, ask func() ([]byte, error)) *Source {
	return &Source{name: "file " + path + " under a passphrase", read: func() ([]byte, error) {
		sealed, err := secretfile.Read(path)
		if err != nil {
			return nil, err
		}
		passphrase, err := ask()
		if err != nil {
			return nil, err
		}
		defer clear(passphrase)
		identity, err := age.NewScryptIdentity(string(passphrase))
		if err != nil {
			return nil, errors.New("the passphrase is empty")
		}
		identity.SetMaxWorkFactor(maxWorkFactor)
		plain, err := age.Decrypt(bytes.NewReader(sealed), identity)
		if err != nil {
			return nil, fmt.Errorf("%s does not open with this passphrase", path)
		}
		return readAll(plain)
	}}
}

// CreatePassphrase makes a fresh key in a new file for Passphrase. It refuses
// a path where there is something, as Create does.
func CreatePassphrase(path string, passphrase []byte) error {
	return createPassphrase(path, passphrase, workFactor)
}

func createPassphrase(path string, passphrase []byte, logN int) error {
	recipient, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return errors.New("unseal: the passphrase is empty")
	}
	recipient.SetWorkFactor(logN)
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, recipient)
	if err != nil {
		return fmt.Errorf("unseal: %w", err)
	}
	text := newKey()
	defer clear(text)
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("unseal: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("unseal: %w", err)
	}
	return create(path, sealed.Bytes())
}
