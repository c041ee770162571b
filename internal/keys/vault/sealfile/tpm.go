package sealfile

import (
	"encoding/base64"
	"errors"
	"strings"

	"filippo.io/age"
)

// tpmKept is what a seal keeps of a TPM. The program age-plugin-lktpm speaks to it.
type tpmKept struct {
	Device  string `json:"device"`  // a device, or the Unix socket of an emulator
	Public  string `json:"public"`  // base64 of TPM2B_PUBLIC
	Private string `json:"private"` // base64 of TPM2B_PRIVATE
	PCRs    string `json:"pcrs"`    // such as sha256:7; empty: none
}

const tpmPlugin = "lktpm"

func (k *tpmKept) check() error {
	_, public := base64.StdEncoding.Strict().DecodeString(k.Public)
	_, private := base64.StdEncoding.Strict().DecodeString(k.Private)
	if k.Device == "" || k.Public == "" || k.Private == "" || errors.Join(public, private) != nil || strings.ContainsAny(k.PCRs, " \n") {
		return errors.New("kept: device, public, private and pcrs must be there, public and private in base64")
	}
	return nil
}

// wrapByTPM takes a place as the command line does: DEVICE[,pcrs=sha256:7].
func wrapByTPM(place string, scalar []byte) (*tpmKept, error) {
	stanza, err := wrapByPlugin(tpmPlugin, place, scalar, nil)
	if err != nil {
		return nil, err
	}
	if len(stanza.Args) != 3 {
		return nil, errAnswer(tpmPlugin)
	}
	device, _, _ := strings.Cut(place, ",pcrs=")
	k := &tpmKept{Device: device, Public: stanza.Args[0], Private: stanza.Args[1], PCRs: value(stanza.Args[2])}
	if k.check() != nil {
		return nil, errAnswer(tpmPlugin)
	}
	return k, nil
}

func (k *tpmKept) unwrap(*recipient, []byte) ([]byte, error) {
	return unwrapByPlugin(tpmPlugin, k.Device, &age.Stanza{Type: tpmPlugin, Args: []string{k.Public, k.Private, argument(k.PCRs)}}, nil)
}
