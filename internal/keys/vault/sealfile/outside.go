package sealfile

import (
	"errors"

	"filippo.io/age"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/keys/vault/internal/secret"
)

// Kinds of recipients whose identity something outside of the file guards. The texts
// are in files, and stay.
const (
	// KindPKCS11 has its identity under a key of a token, which never leaves it.
	KindPKCS11 = "pkcs11"
	// KindTPM has its identity in an object that one TPM alone opens.
	KindTPM = "tpm"
	// KindTransit has its identity under a key of a service (OpenBao, Vault).
	KindTransit = "transit"
	// KindKMS has its identity under a key of the key management of a cloud.
	KindKMS = "kms"
)

// outside is what a seal keeps of a recipient of such a kind.
type outside interface {
	// check says what is wrong with what was read from a file.
	check() error
	// unwrap has the scalar of the identity of its owner opened. given is what the
	// guard asks for: a PIN, a token, nothing.
	unwrap(owner *recipient, given []byte) ([]byte, error)
}

// newOutside is empty, for a kind; nil if it is another one.
func newOutside(kind string) outside {
	switch kind {
	case KindPKCS11:
		return &tokenKept{}
	case KindTPM:
		return &tpmKept{}
	case KindTransit:
		return &transitKept{}
	case KindKMS:
		return &kmsKept{}
	}
	return nil
}

// readOutside reads kept.
func readOutside(kind string, kept jsontext.Value) (outside, error) {
	o := newOutside(kind)
	if err := unmarshalKept(kept, o); err != nil {
		return nil, err
	}
	return o, o.check()
}

// guardOutside has the scalar of an owner guarded by what spec names.
func guardOutside(owner *recipient, scalar []byte, spec Spec) (outside, error) {
	switch spec.Kind {
	case KindPKCS11:
		return wrapByToken(spec.Place, scalar, spec.Secret)
	case KindTPM:
		return wrapByTPM(spec.Place, scalar)
	case KindKMS:
		return wrapByKMS(owner, spec.Place, scalar)
	default:
		return wrapByTransit(spec.Place, scalar, spec.Secret)
	}
}

// byOutside is the identity of a recipient. What the guard answers is used only if it
// is the identity of this very recipient: a token, a plugin or a service may lie.
func (r *recipient) byOutside(given []byte) (age.Identity, error) {
	plain, err := r.outside.unwrap(r, given)
	defer clear(plain)
	if err != nil {
		return nil, err
	}
	lies := errors.New("it answered with something else than the key of this recipient: it is not the one that the seal was made with, or it does not tell the truth")
	if len(plain) != scalarSize {
		return nil, lies
	}
	pool := &secret.Pool{}
	defer pool.Close()
	identity, err := identityOf(pool.Of(plain))
	if err != nil || identity.Recipient().String() != r.Recipient {
		return nil, lies
	}
	return identity, nil
}

// checkWays refuses a seal that one broken machine closes for good.
func checkWays(recipients []recipient) error {
	for _, r := range recipients {
		if r.Kind != KindTPM {
			return nil
		}
	}
	return errors.New("only TPMs would open it, and a TPM is lost with its machine: add another recipient, such as --people or --passphrase")
}
