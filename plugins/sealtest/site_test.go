package sealtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// site is a folder with a server.
type site struct {
	testing.TB
	dir     string
	bin     string
	address string
	env     []string
}

func newSite(t testing.TB) *site {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{TB: t, dir: t.TempDir(), bin: bin, address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s.configure("")
	return s
}

// configure writes the config, with the secrets of the seal.
func (s *site) configure(secrets string) {
	s.Helper()
	s.write("latchkey.yaml", fmt.Sprintf("listen: %s\ntimeouts: {lameDuck: 0}\nallowSwap: true\nmasterKey: seal:seal.json\nseal: {secrets: {%s}}\n", s.address, secrets))
}

func (s *site) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// command is latchkey with arguments, and with the variable by which age prints what it
// says to plugins.
func (s *site) command(arguments ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(s.bin, "latchkey"), arguments...)
	command.Dir, command.Env = s.dir, append(append(os.Environ(), "AGEDEBUG=plugin"), s.env...)
	return command
}

// try runs latchkey, and returns all that it says.
func (s *site) try(arguments ...string) (said string, ok bool) {
	s.Helper()
	return s.tell("", arguments...)
}

func (s *site) tell(input string, arguments ...string) (said string, ok bool) {
	s.Helper()
	command := s.command(arguments...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		s.Fatal(err)
	}
	if strings.Contains(string(out), "-> wrap-file-key") || strings.Contains(string(out), "-> recipient-stanza") {
		s.Errorf("latchkey %s prints what is said to plugins", strings.Join(arguments, " "))
	}
	return string(out), err == nil
}

// must runs latchkey, which must succeed.
func (s *site) must(arguments ...string) string {
	s.Helper()
	said, ok := s.try(arguments...)
	if !ok {
		s.Fatalf("latchkey %s: %s", strings.Join(arguments, " "), said)
	}
	return said
}

// refused runs latchkey, which must fail and say why.
func (s *site) refused(why string, arguments ...string) {
	s.Helper()
	said, ok := s.try(arguments...)
	if ok || !strings.Contains(said, why) {
		s.Errorf("latchkey %s: %s; want %q", strings.Join(arguments, " "), said, why)
	}
}

// populate makes an organization with a key; whoami asks for it.
func (s *site) populate() (organization string) {
	s.Helper()
	public := strings.TrimSpace(s.must("keygen", "--out", "key"))
	var made struct{ OrganizationID string }
	said := s.must("init", "--config", "latchkey.yaml", "--organization", "Acme", "--user", "Ada", "--public-key", public)
	if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), &made); err != nil {
		s.Fatalf("%v: %s", err, said)
	}
	return made.OrganizationID
}

const newKey = `{"privateKeys":[{"privateKeyName":"k","curve":"CURVE_SECP256K1","privateKeyTags":[],"addressFormats":["ADDRESS_FORMAT_ETHEREUM"]}]}`

func (s *site) request(organization string, what ...string) string {
	s.Helper()
	return s.must(append([]string{"request", "--url", "http://" + s.address, "--key", "key", "--organization", organization}, what...)...)
}

// running is a server.
type running struct {
	*site
	command *exec.Cmd
	log     string
}

func (s *site) serve(log string) *running {
	s.Helper()
	file, err := os.Create(filepath.Join(s.dir, log))
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	r := &running{s, s.command("serve", "--config", "latchkey.yaml"), log}
	r.command.Stdout, r.command.Stderr = file, file
	if err := r.command.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	if r.command.ProcessState != nil {
		return
	}
	_ = r.command.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = r.command.Wait()
}

// await waits until /readyz answers with a status and a text.
func (r *running) await(status int, text string) {
	r.Helper()
	var last string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		reply, err := http.Get("http://" + r.address + "/readyz")
		if err != nil {
			last = err.Error()
			continue
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if last = fmt.Sprint(reply.StatusCode, " ", string(body), err); reply.StatusCode == status && strings.Contains(string(body), text) {
			return
		}
	}
	r.Fatalf("never %d with %s; last %s\n%s", status, text, last, r.read(r.log))
}

// logged looks for a text in the log.
func (r *running) logged(text string) {
	r.Helper()
	if !strings.Contains(r.read(r.log), text) {
		r.Errorf("the log lacks %q:\n%s", text, r.read(r.log))
	}
}

// ended waits until the server has ended by itself.
func (r *running) ended() {
	r.Helper()
	if err := r.command.Wait(); err == nil || r.command.ProcessState.ExitCode() != 1 {
		r.Errorf("it ended with %v, not 1:\n%s", r.command.ProcessState, r.read(r.log))
	}
}

// unseal has people hand in their shares.
func (s *site) unseal(group string, people ...int) {
	s.Helper()
	for i, n := range people {
		said, open := s.tell(s.read(fmt.Sprintf("shares/%s-%d.txt", group, n)), "unseal", "--config", "latchkey.yaml")
		if open != (i == len(people)-1) {
			s.Fatalf("share %d: %s", n, said)
		}
	}
}

// shares makes the folder for them.
func (s *site) shares() {
	s.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, "shares"), 0o700); err != nil {
		s.Fatal(err)
	}
}

// noSecret fails if a text is in any file of the folder, except in one that is meant
// to have it.
func (s *site) noSecret(text string, except ...string) {
	s.Helper()
	search := func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		for _, name := range except {
			if strings.HasSuffix(path, name) {
				return nil
			}
		}
		found, err := os.ReadFile(path)
		if bytes.Contains(found, []byte(text)) {
			s.Errorf("%s has the secret", path)
		}
		return err
	}
	err := filepath.WalkDir(s.dir, search)
	for errors.Is(err, fs.ErrNotExist) { // a server that runs has renamed it: under its new name it counts
		err = filepath.WalkDir(s.dir, search)
	}
	if err != nil {
		s.Fatal(err)
	}
}
