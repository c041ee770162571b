package ops_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/request/openapi"
	"latchkey/internal/request/ops"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestNames pins every name that clients rely on: a change shows in review.
func TestNames(t *testing.T) {
	var names strings.Builder
	for _, p := range ops.Catalog().Endpoints {
		for _, a := range p.Versions {
			fmt.Fprintf(&names, "submit/%s %s %s %s %s/%s\n", p.Name, a.Type, a.IntentKey, a.ResultKey, a.Govern.Resource, a.Govern.Action)
		}
	}
	for _, q := range ops.Catalog().Queries {
		fmt.Fprintf(&names, "query/%s\n", q.Name)
	}
	golden(t, "names.golden", []byte(names.String()))
}

// TestOpenAPI pins the description of the interface.
func TestOpenAPI(t *testing.T) {
	document, err := openapi.Document(ops.Catalog(), "golden")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "openapi.golden.json", append(document, '\n'))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; if the change is meant, run go test ./internal/request/ops -update (-golden +now):\n%s", path, diff)
	}
}
