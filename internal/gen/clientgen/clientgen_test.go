package clientgen

import (
	"os"
	"path/filepath"
	"testing"

	"latchkey/internal/request/ops"
	"latchkey/internal/test/golden"
)

const clientFolder = "../../../client"

// TestCurrent fails when the client is not what the catalog gives now.
func TestCurrent(t *testing.T) {
	files, err := Generate(ops.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		golden.File(t, filepath.Join(clientFolder, name), text)
	}
	present, err := filepath.Glob(filepath.Join(clientFolder, "*.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range present {
		if files[filepath.Base(path)] != nil {
			continue
		}
		if !golden.Update() {
			t.Errorf("%s is no longer generated; run make generate", path)
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
