package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources are the files of the package without its tests, by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

// TestRowsAreChecked: nothing reads a row but by what checks its mark. Adoption
// reads rows that have none yet.
func TestRowsAreChecked(t *testing.T) {
	reads := regexp.MustCompile(`driver\.(Get|Scan)\(`)
	for file, text := range sources(t) {
		if reads.MatchString(text) && !slices.Contains([]string{"rows.go", "adopt.go", "fault_driver.go"}, file) {
			t.Errorf("%s reads rows from the driver; read them by rows.get and rows.scan", file)
		}
	}
}

// TestKindsAreDeclared: an audit knows every kind of record.
func TestKindsAreDeclared(t *testing.T) {
	declared := sources(t)["declared.go"]
	for file, text := range sources(t) {
		for _, kind := range regexp.MustCompile(`(\w+)\s+= Kind\[`).FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`&` + kind[1] + `\b`).MatchString(declared) {
				t.Errorf("%s of %s is not among DeclaredKinds", kind[1], file)
			}
		}
	}
}
