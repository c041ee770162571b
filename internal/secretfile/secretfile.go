// Package secretfile reads and writes files that hold secrets.
package secretfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Read reads a file. It refuses one that others than its owner can read.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run: chmod 600 %s", path, mode, path)
	}
	return os.ReadFile(path)
}

// Write writes a file that only its owner can read, whole or not at all: a
// crash leaves the old file or the new one.
func Write(path string, text []byte) error {
	return write(path, text, os.Rename)
}

// Create is [Write] for a file that must not exist yet.
func Create(path string, text []byte) error {
	return write(path, text, os.Link) // which never replaces a file
}

func temporaryPrefix(path string) string { return "." + filepath.Base(path) + "." }

// abandoned is how old a temporary file must be before [Tidy] takes its writer for dead.
const abandoned = time.Minute

// Tidy removes temporary files that processes left which died while they wrote a file.
func Tidy(path string) error {
	dir, prefix := filepath.Dir(path), temporaryPrefix(path)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, statErr := e.Info(); statErr == nil && time.Since(info.ModTime()) > abandoned {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func write(path string, text []byte, place func(from, to string) error) error {
	dir := filepath.Dir(path)
	temporary, err := os.CreateTemp(dir, temporaryPrefix(path)+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already after a rename
	_, err = temporary.Write(text)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	// What the disk has taken must be what it was given: the file before is gone then.
	if kept, err := os.ReadFile(temporary.Name()); err != nil || !bytes.Equal(kept, text) {
		return errors.Join(fmt.Errorf("%s was not written: what was written is not what is read back", path), err)
	}
	if err := place(temporary.Name(), path); err != nil {
		return err
	}
	// Until the folder is written too, a power cut can lose the file.
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
