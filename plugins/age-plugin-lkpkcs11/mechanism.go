package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1" // OAEP of tokens that know no other
	_ "crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/miekg/pkcs11"
)

// Mechanisms, as a seal names them. The texts are in files, and stay.
const (
	mechGCM    = "AES-GCM"
	mechSHA256 = "RSA-OAEP-SHA256"
	mechSHA1   = "RSA-OAEP-SHA1"
)

const (
	gcmNonce = 12
	gcmTag   = 128 // bits
)

// bound is authenticated with each secret: what another program has the key encrypt
// is not taken for ours.
const bound = "latchkey seal pkcs11"

// sealed is what a token has encrypted.
type sealed struct {
	mech     string
	iv, text []byte
}

// check finds what no token shall be bothered with.
func (s sealed) check() error {
	switch s.mech {
	case mechGCM:
		if len(s.iv) == 0 || len(s.iv) > 64 {
			return errors.New("iv, which the seal keeps, is missing or too long")
		}
	case mechSHA256, mechSHA1:
		if len(s.iv) > 0 {
			return errors.New("iv, which the seal keeps, does not belong to RSA")
		}
	default:
		return fmt.Errorf("mech, which the seal keeps, is %.40q; this version knows %s, %s and %s", s.mech, mechGCM, mechSHA256, mechSHA1)
	}
	if len(s.text) == 0 || len(s.text) > 4<<10 {
		return errors.New("ct, which the seal keeps, is missing or too long")
	}
	return nil
}

func (k *key) encrypt(plain []byte) (sealed, error) {
	if !k.rsa {
		return k.encryptGCM(plain)
	}
	// SHA-256, where the token knows it there: that shows when it decrypts.
	found, err := k.encryptOAEP(plain, mechSHA256)
	if err != nil {
		return sealed{}, err
	}
	back, err := k.decrypt(found)
	clear(back)
	if err == nil {
		return found, nil
	}
	return k.encryptOAEP(plain, mechSHA1)
}

func (k *key) encryptGCM(plain []byte) (sealed, error) {
	iv := make([]byte, gcmNonce)
	rand.Read(iv) // never fails: it ends the program instead
	params := pkcs11.NewGCMParams(iv, []byte(bound), gcmTag)
	defer params.Free()
	if err := k.library.EncryptInit(k.session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_GCM, params)}, k.handle); err != nil {
		return sealed{}, k.problem("the token does not encrypt by AES-GCM with the key", err)
	}
	text, err := k.library.Encrypt(k.session, plain)
	if err != nil {
		return sealed{}, k.problem("the token did not encrypt", err)
	}
	if own := params.IV(); len(own) > 0 { // some tokens choose it themselves
		iv = own
	}
	return sealed{mechGCM, iv, text}, nil
}

// encryptOAEP needs no token but for the public key.
func (k *key) encryptOAEP(plain []byte, mech string) (sealed, error) {
	values, err := k.library.GetAttributeValue(k.session, k.handle, []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_MODULUS, nil),
		pkcs11.NewAttribute(pkcs11.CKA_PUBLIC_EXPONENT, nil),
	})
	if err != nil || len(values) != 2 {
		return sealed{}, k.problem("the token does not show the public key", err)
	}
	exponent := new(big.Int).SetBytes(values[1].Value)
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(values[0].Value), E: int(exponent.Int64())}
	if public.N.BitLen() < 2048 || !exponent.IsInt64() {
		return sealed{}, fmt.Errorf("the RSA key (%s) has %d bits; at least 2,048 are needed", k.at, public.N.BitLen())
	}
	hash := crypto.SHA256
	if mech == mechSHA1 {
		hash = crypto.SHA1
	}
	// No label: few tokens know one.
	text, err := rsa.EncryptOAEP(hash.New(), rand.Reader, public, plain, nil)
	if err != nil {
		return sealed{}, fmt.Errorf("the RSA key (%s) does not encrypt: %w", k.at, err)
	}
	return sealed{mech, nil, text}, nil
}

func (k *key) decrypt(from sealed) ([]byte, error) {
	if (from.mech == mechGCM) == k.rsa {
		return nil, fmt.Errorf("the key (%s) is of another kind than the one that the seal was made with (%s)", k.at, from.mech)
	}
	var mechanism *pkcs11.Mechanism
	switch from.mech {
	case mechGCM:
		params := pkcs11.NewGCMParams(from.iv, []byte(bound), gcmTag)
		defer params.Free()
		mechanism = pkcs11.NewMechanism(pkcs11.CKM_AES_GCM, params)
	case mechSHA256:
		mechanism = pkcs11.NewMechanism(pkcs11.CKM_RSA_PKCS_OAEP, pkcs11.NewOAEPParams(pkcs11.CKM_SHA256, pkcs11.CKG_MGF1_SHA256, pkcs11.CKZ_DATA_SPECIFIED, nil))
	default:
		mechanism = pkcs11.NewMechanism(pkcs11.CKM_RSA_PKCS_OAEP, pkcs11.NewOAEPParams(pkcs11.CKM_SHA_1, pkcs11.CKG_MGF1_SHA1, pkcs11.CKZ_DATA_SPECIFIED, nil))
	}
	if err := k.library.DecryptInit(k.session, []*pkcs11.Mechanism{mechanism}, k.handle); err != nil {
		return nil, k.problem("the token does not decrypt by "+from.mech+" with the key", err)
	}
	plain, err := k.library.Decrypt(k.session, from.text)
	if err != nil {
		return nil, k.problem("the token did not decrypt what the seal keeps: the key is another one, or the seal was damaged", err)
	}
	return plain, nil
}
