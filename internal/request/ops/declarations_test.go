package ops_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"latchkey/internal/request/ops"
)

// TestEveryDeclarationIsListed reads the sources: an operation that is
// declared but not in the catalog would be unreachable, unnoticed.
func TestEveryDeclarationIsListed(t *testing.T) {
	listed, err := os.ReadFile("catalog.go")
	if err != nil {
		t.Fatal(err)
	}
	all := declarations(t)
	for _, d := range all {
		if !strings.Contains(string(listed), "\t"+d.variable+".Compile()") {
			t.Errorf("%s is declared in %s but not listed in catalog.go", d.variable, d.file)
		}
	}
	catalog := ops.Catalog()
	served := len(catalog.Queries)
	for _, p := range catalog.Endpoints {
		served += len(p.Versions)
	}
	if len(all) != served {
		t.Errorf("%d operations are declared and %d are served", len(all), served)
	}
}

// TestOneOperationAFile holds that the versions of an operation are declared in
// the file that has its name, or beside it with the ending _older.
func TestOneOperationAFile(t *testing.T) {
	catalog := ops.Catalog()
	missing := map[string]bool{}
	for _, p := range catalog.Endpoints {
		missing[p.Name] = true
	}
	for _, q := range catalog.Queries {
		missing[q.Name] = true
	}
	version := regexp.MustCompile(`V\d+$`)
	for _, d := range declarations(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(d.file, ".go"), "_older")
		variable := version.ReplaceAllString(d.variable, "")
		if !strings.EqualFold(variable, strings.ReplaceAll(name, "_", "")) {
			t.Errorf("%s is declared in %s; it belongs into the file that has the name of its operation", d.variable, d.file)
		}
		delete(missing, name)
	}
	for name := range missing {
		t.Errorf("no operation is declared in %s.go", name)
	}
}

// declaration is an exported variable of the package: a version of an activity,
// or a query.
type declaration struct{ variable, file string }

func declarations(t *testing.T) []declaration {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []declaration
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
					if name.IsExported() {
						all = append(all, declaration{name.Name, file})
					}
				}
			}
		}
	}
	return all
}
