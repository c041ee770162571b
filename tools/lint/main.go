// Command lint checks the Go code in one pass: the passes of go vet, staticcheck,
// and the analyzers below. scripts/lint runs it as
//
//	go vet -vettool=bin/tools/lint -house.scope=module ./...
//
// so that the go command keeps the results of packages that did not change. It
// keeps them under the name of the package and the flags, and takes a package that
// was only a dependency of those it was asked about, of which nothing is reported,
// for one without findings. So each set of packages needs a scope of its own.
//
// There are no exceptions in the code: comments that silence an analyzer have no
// effect. A rule that does not suit this code is left out here, with the reason.
package main

import (
	"slices"

	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/nishanths/exhaustive/passes/exhaustive"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"go-simpler.org/sloglint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/staticcheck/sa1019"
	"honnef.co/go/tools/stylecheck"
)

// leftOut are checks of staticcheck. Its quick fixes (QF) are left out too: they
// are for editors.
var leftOut = []string{
	"ST1016", // arithmetic calls its result z and its operands x and y, as math/big does
}

// enumerations are the types whose switches must name every value, or say what
// the others mean with a default: to forget one of these decides wrongly, or takes
// one key for another. Others (kinds of tokens, tags of encodings) are looked at
// for a few of their values in most places, and the code after the switch is for
// the rest.
const enumerations = `^latchkey/internal/(domain|keys/curve|proof/.*|request/(activity|decide))\.`

func main() {
	house.Flags.String("scope", "", "name of the set of packages that is looked at; keeps their results apart")
	unitchecker.Main(analyzers()...)
}

func analyzers() []*analysis.Analyzer {
	all := slices.Clone(vet.Suite)
	for _, group := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range group {
			if a != sa1019.SCAnalyzer && !slices.Contains(leftOut, a.Analyzer.Name) {
				all = append(all, a.Analyzer)
			}
		}
	}
	return append(all,
		deprecated, unchecked, unused, house,
		nilness.Analyzer, unusedwrite.Analyzer, ineffassign.Analyzer, bodyclose.Analyzer,
		set(errorlint.NewAnalyzer(), "errorf", "true"),
		set(set(exhaustive.Analyzer, "d", "true"), "typeonly", enumerations),
		// Not its rule of constant messages: the line of a request has its warning
		// as its message.
		sloglint.New(&sloglint.Options{NoMixedArguments: true, NoGlobalLogger: "all"}),
	)
}

// set gives a flag of an analyzer a value.
func set(a *analysis.Analyzer, flag, value string) *analysis.Analyzer {
	if err := a.Flags.Set(flag, value); err != nil {
		panic(err) // a newer version has another name for it
	}
	return a
}
