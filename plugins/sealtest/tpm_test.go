package sealtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"
	"github.com/google/go-tpm/tpm2/transport/linuxudstpm"
)

// emulator is a TPM that runs as a process.
type emulator struct {
	*site
	name    string
	socket  string
	process *exec.Cmd
}

func newEmulator(s *site, name string) *emulator {
	s.Helper()
	e := &emulator{site: s, name: name, socket: filepath.Join(s.dir, name+".sock")}
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
		s.Fatal(err)
	}
	e.start()
	return e
}

func (e *emulator) start() {
	e.Helper()
	e.process = exec.Command("swtpm", "socket", "--tpm2", "--tpmstate", "dir="+filepath.Join(e.dir, e.name),
		"--server", "type=unixio,path="+e.socket, "--flags", "not-need-init,startup-clear")
	if err := e.process.Start(); err != nil {
		e.Fatal(err)
	}
	process := e.process
	e.Cleanup(func() { e.end(process) })
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(e.socket); err == nil {
			return
		}
		if time.Now().After(end) {
			e.Fatal("swtpm does not answer")
		}
	}
}

func (e *emulator) end(process *exec.Cmd) {
	if process.ProcessState == nil {
		_ = process.Process.Kill()
		_ = process.Wait()
	}
}

// kill is a power loss.
func (e *emulator) kill() {
	e.Helper()
	e.end(e.process)
	if err := os.RemoveAll(e.socket); err != nil {
		e.Fatal(err)
	}
}

// with speaks to the TPM as another program does.
func (e *emulator) with(do func(transport.TPM) error) {
	e.Helper()
	wire, err := linuxudstpm.Open(e.socket)
	if err != nil {
		e.Fatal(err)
	}
	defer wire.Close()
	if err := do(wire); err != nil {
		e.Fatal(err)
	}
}

// handles are the objects and sessions that are left in the TPM.
func (e *emulator) handles() (n int) {
	e.Helper()
	e.with(func(wire transport.TPM) error {
		for _, first := range []uint32{0x80000000, 0x02000000, 0x03000000} { // objects, sessions loaded and saved
			found, err := tpm2.GetCapability{Capability: tpm2.TPMCapHandles, Property: first, PropertyCount: 64}.Execute(wire)
			if err != nil {
				return err
			}
			list, err := found.CapabilityData.Data.Handles()
			if err != nil {
				return err
			}
			n += len(list.Handle)
		}
		return nil
	})
	return n
}

// TestTPMAndPeople is what seals are for: this machine's TPM opens it, and when that
// is gone, three of five people do.
func TestTPMAndPeople(t *testing.T) {
	s := newSite(t)
	s.shares()
	chip := newEmulator(s, "chip")
	s.must("seal", "init", "--seal", "seal.json", "--tpm", "machine="+chip.socket, "--people", "board=3/5", "--shares", "shares")
	organization := s.populate()
	server := s.serve("first.log")
	server.await(200, "")
	server.logged(`"recipient":"machine"`)
	s.request(organization, "create_private_keys", newKey)
	before := s.request(organization, "list_private_keys")

	// Three power losses while it is in use: nothing is locked.
	for range 3 {
		chip.kill()
		chip.start()
		s.must("seal", "test", "--config", "latchkey.yaml")
	}
	if n := chip.handles(); n != 0 {
		t.Errorf("%d handles are left in the TPM", n)
	}

	// Taken away while the server runs: it goes on.
	chip.kill()
	if now := s.request(organization, "list_private_keys"); now != before {
		t.Errorf("%s, before %s", now, before)
	}
	s.refused(`recipient "machine": the TPM is away`, "seal", "test", "--config", "latchkey.yaml")
	server.stop()

	// The next start stays sealed, until three have come.
	server = s.serve("second.log")
	server.await(503, `"status":"sealed","recipient":"board","have":0,"need":3`)
	server.logged("the TPM is away")
	if said, ok := s.try("request", "--url", "http://"+s.address, "--key", "key", "--organization", organization, "whoami"); ok || !strings.Contains(said, "the server is sealed") {
		t.Errorf("%s", said)
	}
	s.unseal("board", 5, 2, 4)
	server.await(200, "")
	if now := s.request(organization, "list_private_keys"); now != before {
		t.Errorf("%s, before %s", now, before)
	}
	server.stop()

	// Another machine: what the seal keeps is not for its TPM.
	other := newEmulator(s, "other")
	s.write("seal.json", strings.Replace(s.read("seal.json"), chip.socket, other.socket, 1))
	s.refused("the seal was made on another machine, or the TPM was cleared", "seal", "test", "--config", "latchkey.yaml", "machine")
	if n := other.handles(); n != 0 {
		t.Errorf("%d handles are left in the TPM after an error", n)
	}
}

