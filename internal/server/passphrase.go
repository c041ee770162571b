package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

const (
	passphraseVariable = "LATCHKEY_PASSPHRASE"
	maxPassphrase      = 4 << 10
)

// askPassphrase takes a passphrase from the environment, from the terminal, or
// from the next line of standard input.
func askPassphrase(ctx context.Context, prompt string) ([]byte, error) {
	if text, ok := os.LookupEnv(passphraseVariable); ok {
		return []byte(text), nil
	}
	passphrase, err := readSecret(ctx, os.Stdin, os.Stderr, prompt+": ")
	if err != nil {
		return nil, fmt.Errorf("the master key needs a passphrase: set %s, type it on a terminal, or write it to standard input (%w)", passphraseVariable, err)
	}
	return passphrase, nil
}

// ReadSecret asks for a secret on the terminal, or takes the next line of standard
// input.
func ReadSecret(ctx context.Context, prompt string) ([]byte, error) {
	return readSecret(ctx, os.Stdin, os.Stderr, prompt+": ")
}

// WaitForEnter waits for a line on standard input.
func WaitForEnter(ctx context.Context) error {
	_, err := readSecret(ctx, os.Stdin, os.Stderr, "")
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// ChoosePassphrase asks for that of a new key. What is typed without being seen
// is typed twice.
func ChoosePassphrase(ctx context.Context, path string) ([]byte, error) {
	first, err := askPassphrase(ctx, "New passphrase for "+path)
	if _, given := os.LookupEnv(passphraseVariable); err != nil || given || !term.IsTerminal(int(os.Stdin.Fd())) {
		return first, err
	}
	second, err := askPassphrase(ctx, "The same passphrase again")
	defer clear(second)
	if err == nil && !bytes.Equal(first, second) {
		err = errors.New("the two passphrases are not the same; nothing was made")
	}
	if err != nil {
		clear(first)
		return nil, err
	}
	return first, nil
}

var (
	errInterrupted = errors.New("it was interrupted")
	errNothing     = errors.New("nothing was typed")
)

// readSecret reads a secret that a person types, or a script writes: of a terminal one
// line, after a prompt and without showing it; of anything else the next line,
// and no byte more, so that a second secret can follow. The terminal is as it
// was when it returns, also when ctx ends first.
func readSecret(ctx context.Context, in *os.File, out io.Writer, prompt string) (secret []byte, err error) {
	read := func() ([]byte, error) { return readLine(in) }
	if fd := int(in.Fd()); term.IsTerminal(fd) {
		// Raw, so that Ctrl-C is a byte that is read, not a signal that would
		// find the terminal without echo; and before the prompt, so that what
		// follows it is never shown.
		before, problem := term.MakeRaw(fd)
		if problem != nil {
			return nil, fmt.Errorf("switching off the echo of the terminal: %w", problem)
		}
		defer func() {
			err = errors.Join(err, term.Restore(fd, before))
			if err != nil {
				fmt.Fprintln(out) // the prompt was not answered by a line
			}
		}()
		read = func() ([]byte, error) { return readTyped(in, out, prompt) }
	}
	type answer struct {
		secret []byte
		err    error
	}
	// A read cannot be interrupted; it ends with the process.
	answers := make(chan answer, 1)
	go func() {
		secret, err := read()
		answers <- answer{secret, err}
	}()
	select {
	case a := <-answers:
		return a.secret, a.err
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

func readTyped(in *os.File, out io.Writer, prompt string) ([]byte, error) {
	line, err := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "").ReadPassword(prompt)
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
		return nil, errInterrupted
	}
	if err == nil && line == "" {
		return nil, errNothing
	}
	return []byte(line), err
}

// readLine reads byte by byte: what is after the line belongs to others.
func readLine(in *os.File) ([]byte, error) {
	line := make([]byte, 0, maxPassphrase) // all at once: growing would leave copies behind
	var next [1]byte
	for {
		_, err := io.ReadFull(in, next[:])
		switch {
		case err == nil && next[0] != '\n':
			if len(line) == maxPassphrase {
				return nil, fmt.Errorf("the first line of standard input is longer than %d bytes", maxPassphrase)
			}
			line = append(line, next[0])
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			return nil, errors.New("standard input is no terminal to ask on, and has no line to read")
		}
		return line, nil
	}
}
