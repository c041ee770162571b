// Package docgen keeps the documentation true: it writes the pages and tables
// that follow from the code, and checks the requests, replies, expressions and
// links that the pages show. It holds tests only.
package docgen

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/policy"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/ops"
	"latchkey/internal/test/golden"
)

const docs = "../../../docs"

// TestFields keeps the list of roots and fields current.
func TestFields(t *testing.T) {
	var b strings.Builder
	for _, place := range []policy.Place{policy.Condition, policy.Consensus, policy.Time} {
		fmt.Fprintf(&b, "### Of a %s\n", place)
		root := ""
		for _, w := range policy.Vocabulary(place) {
			if inside, ok := below(root, w.Path); ok {
				row(&b, inside, w)
				continue
			}
			root = w.Path
			fmt.Fprintf(&b, "\n**`%s`**: %s\n", root, w.Type)
			if w.Type == "timestamp" { // it has no fields
				continue
			}
			b.WriteString("\n| field | type |\n|---|---|\n")
		}
		b.WriteString("\n")
	}
	generated(t, filepath.Join(docs, "policy-language.md"), "fields", b.String())
}

// below is the part of path after root, if it is a field of it. Fields of the
// elements of a list are written after [].
func below(root, path string) (string, bool) {
	if root == "" {
		return "", false
	}
	for _, sign := range []string{".", "[]."} {
		if inside, ok := strings.CutPrefix(path, root+sign); ok {
			return inside, true
		}
	}
	return "", false
}

func row(b *strings.Builder, field string, w policy.Word) {
	kind := w.Type
	if len(w.Values) > 0 {
		kind += ": `" + strings.Join(w.Values, "`, `") + "`"
	}
	fmt.Fprintf(b, "| `%s` | %s |\n", field, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(kind))
}

// TestActivities keeps the table of what policies see of each activity
// current.
func TestActivities(t *testing.T) {
	var b strings.Builder
	b.WriteString("| kind | versions | resource | action | decided by |\n|---|---|---|---|---|\n")
	for _, p := range ops.Catalog().Endpoints {
		newest := p.Newest()
		versions := "1"
		if newest.Version > 1 {
			versions = fmt.Sprintf("%d to %d", p.Versions[0].Version, newest.Version)
		}
		resource, action := "", ""
		if g := newest.Govern; g.By == decide.Policies {
			resource, action = "`"+string(g.Resource)+"`", "`"+string(g.Action)+"`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", newest.Kind(), versions, resource, action, deciders[newest.Govern.By])
	}
	generated(t, filepath.Join(docs, "policy-language.md"), "activities", b.String())
}

var deciders = map[decide.Governor]string{
	decide.Policies:   "root quorum or policies",
	decide.RootQuorum: "root quorum alone",
	decide.Self:       "the user whose credentials it is about",
	decide.Vote:       "it is a vote",
}

// generated compares a part of a document with what it should be.
var generated = golden.Part
