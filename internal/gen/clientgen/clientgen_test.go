package clientgen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/request/ops"
)

var update = flag.Bool("update", false, "rewrite the generated files of the client")

const clientFolder = "../../../client"

// TestCurrent fails when the client is not what the catalog gives now.
func TestCurrent(t *testing.T) {
	files, err := Generate(ops.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(clientFolder, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not current; run make generate (-file +catalog):\n%s", path, diff)
		}
	}
	present, err := filepath.Glob(filepath.Join(clientFolder, "*.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range present {
		if files[filepath.Base(path)] != nil {
			continue
		}
		if !*update {
			t.Errorf("%s is no longer generated; run make generate", path)
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
