// Package sealtest tests seals as they are used: the programs that make builds, a
// server that runs, SoftHSM in place of a token, swtpm in place of a TPM, servers of
// our own in place of services. It holds tests only; scripts/plugins installs what they
// need.
package sealtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"latchkey/plugins/host"
)

// bin has latchkey and its plugins.
var bin string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--age-plugin") {
		os.Exit(host.Main(strings.TrimPrefix(filepath.Base(os.Args[0]), "age-plugin-"), liar{}))
	}
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (status int, err error) {
	for _, needed := range []string{"softhsm2-util", "swtpm", "gcc"} {
		if _, err := exec.LookPath(needed); err != nil {
			return 1, fmt.Errorf("%w: scripts/plugins test installs what is missing", err)
		}
	}
	if bin, err = os.MkdirTemp("", "latchkey-plugins"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(bin)
	for _, build := range []struct{ module, cgo, packages string }{
		{"../..", "0", "./cmd/latchkey"},
		{"..", "1", "./age-plugin-lkpkcs11"},
		{"..", "0", "./age-plugin-lktpm"},
		{"..", "0", "./age-plugin-lkcloud"},
	} {
		command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin+"/", build.packages)
		command.Dir, command.Env = build.module, append(os.Environ(), "CGO_ENABLED="+build.cgo)
		if out, err := command.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("%w: %s", err, out)
		}
	}
	return m.Run(), nil
}

// liar is a plugin that takes every secret, and gives another one back.
type liar struct{}

func (liar) Wrap(string, []byte, host.Ask) (*age.Stanza, error) {
	return &age.Stanza{Args: []string{"AAAA", "AAAA", "-"}}, nil
}

func (liar) Unwrap(string, *age.Stanza, host.Ask) ([]byte, error) {
	return []byte("0123456789abcdef0123456789abcdef"), nil
}
