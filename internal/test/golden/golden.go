// Package golden compares what a test produced with what is in the tree, and
// rewrites it when the test runs with -update.
//
// It is apart from package testkit because it declares that flag: a test binary
// that imports it cannot declare a flag of the same name.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files and the generated parts of documents")

// Update reports whether the test runs with -update, for tests that write more
// than [File] and [Part] do.
func Update() bool { return *update }

// File fails the test if the file at path does not hold got.
func File(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; run this test with -update to write it", err)
		return
	}
	compare(t, path, string(want), string(got))
}

// Part fails the test if got is not what the document at path holds between the
// comments "generated: name" and "end: name".
func Part(t testing.TB, path, name, got string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->\n"
	before, rest, opened := strings.Cut(string(text), begin)
	want, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no part between %q and %q", path, begin, end)
	}
	if *update {
		want = got
		write(t, path, []byte(before+begin+got+end+after))
	}
	compare(t, path, want, got)
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func compare(t testing.TB, path, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not current; if the change is meant, run this test with -update (-file +now):\n%s", path, diff)
	}
}
