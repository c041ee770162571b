package main

import (
	"strings"
	"testing"
)

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]string{
		"/dev/tpmrm0":                     "/dev/tpmrm0 ",
		"/dev/tpmrm0,pcrs=sha256:7":       "/dev/tpmrm0 sha256:7",
		"/run/t.sock,pcrs=sha384:11,0,23": "/run/t.sock sha384:0,11,23",
	} {
		device, pcrs, err := parsePlace(text)
		if got := device + " " + pcrs.String(); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "tpm0", "/dev/a,b", "/dev/a,pcr=1", "/dev/a,pcrs=", "/dev/a,pcrs=sha256", "/dev/a,pcrs=sha256:", "/dev/a,pcrs=md5:1",
		"/dev/a,pcrs=sha256:7,7", "/dev/a,pcrs=sha256:-1", "/dev/a,pcrs=sha256:1000",
	} {
		if _, _, err := parsePlace(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	f.Add("/dev/tpmrm0,pcrs=sha256:7,11")
	f.Fuzz(func(t *testing.T, text string) {
		device, pcrs, err := parsePlace(text)
		if err != nil || pcrs.empty() {
			return
		}
		again, err := parseRegisters(pcrs.String())
		if err != nil || again.String() != pcrs.String() || !strings.HasPrefix(text, device) {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	})
}
