package describe

import (
	"os"
	"strings"
	"testing"

	"latchkey/internal/chain/tron"
)

// TestDocumentNamesEveryInstruction: the page says of every instruction and
// contract type where policies see it.
func TestDocumentNamesEveryInstruction(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policy-language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(page), "### Every instruction and type")
	tables, _, _ = strings.Cut(tables, "\n## ")
	system, rest, _ := strings.Cut(tables, "| Solana, SPL Token")
	tokens, chain, found := strings.Cut(rest, "| Tron |")
	if !found {
		t.Fatal("the tables are not where they were")
	}
	named := func(table, name string) {
		t.Helper()
		if n := strings.Count(table, "`"+name+"`"); n != 1 {
			t.Errorf("%s is named %d times", name, n)
		}
	}
	for _, in := range systemInstructions {
		named(system, in.name)
	}
	for _, in := range tokenInstructions {
		named(tokens, in.name)
	}
	named(tokens, transferWithFee.name)
	types := 0
	for i := range tron.Type(256) {
		if name := i.String(); name != "" {
			named(chain, name)
			types++
		}
	}
	if types < 30 {
		t.Errorf("only %d types of contracts were found", types)
	}
}
