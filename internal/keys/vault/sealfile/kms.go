package sealfile

import (
	"encoding/base64"
	"errors"
	"strings"

	"filippo.io/age"
)

// kmsKept is what a seal keeps of a key in the key management of a cloud. The program
// age-plugin-lkcloud speaks to it, because that needs the libraries of three clouds.
type kmsKept struct {
	Key string `json:"key"` // aws:ARN, gcp:NAME or azure:URL, as the operator named it
	ID  string `json:"id"`  // of the very key, or version of it, that made ct
	CT  string `json:"ct"`  // base64
}

const kmsPlugin = "lkcloud"

func (k *kmsKept) check() error {
	_, err := k.stanza()
	if k.Key == "" || k.ID == "" || k.CT == "" || err != nil || strings.ContainsAny(k.Key+k.ID, " \n") {
		return errors.New("kept: key, id and ct must be there, ct in base64")
	}
	return nil
}

func (k *kmsKept) stanza() (*age.Stanza, error) {
	ct, err := base64.StdEncoding.Strict().DecodeString(k.CT)
	return &age.Stanza{Type: kmsPlugin, Args: []string{k.ID}, Body: ct}, err
}

// kmsPlace tells the plugin also whose scalar it is: the service binds what it makes
// to that, and writes it into its own log. Neither a name nor age1… has a space.
func kmsPlace(owner *recipient, key string) string {
	return owner.Name + " " + owner.Recipient + " " + key
}

func wrapByKMS(owner *recipient, key string, scalar []byte) (*kmsKept, error) {
	stanza, err := wrapByPlugin(kmsPlugin, kmsPlace(owner, key), scalar, nil)
	if err != nil {
		return nil, err
	}
	if len(stanza.Args) != 1 {
		return nil, errAnswer(kmsPlugin)
	}
	k := &kmsKept{Key: key, ID: stanza.Args[0], CT: base64.StdEncoding.EncodeToString(stanza.Body)}
	if k.check() != nil {
		return nil, errAnswer(kmsPlugin)
	}
	return k, nil
}

func (k *kmsKept) unwrap(owner *recipient, _ []byte) ([]byte, error) {
	stanza, err := k.stanza()
	if err != nil {
		return nil, err
	}
	return unwrapByPlugin(kmsPlugin, kmsPlace(owner, k.Key), stanza, nil)
}
