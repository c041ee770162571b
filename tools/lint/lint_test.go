package main

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAnalyzers runs those that are our own on the packages below testdata, which
// say what must be reported.
func TestAnalyzers(t *testing.T) {
	for _, c := range []struct {
		analyzer *analysis.Analyzer
		packages []string
	}{
		{unchecked, []string{"unchecked"}},
		{unused, []string{"unused"}},
		{deprecated, []string{"deprecated"}},
		{house, []string{"latchkey/internal/policy", "latchkey/internal/server"}},
	} {
		t.Run(c.analyzer.Name, func(t *testing.T) { analysistest.Run(t, analysistest.TestData(), c.analyzer, c.packages...) })
	}
}

// TestValid fails when two analyzers have one name, or a flag is gone.
func TestValid(t *testing.T) {
	if err := analysis.Validate(analyzers()); err != nil {
		t.Error(err)
	}
	for _, name := range leftOut {
		for _, a := range analyzers() {
			if a.Name == name {
				t.Errorf("%s is not left out", name)
			}
		}
	}
}
