package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"latchkey/internal/test/testkit"
)

// terminal is a pseudo-terminal: what a person sees and types, and what the
// program has as its terminal.
type terminal struct {
	person, program *os.File
	mu              sync.Mutex
	shown           strings.Builder
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{person: person, program: program}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1024)
		for {
			n, err := person.Read(buffer)
			term.mu.Lock()
			term.shown.Write(buffer[:n])
			term.mu.Unlock()
			if err != nil { // EIO: the program's end is closed
				return
			}
		}
	}()
	t.Cleanup(func() {
		program.Close()
		<-ended
		person.Close()
	})
	return term
}

// screen is everything that was shown.
func (term *terminal) screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.String()
}

// answer waits for a prompt, and types.
func (term *terminal) answer(t *testing.T, prompt string, typed string) {
	t.Helper()
	testkit.Until(t, "the terminal shows "+prompt, func() bool { return strings.Contains(term.screen(), prompt) })
	if _, err := term.person.WriteString(typed); err != nil {
		t.Fatal(err)
	}
}

func (term *terminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(term.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

// start runs the program on the terminal.
func (term *terminal) start(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("latchkey", arguments...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.program, term.program, term.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// passphraseConfig is the config of a server whose master key has a passphrase.
func passphraseConfig(t *testing.T, more string) (file, address string) {
	t.Helper()
	address = testkit.Reserve(t)
	file = filepath.Join(t.TempDir(), "latchkey.yaml")
	text := "listen: " + address + "\nmasterKey: passphrase:master.age\ntimeouts: {lameDuck: 0}\n" + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, address
}

func failed(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v, want exit status 1", err)
	}
}

// TestPassphraseOnTerminal types a passphrase, which is never shown, and finds
// the terminal as it was: after an answer, after Ctrl-C, and after a signal.
func TestPassphraseOnTerminal(t *testing.T) {
	t.Parallel()
	const passphrase = "correct horse"
	file, address := passphraseConfig(t, "")
	key := filepath.Join(filepath.Dir(file), "master.age")
	run := func(name string, body func(t *testing.T, term *terminal, cmd *exec.Cmd)) {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t)
			before := term.modes(t)
			if before.Lflag&unix.ECHO == 0 {
				t.Fatal("a new terminal has no echo")
			}
			body(t, term, term.start(t, "serve", "--config", file))
			if after := term.modes(t); after != before {
				t.Errorf("the terminal was left otherwise: %+v, before %+v", after, before)
			}
			if strings.Contains(term.screen(), "horse") {
				t.Errorf("the passphrase was shown:\n%s", term.screen())
			}
		})
	}
	serves := func(t *testing.T, cmd *exec.Cmd) {
		t.Helper()
		testkit.Until(t, "the server answers", func() bool { return answers("http://" + address) })
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	run("a typing error in a new one", func(t *testing.T, term *terminal, cmd *exec.Cmd) {
		term.answer(t, "New passphrase for "+key+": ", passphrase+"\r")
		term.answer(t, "The same passphrase again: ", "correct hoarse\r")
		failed(t, cmd.Wait())
		testkit.Until(t, "the terminal says why", func() bool {
			return strings.Contains(term.screen(), "the two passphrases are not the same; nothing was made")
		})
		if exists(key) {
			t.Error("a key was made")
		}
	})
	run("a new one", func(t *testing.T, term *terminal, cmd *exec.Cmd) {
		term.answer(t, "New passphrase for "+key+": ", passphrase+"\r")
		term.answer(t, "The same passphrase again: ", passphrase+"\r")
		serves(t, cmd)
	})
	run("the right one", func(t *testing.T, term *terminal, cmd *exec.Cmd) {
		term.answer(t, "Passphrase of "+key+": ", passphrase+"\r")
		serves(t, cmd)
	})
	run("a wrong one", func(t *testing.T, term *terminal, cmd *exec.Cmd) {
		term.answer(t, "Passphrase of "+key+": ", "battery horse\r")
		failed(t, cmd.Wait())
		testkit.Until(t, "the terminal says why", func() bool { return strings.Contains(term.screen(), "does not open with this passphrase") })
	})
	run("Ctrl-C", func(t *testing.T, term *terminal, cmd *exec.Cmd) {
		term.answer(t, "Passphrase of "+key+": ", "half a horse\x03")
		failed(t, cmd.Wait())
		testkit.Until(t, "the terminal says why", func() bool { return strings.Contains(term.screen(), "(it was interrupted)") })
	})
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		run(sent.String(), func(t *testing.T, term *terminal, cmd *exec.Cmd) {
			term.answer(t, "Passphrase of "+key+": ", "") // what is on its way when echo is back would be shown
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			failed(t, cmd.Wait())
		})
	}
}

// TestPassphraseWithoutTerminal reads lines where there is no terminal, one for
// each passphrase, and says what is missing where there are none.
func TestPassphraseWithoutTerminal(t *testing.T) {
	t.Parallel()
	file, address := passphraseConfig(t, "")
	run := func(file, input string) (*exec.Cmd, *strings.Builder) {
		cmd, log := exec.Command("latchkey", "serve", "--config", file), new(strings.Builder)
		cmd.Stdin, cmd.Stderr = strings.NewReader(input), log
		if input == "" {
			cmd.Stdin = nil // the null device
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, log
	}
	serves := func(file, input string) {
		t.Helper()
		cmd, log := run(file, input)
		var ended error
		done := make(chan struct{})
		go func() { ended = cmd.Wait(); close(done) }()
		testkit.Until(t, "the server answers or ends", func() bool {
			select {
			case <-done:
				return true
			default:
				return answers("http://" + address)
			}
		})
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		if <-done; ended != nil {
			t.Errorf("with %q: %v\n%s", input, ended, log)
		}
	}
	cmd, log := run(file, "")
	failed(t, cmd.Wait())
	if want := "set LATCHKEY_PASSPHRASE, type it on a terminal, or write it to standard input (standard input is no terminal to ask on, and has no line to read)"; !strings.Contains(log.String(), want) {
		t.Errorf("without input it says\n%s\nwant %s", log, want)
	}
	serves(file, "the first\nleft over\n")
	serves(file, "the first\r\n")

	// While the key is replaced, there are two passphrases.
	dir := filepath.Dir(file)
	if err := os.Rename(filepath.Join(dir, "master.age"), filepath.Join(dir, "old.age")); err != nil {
		t.Fatal(err)
	}
	other, otherAddress := passphraseConfig(t, "")
	address, otherAddress = otherAddress, address
	serves(other, "the second\n")
	address = otherAddress
	if err := os.Rename(filepath.Join(filepath.Dir(other), "master.age"), filepath.Join(dir, "master.age")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "previousMasterKey: passphrase:old.age\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	serves(file, "the second\nthe first\n")
}

// TestMasterKeyOnTerminal refuses to read the key itself where it would be shown.
func TestMasterKeyOnTerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "latchkey.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\nmasterKey: fd:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term := newTerminal(t)
	failed(t, term.start(t, "serve", "--config", file).Wait())
	testkit.Until(t, "the refusal is shown", func() bool {
		return strings.Contains(term.screen(), "file descriptor 0: it is a terminal, which shows what is typed; in a shell: 0<FILE")
	})
}
