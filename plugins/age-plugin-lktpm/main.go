// Command age-plugin-lktpm has a secret guarded by the TPM of this machine. It is a
// plugin of age; latchkey starts it: docs/seals.md.
package main

import (
	"encoding/base64"
	"errors"
	"os"

	"filippo.io/age"

	"latchkey/plugins/host"
)

func main() {
	status := host.Main("lktpm", guard{})
	os.Exit(status)
}

// guard seals to a TPM.
type guard struct{}

// Wrap seals. The place is DEVICE[,pcrs=sha256:7].
func (guard) Wrap(place string, secret []byte, _ host.Ask) (*age.Stanza, error) {
	device, pcrs, err := parsePlace(place)
	if err != nil {
		return nil, err
	}
	t, err := open(device)
	if err != nil {
		return nil, err
	}
	defer t.close()
	public, private, err := t.seal(secret, pcrs)
	if err != nil {
		return nil, err
	}
	registers := pcrs.String()
	if registers == "" {
		registers = "-" // an argument cannot be empty
	}
	return &age.Stanza{Args: []string{base64.StdEncoding.EncodeToString(public), base64.StdEncoding.EncodeToString(private), registers}}, nil
}

// Unwrap unseals. The place is DEVICE.
func (guard) Unwrap(place string, stanza *age.Stanza, _ host.Ask) ([]byte, error) {
	if len(stanza.Args) != 3 {
		return nil, errors.New("what the seal keeps is not of this program: public, private and pcrs must be there")
	}
	var pcrs registers
	var err error
	if stanza.Args[2] != "-" {
		if pcrs, err = parseRegisters(stanza.Args[2]); err != nil {
			return nil, err
		}
	}
	public, first := base64.StdEncoding.DecodeString(stanza.Args[0])
	private, second := base64.StdEncoding.DecodeString(stanza.Args[1])
	if errors.Join(first, second) != nil {
		return nil, errors.New("public and private, which the seal keeps, must be in base64")
	}
	t, err := open(place)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.unseal(public, private, pcrs)
}
