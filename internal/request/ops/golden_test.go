package ops_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

// TestEveryDeclarationIsListed reads the sources: an operation that is
// declared but not in the catalog would be unreachable, unnoticed.
func TestEveryDeclarationIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := os.ReadFile("catalog.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared int
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, s := range general.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if !name.IsExported() {
						continue
					}
					declared++
					if !strings.Contains(string(listed), "\t"+name.Name+".Compile()") {
						t.Errorf("%s is declared in %s but not listed in catalog.go", name.Name, file)
					}
				}
			}
		}
	}
	catalog := ops.Catalog()
	served := len(catalog.Queries)
	for _, p := range catalog.Endpoints {
		served += len(p.Versions)
	}
	if declared != served {
		t.Errorf("%d operations are declared and %d are served", declared, served)
	}
}
