package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// house forbids what breaks rules of this code (CONTRIBUTING.md, "Rules of the
// house"): a clock or a random source that nothing passed in, and prints that
// were meant for debugging. Tests may do all of it.
var house = &analysis.Analyzer{
	Name: "house",
	Doc:  "report calls that the rules of the house forbid",
	Run:  runHouse,
}

// timeless are the packages, with those below them, whose result must not depend
// on when they run: they are given the time.
var timeless = []string{
	"latchkey/internal/policy", "latchkey/internal/domain", "latchkey/internal/chain",
	"latchkey/internal/request/decide", "latchkey/internal/request/ops",
}

func runHouse(pass *analysis.Pass) (any, error) {
	path, _, _ := strings.Cut(pass.Pkg.Path(), " ") // a package with its tests is "path [path.test]"
	noClock := slices.ContainsFunc(timeless, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
	command := pass.Pkg.Name() == "main"
	for _, file := range pass.Files {
		if isTest(pass.Fset.File(file.Pos()).Name()) {
			continue
		}
		for node := range ast.Preorder(file) {
			id, ok := node.(*ast.Ident)
			if !ok {
				continue
			}
			f, ok := pass.TypesInfo.Uses[id].(*types.Func)
			if !ok || f.Pkg() == nil {
				continue
			}
			switch name := f.FullName(); {
			case name == "time.Now" && noClock:
				pass.Reportf(id.Pos(), "time.Now in a package that is given the time")
			case (name == "fmt.Print" || name == "fmt.Printf" || name == "fmt.Println") && !command:
				pass.Reportf(id.Pos(), "%s outside of a command", name)
			case f.Pkg().Path() == "math/rand":
				pass.Reportf(id.Pos(), "math/rand; use crypto/rand, or math/rand/v2 for what need not be secret")
			}
		}
	}
	return nil, nil
}
