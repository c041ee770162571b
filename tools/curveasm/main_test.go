package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCurrent: the assembly is that of this generator.
func TestCurrent(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		files, err := target.files()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			name = filepath.Join(root, target.folder, name)
			if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not current (run go -C tools run ./curveasm): %v", name, err)
			}
		}
	}
}
