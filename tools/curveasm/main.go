// Command curveasm writes the assembly for amd64 of the two fields in which keys are
// used and checked: that of secp256k1 (internal/keys/vault/internal/k256) and that of
// P-256 (internal/keys/curve). It runs in the root of the repository or in tools, and
// TestCurrent says whether what it wrote is still there.
//
//	go -C tools run ./curveasm
//
// What it writes computes the same limbs, bit by bit, as the functions in Go whose
// names end in Generic: those are the reference, and the comments at them say why no
// carry is lost. There are no calls; a routine has its numbers in registers, and
// between its steps on its frame. Routines of secp256k1 have no branch and no address
// that depends on a value.
//
// The processor must have MULX (BMI2), which multiplies into any two registers and
// leaves carries alone, and for picking from the table AVX2.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// target is a package with routines, which are written into assembly_amd64.s and declared
// in assembly_amd64.go.
type target struct {
	folder string
	// types are those of the package that the routines take, as it declares them.
	types    string
	routines []routine
}

// routine is a function in assembly.
type routine struct {
	name, signature string
	doc             []string
	body            func(*code)
}

var targets = []target{k256, p256}

func main() {
	root, err := findRoot()
	if err == nil {
		for _, t := range targets {
			err = errors.Join(err, t.write(filepath.Join(root, t.folder)))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "curveasm:", err)
		os.Exit(1)
	}
}

// findRoot is the folder of the product's module.
func findRoot() (string, error) {
	for _, root := range []string{".", "..", "../.."} {
		if text, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil && bytes.HasPrefix(text, []byte("module latchkey\n")) {
			return root, nil
		}
	}
	return "", errors.New("this is not a folder of the repository")
}

func (t target) write(folder string) error {
	files, err := t.files()
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), text, 0o644))
	}
	return err
}

// files are the texts that belong into the folder.
func (t target) files() (map[string][]byte, error) {
	name := filepath.Base(t.folder)
	pkg, err := t.declare(name)
	if err != nil {
		return nil, err
	}
	ctx := build.NewContext()
	constants := map[string]operand.Mem{}
	for _, r := range t.routines {
		ctx.Function(r.name)
		ctx.Doc(r.doc...)
		ctx.Attributes(attr.NOSPLIT)
		ctx.Pragma("noescape")
		signature, err := gotypes.LookupSignature(pkg, r.name)
		if err != nil {
			return nil, err
		}
		ctx.Signature(signature)
		c := &code{Context: ctx, constants: constants}
		r.body(c)
		c.end()
	}
	file, err := ctx.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	config := printer.Config{Name: "tools/curveasm", Pkg: name}
	assembly, err := printer.NewGoAsm(config).Print(file)
	if err != nil {
		return nil, err
	}
	stubs, err := printer.NewStubs(config).Print(file)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"assembly_amd64.s": assembly, "assembly_amd64.go": stubs}, nil
}

// declare is the package as far as the routines know it: avo takes the offsets of
// arguments and fields from it.
func (t target) declare(name string) (*types.Package, error) {
	text := "package " + name + "\n" + t.types
	for _, r := range t.routines {
		text += "func " + r.name + r.signature + "\n"
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, t.folder, text, 0)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: importer.Default()}
	return config.Check(name, fset, []*ast.File{file}, nil)
}
