package sealfile

import (
	"encoding/base64"
	"errors"

	"filippo.io/age"
)

// tokenKept is what a seal keeps of a PKCS#11 token. The program
// age-plugin-lkpkcs11 speaks to it, because that needs C and a library of a vendor.
type tokenKept struct {
	URI  string `json:"uri"`  // RFC 7512, with module-path
	Mech string `json:"mech"` // AES-GCM, RSA-OAEP-SHA256 or RSA-OAEP-SHA1
	IV   string `json:"iv"`   // base64; empty for RSA
	CT   string `json:"ct"`   // base64
}

const tokenPlugin = "lkpkcs11"

func (k *tokenKept) check() error {
	_, err := k.stanza()
	if k.URI == "" || k.Mech == "" || k.CT == "" || err != nil {
		return errors.New("kept: uri, mech, iv and ct must be there, the last two in base64")
	}
	return nil
}

func (k *tokenKept) stanza() (*age.Stanza, error) {
	if _, err := base64.StdEncoding.Strict().DecodeString(k.IV); err != nil {
		return nil, err
	}
	ct, err := base64.StdEncoding.Strict().DecodeString(k.CT)
	return &age.Stanza{Type: tokenPlugin, Args: []string{k.Mech, argument(k.IV)}, Body: ct}, err
}

func wrapByToken(uri string, scalar, pin []byte) (*tokenKept, error) {
	stanza, err := wrapByPlugin(tokenPlugin, uri, scalar, pin)
	if err != nil {
		return nil, err
	}
	if len(stanza.Args) != 2 {
		return nil, errAnswer(tokenPlugin)
	}
	k := &tokenKept{URI: uri, Mech: stanza.Args[0], IV: value(stanza.Args[1]), CT: base64.StdEncoding.EncodeToString(stanza.Body)}
	if k.check() != nil {
		return nil, errAnswer(tokenPlugin)
	}
	return k, nil
}

func (k *tokenKept) unwrap(_ *recipient, pin []byte) ([]byte, error) {
	stanza, err := k.stanza()
	if err != nil {
		return nil, err
	}
	return unwrapByPlugin(tokenPlugin, k.URI, stanza, pin)
}
