package main

import (
	"os"
	"strings"
	"testing"
)

// The documentation quotes the example that the script runs.
func TestPolicyDocument(t *testing.T) {
	script, err := os.ReadFile("testdata/policy_test.txtar")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../docs/policy-testing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"treasury.yaml", "report.txt"} {
		_, text, found := strings.Cut(string(script), "\n-- "+name+" --\n")
		text, _, more := strings.Cut(text, "\n-- ")
		if !found || !more || len(text) < 500 {
			t.Fatalf("the script has no %s", name)
		}
		if !strings.Contains(string(document), "\n"+text+"\n```\n") {
			t.Errorf("docs/policy-testing.md does not quote %s as it is", name)
		}
	}
}
