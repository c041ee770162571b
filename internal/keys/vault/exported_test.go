package vault

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/test/golden"
)

// TestExported holds the border: every exported declaration of the vault and
// of its two open subpackages is in the golden, and none returns a secret.
func TestExported(t *testing.T) {
	var out bytes.Buffer
	for _, dir := range []string{".", "bundle", "unseal", "sealfile"} {
		fmt.Fprintf(&out, "package %s\n\n", filepath.Join("internal/keys/vault", dir))
		for _, line := range exported(t, dir) {
			fmt.Fprintln(&out, line)
		}
		fmt.Fprintln(&out)
	}
	golden.File(t, "testdata/exported.golden", out.Bytes())
}

// exported lists the exported declarations of a package as code.
func exported(t *testing.T, dir string) (lines []string) {
	t.Helper()
	set := token.NewFileSet()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_other.go") {
			continue
		}
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
				refuseSecrets(t, set, d)
				lines = append(lines, code(t, set, d))
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, spec := range d.Specs {
					lines = append(lines, d.Tok.String()+" "+code(t, set, spec))
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// refuseSecrets fails for a result whose type comes from an internal package.
func refuseSecrets(t *testing.T, set *token.FileSet, d *ast.FuncDecl) {
	t.Helper()
	if d.Type.Results == nil {
		return
	}
	for _, result := range d.Type.Results.List {
		text := code(t, set, result.Type)
		for _, internal := range []string{"secret.", "seal.", "sign.", "mnemonic.", "Record"} {
			if strings.Contains(text, internal) {
				t.Errorf("%s returns %s", d.Name.Name, text)
			}
		}
	}
}

func code(t *testing.T, set *token.FileSet, node any) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.Node(&b, set, node); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// Secrets are imported from nowhere else: only the vault and its own parts use
// its internal packages, which the compiler sees to, and only they are here.
func TestInternalPackagesStayInternal(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		parts := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
		if len(parts) > 0 && parts[0] != "." && parts[0] != "internal" && parts[0] != "bundle" && parts[0] != "unseal" && parts[0] != "sealfile" {
			t.Errorf("%s is in a package that others may import; list it in TestExported", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
