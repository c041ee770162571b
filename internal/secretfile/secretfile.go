// Package secretfile reads and writes files that hold secrets.
package secretfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already after the rename
	_, err = temporary.Write(text)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
