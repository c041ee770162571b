package secretfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	for _, text := range []string{"first", "second"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || string(got) != text {
			t.Errorf("read %q, %v", got, err)
		}
	}
	if err := Create(path, []byte("third")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a file: %v", err)
	}
	if got, err := Read(path); err != nil || string(got) != "second" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := Create(filepath.Join(dir, "new"), []byte("x")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestTidy: what a dead writer left is removed, and nothing else.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	for name, age := range map[string]time.Duration{"secret": time.Hour, ".secret.12": time.Hour, ".secret.34": 0, ".other.56": time.Hour} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := Tidy(path); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{".other.56", ".secret.34", "secret"}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}
