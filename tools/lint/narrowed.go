package main

import (
	"go/token"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/staticcheck/sa1019"
	dead "honnef.co/go/tools/unused"
)

// The analyzers of this file report a part of what others find.

// unchecked reports the errors that errcheck finds, but not those that no caller
// could do anything about: of deferred calls, of printing, and of closing what was
// only read from or talked to. A file that was written must be closed with care.
var unchecked = &analysis.Analyzer{
	Name:     "unchecked",
	Doc:      "report errors that are ignored",
	Requires: []*analysis.Analyzer{errcheck.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, e := range pass.ResultOf[errcheck.Analyzer].(errcheck.Result).UncheckedErrors {
			closed := strings.HasSuffix(e.FuncName, ".Close") && (e.FuncName != "(*os.File).Close" || isTest(e.Pos.Filename))
			if closed || strings.HasPrefix(e.Line, "defer ") || strings.HasPrefix(e.FuncName, "fmt.Fprint") {
				continue
			}
			pass.Reportf(find(pass, e.Pos), "the error of %s is ignored", e.Line)
		}
		return nil, nil
	},
}

// unused reports staticcheck's U1000, which by itself only lists what it found:
// its own command first joins what a package says with and without its tests. The
// go command hands a package over once, together with its tests.
var unused = &analysis.Analyzer{
	Name:     "unused",
	Doc:      "report what is declared and never used",
	Requires: []*analysis.Analyzer{dead.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, o := range pass.ResultOf[dead.Analyzer.Analyzer].(dead.Result).Unused {
			pass.Reportf(find(pass, o.Position), "%s %s is unused", o.Kind, o.Name)
		}
		return nil, nil
	},
}

// deprecated reports staticcheck's SA1019, except in tests, which hold new code
// against old, and of RIPEMD-160, which the addresses of Bitcoin are made with.
var deprecated = &analysis.Analyzer{
	Name:     "deprecated",
	Doc:      sa1019.Analyzer.Doc,
	Requires: sa1019.Analyzer.Requires,
	Run: func(pass *analysis.Pass) (any, error) {
		narrowed := *pass
		narrowed.Report = func(d analysis.Diagnostic) {
			if !isTest(pass.Fset.Position(d.Pos).Filename) && !strings.Contains(d.Message, "golang.org/x/crypto/ripemd160") {
				pass.Report(d)
			}
		}
		return sa1019.Analyzer.Run(&narrowed)
	},
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

func find(pass *analysis.Pass, at token.Position) token.Pos {
	for _, f := range pass.Files {
		if file := pass.Fset.File(f.Pos()); file.Name() == at.Filename {
			return file.Pos(at.Offset)
		}
	}
	return token.NoPos
}
