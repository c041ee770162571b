package store

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestEveryKindIsDeclared reads the source: an audit takes rows of a kind that is
// not listed for those of another program.
func TestEveryKindIsDeclared(t *testing.T) {
	known := NewInspector(nil).sums
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`= Kind\[[^\]]+\]\{\s*Name: "([^"]+)"|\w+Kind\s+= "([^"]+)"`)
	n := 0
	for _, file := range files {
		if matched, _ := filepath.Match("*_test.go", file); matched {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
			n++
			name := found[1] + found[2]
			if _, ok := known[name]; !ok && name != activityKind {
				t.Errorf("%s declares the kind %q, which is neither in DeclaredKinds nor in otherKinds", file, name)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d declarations were found", n)
	}
}
