// Command age-plugin-lkpkcs11 has a secret guarded by a key on a PKCS#11 token. It is
// a plugin of age, and a program of its own so that the library of a vendor, which is
// C and runs in its process, cannot take latchkey down, and so that latchkey needs no
// C. Latchkey starts it: docs/seals.md.
package main

import (
	"encoding/base64"
	"errors"
	"os"

	"filippo.io/age"

	"latchkey/plugins/host"
)

func main() {
	status := host.Main("lkpkcs11", guard{})
	os.Exit(status)
}

// guard encrypts with a key that stays on a token.
type guard struct{}

// Wrap encrypts. The place is the URI of the key.
func (guard) Wrap(place string, secret []byte, ask host.Ask) (*age.Stanza, error) {
	at, err := parseURI(place)
	if err != nil {
		return nil, err
	}
	k, err := openKey(at, ask)
	if err != nil {
		return nil, err
	}
	defer k.close()
	if err := k.refuseExtractable(); err != nil {
		return nil, err
	}
	sealed, err := k.encrypt(secret)
	if err != nil {
		return nil, err
	}
	iv := "-" // an argument cannot be empty
	if len(sealed.iv) > 0 {
		iv = base64.StdEncoding.EncodeToString(sealed.iv)
	}
	return &age.Stanza{Args: []string{sealed.mech, iv}, Body: sealed.text}, nil
}

// Unwrap decrypts.
func (guard) Unwrap(place string, stanza *age.Stanza, ask host.Ask) ([]byte, error) {
	at, err := parseURI(place)
	if err != nil {
		return nil, err
	}
	if len(stanza.Args) != 2 {
		return nil, errors.New("what the seal keeps is not of this program: mech and iv must be there")
	}
	from := sealed{mech: stanza.Args[0], text: stanza.Body}
	if stanza.Args[1] != "-" {
		if from.iv, err = base64.StdEncoding.DecodeString(stanza.Args[1]); err != nil {
			return nil, errors.New("iv, which the seal keeps, is not in base64")
		}
	}
	if err := from.check(); err != nil {
		return nil, err
	}
	k, err := openKey(at, ask)
	if err != nil {
		return nil, err
	}
	defer k.close()
	return k.decrypt(from)
}
