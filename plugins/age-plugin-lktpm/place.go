package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-tpm/tpm2"
)

// parsePlace reads DEVICE[,pcrs=sha256:7].
func parsePlace(text string) (device string, pcrs registers, err error) {
	device, list, bound := strings.Cut(text, ",pcrs=")
	if !filepath.IsAbs(device) || strings.Contains(device, ",") {
		return "", registers{}, errors.New("a TPM is named by the whole path of its device, such as /dev/tpmrm0, or of a Unix socket; after it may come ,pcrs=sha256:7")
	}
	if bound {
		pcrs, err = parseRegisters(list)
	}
	return device, pcrs, err
}

// registers are platform configuration registers of one bank.
type registers struct {
	bank    string
	numbers []uint
}

var banks = map[string]tpm2.TPMIAlgHash{"sha1": tpm2.TPMAlgSHA1, "sha256": tpm2.TPMAlgSHA256, "sha384": tpm2.TPMAlgSHA384}

// parseRegisters reads sha256:0,7.
func parseRegisters(text string) (registers, error) {
	bank, list, ok := strings.Cut(text, ":")
	if _, known := banks[bank]; !ok || !known {
		return registers{}, fmt.Errorf("pcrs=%.40q: it must be a bank and its registers, such as sha256:7 or sha256:0,7; banks are sha256, sha384 and sha1", text)
	}
	r := registers{bank: bank}
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || n > 23 || slices.Contains(r.numbers, uint(n)) {
			return registers{}, fmt.Errorf("pcrs=%.40q: registers are numbers from 0 to 23, each once", text)
		}
		r.numbers = append(r.numbers, uint(n))
	}
	slices.Sort(r.numbers)
	return r, nil
}

func (r registers) empty() bool { return len(r.numbers) == 0 }

// String is the form that a seal keeps.
func (r registers) String() string {
	if r.empty() {
		return ""
	}
	texts := make([]string, len(r.numbers))
	for i, n := range r.numbers {
		texts[i] = strconv.Itoa(int(n))
	}
	return r.bank + ":" + strings.Join(texts, ",")
}

func (r registers) selection() tpm2.TPMLPCRSelection {
	return tpm2.TPMLPCRSelection{PCRSelections: []tpm2.TPMSPCRSelection{
		{Hash: banks[r.bank], PCRSelect: tpm2.PCClientCompatible.PCRs(r.numbers...)},
	}}
}
