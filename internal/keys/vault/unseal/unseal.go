// Package unseal has the ways to hand the vault its master key: a file, a file
// under a passphrase, an environment variable, a file descriptor, a credential of
// systemd.
//
// The key is 32 random bytes, written as 64 hex digits or in base64. No error
// of this package quotes what it read.
package unseal

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"latchkey/internal/secretfile"
)

const (
	keySize = 32
	// maxText is far above any way to write a key.
	maxText = 4 << 10
)

// Source is a way to obtain the master key. It is a vault.Unsealer.
type Source struct {
	name string
	read func() ([]byte, error)
}

// Name says where the key comes from.
func (s *Source) Name() string { return s.name }

// Unseal reads the key, lends it to use, and wipes it.
func (s *Source) Unseal(use func(master *[32]byte) error) error {
	text, err := s.read()
	defer clear(text)
	if err != nil {
		return err
	}
	var key [keySize]byte
	defer clear(key[:])
	if err := parse(&key, text); err != nil {
		return err
	}
	return use(&key)
}

// Text reads a secret that is not a master key, such as a passphrase: what the
// source has, without the line feed at its end. The caller wipes it.
func (s *Source) Text() ([]byte, error) {
	text, err := s.read()
	if err != nil {
		clear(text)
		return nil, err
	}
	if text = bytes.TrimRight(text, "\r\n"); len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	return text, nil
}

// Sources says which texts [From] knows.
const Sources = "file:PATH, env:NAME, fd:NUMBER or credential:NAME"

// From is the source that a text names.
func From(source string) (*Source, error) {
	kind, rest, _ := strings.Cut(source, ":")
	number, notNumber := strconv.ParseUint(rest, 10, 16)
	switch {
	case rest == "" || strings.ContainsRune(rest, 0):
	case kind == "file":
		return File(rest), nil
	case kind == "env":
		return Env(rest), nil
	case kind == "fd" && notNumber == nil:
		return FD(int(number)), nil
	case kind == "credential" && filepath.IsLocal(rest):
		return Credential(rest), nil
	}
	return nil, errors.New("it must come from " + Sources)
}

// Credential reads what systemd hands to a service (LoadCredential=,
// LoadCredentialEncrypted=).
func Credential(name string) *Source {
	return &Source{name: "credential " + name, read: func() ([]byte, error) {
		folder := os.Getenv("CREDENTIALS_DIRECTORY")
		if folder == "" {
			return nil, errors.New("the process has no credentials of systemd: CREDENTIALS_DIRECTORY is not set")
		}
		return secretfile.Read(filepath.Join(folder, name))
	}}
}

// Random is a key that is kept nowhere: for a store that ends with the process.
func Random() *Source {
	return &Source{name: "nowhere", read: func() ([]byte, error) {
		key := make([]byte, keySize)
		rand.Read(key) // never fails: it ends the program instead
		return hex.AppendEncode(nil, key), nil
	}}
}

var errText = errors.New("it must be 32 bytes, written as 64 hex digits or in base64")

// parse reads the text of a key. Space around it does not count.
func parse(key *[keySize]byte, text []byte) error {
	text = bytes.TrimSpace(text)
	// Longer than either form, so that what is too long does not fit.
	var buffer [keySize + 16]byte
	defer clear(buffer[:])
	for _, form := range []struct {
		size   int
		decode func(dst, src []byte) (int, error)
	}{
		{hex.EncodedLen(keySize), hex.Decode},
		{base64.StdEncoding.EncodedLen(keySize), base64.StdEncoding.Strict().Decode},
		{base64.RawStdEncoding.EncodedLen(keySize), base64.RawStdEncoding.Strict().Decode},
	} {
		if len(text) != form.size {
			continue
		}
		if n, err := form.decode(buffer[:], text); err == nil && n == keySize {
			copy(key[:], buffer[:])
			return nil
		}
	}
	return errText
}

// newKey writes a fresh key as a line of hex.
func newKey() []byte {
	var key [keySize]byte
	defer clear(key[:])
	rand.Read(key[:]) // never fails: it ends the program instead
	return append(hex.AppendEncode(make([]byte, 0, 2*keySize+1), key[:]), '\n')
}

// File reads the key from a file that only its owner can read.
func File(path string) *Source {
	return &Source{name: "file " + path, read: func() ([]byte, error) { return secretfile.Read(path) }}
}

// Create makes a fresh key in a new file for File. It refuses a path where
// there is something, with fs.ErrExist, also when another process is making the
// same file: the key that is lost could not be replaced.
func Create(path string) error {
	text := newKey()
	defer clear(text)
	return create(path, text)
}

func create(path string, text []byte) error {
	err := secretfile.Create(path, text)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("unseal: %s already exists; a master key is never overwritten: %w", path, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("unseal: %w", err)
	}
	return nil
}

// Env reads the key from an environment variable and unsets it, so that
// programs that this one starts do not inherit it. It works once.
func Env(name string) *Source {
	return &Source{name: "environment variable " + name, read: func() ([]byte, error) {
		text, ok := os.LookupEnv(name)
		if !ok {
			return nil, errors.New("the variable is not set")
		}
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
		return []byte(text), nil
	}}
}

// FD reads the key from a file descriptor that the process was started with,
// to its end, and closes it. It works once.
func FD(n int) *Source {
	return &Source{name: fmt.Sprintf("file descriptor %d", n), read: func() ([]byte, error) {
		// What this process opened itself is closed on exec, what it was started
		// with is not: another number may be a socket or a database of ours.
		if flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
			return nil, fmt.Errorf("the process was not started with such a descriptor; in a shell: %d<FILE", n)
		}
		if term.IsTerminal(n) {
			return nil, fmt.Errorf("it is a terminal, which shows what is typed; in a shell: %d<FILE, or use passphrase:PATH, which asks without showing it", n)
		}
		file := os.NewFile(uintptr(n), "master key")
		defer file.Close()
		return readAll(file)
	}}
}

func readAll(r io.Reader) ([]byte, error) {
	text := make([]byte, maxText) // all at once: growing would leave copies behind
	n, err := io.ReadFull(r, text)
	switch {
	case err == nil:
		return text, errText
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return text[:n], nil
	}
	return text, err
}