// TestTPMRegisters: bound to registers, the TPM opens the seal only while they are as
// they were, and what fails leaves nothing in it.
func TestTPMRegisters(t *testing.T) {
	s := newSite(t)
	s.write("words", "correct horse\n")
	chip := newEmulator(s, "chip")
	s.must("seal", "init", "--seal", "seal.json", "--tpm", "machine="+chip.socket+",pcrs=sha256:16,7", "--passphrase", "desk", "--secret", "desk=file:words")
	if text := s.read("seal.json"); !strings.Contains(text, `"pcrs": "sha256:7,16"`) {
		t.Errorf("the seal keeps %s", text)
	}
	s.must("seal", "test", "--config", "latchkey.yaml", "machine")
	chip.with(func(wire transport.TPM) error {
		_, err := tpm2.PCRExtend{
			PCRHandle: tpm2.AuthHandle{Handle: tpm2.TPMHandle(16), Auth: tpm2.PasswordAuth(nil)},
			Digests:   tpm2.TPMLDigestValues{Digests: []tpm2.TPMTHA{{HashAlg: tpm2.TPMAlgSHA256, Digest: make([]byte, 32)}}},
		}.Execute(wire)
		return err
	})
	for range 20 { // more than a TPM has places
		s.refused("the registers sha256:7,16 of the TPM at "+chip.socket+" have changed", "seal", "test", "--config", "latchkey.yaml", "machine")
	}
	if n := chip.handles(); n != 0 {
		t.Errorf("%d handles are left in the TPM after errors", n)
	}
	chip.with(func(wire transport.TPM) error {
		_, err := tpm2.PCRReset{PCRHandle: tpm2.AuthHandle{Handle: tpm2.TPMHandle(16), Auth: tpm2.PasswordAuth(nil)}}.Execute(wire)
		return err
	})
	s.must("seal", "test", "--config", "latchkey.yaml", "machine")
}

// TestTPMRefused: what cannot be a recipient is refused with its reason.
func TestTPMRefused(t *testing.T) {
	s := newSite(t)
	s.write("words", "correct horse\n")
	s.write("file", "")
	chip := newEmulator(s, "chip")
	for why, place := range map[string]string{
		"the whole path of its device":      "tpm0",
		"the TPM is away: there is no":      filepath.Join(s.dir, "none"),
		"neither a device nor a Unix socke": filepath.Join(s.dir, "file"),
		"banks are sha256, sha384 and sha1": chip.socket + ",pcrs=7",
		"registers are numbers from 0 to":   chip.socket + ",pcrs=sha256:7,24",
	} {
		s.refused(why, "seal", "init", "--seal", "seal.json", "--passphrase", "desk", "--secret", "desk=file:words", "--tpm", "machine="+place)
	}
	s.refused("only TPMs would open it", "seal", "init", "--seal", "seal.json", "--tpm", "machine="+chip.socket, "--tpm", "second="+chip.socket)
	s.must("seal", "init", "--seal", "seal.json", "--passphrase", "desk", "--secret", "desk=file:words", "--tpm", "machine="+chip.socket)
	s.refused("only TPMs would open it", "seal", "remove", "--seal", "seal.json", "desk")
	if said := s.must("seal", "status", "--seal", "seal.json"); !strings.Contains(said, "generation 1") {
		t.Errorf("it was changed: %s", said)
	}
}

// TestPluginTrouble: a plugin that is missing, or that lies, is found out.
func TestPluginTrouble(t *testing.T) {
	s := newSite(t)
	s.write("words", "correct horse\n")
	chip := newEmulator(s, "chip")
	s.bin = filepath.Join(s.dir, "bin")
	if err := os.Mkdir(s.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(bin, "latchkey"), filepath.Join(s.bin, "latchkey"))
	arguments := []string{"seal", "init", "--seal", "seal.json", "--passphrase", "desk", "--secret", "desk=file:words", "--tpm", "machine=" + chip.socket}
	s.refused("the program age-plugin-lktpm is missing; it is looked for beside latchkey, in /usr/libexec/latchkey and in PATH", arguments...)
	// Beside the program comes before PATH.
	s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
	s.must(arguments...)
	s.must("seal", "test", "--config", "latchkey.yaml", "machine")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, self, filepath.Join(s.bin, "age-plugin-lktpm"))
	s.refused("it answered with something else than the key of this recipient", "seal", "test", "--config", "latchkey.yaml", "machine")
	arguments[3] = "other.json"
	s.refused("it took the key and does not give it back", arguments...)
	if _, err := os.Stat(filepath.Join(s.dir, "other.json")); err == nil {
		t.Error("a seal was made")
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
