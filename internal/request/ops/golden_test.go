package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/request/openapi"
	"latchkey/internal/request/ops"
	"latchkey/internal/test/golden"
)

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
	golden.File(t, "testdata/names.golden", []byte(names.String()))
}

// TestOpenAPI pins the description of the interface.
func TestOpenAPI(t *testing.T) {
	document, err := openapi.Document(ops.Catalog(), "golden")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/openapi.golden.json", append(document, '\n'))
}
