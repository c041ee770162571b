package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/test/golden"
)

const architecture = root + "/docs/architecture.md"

// TestLayersDocument keeps the layers that the document shows those of layers.
func TestLayersDocument(t *testing.T) {
	var b strings.Builder
	for i, packages := range slices.Backward(layers) {
		fmt.Fprintf(&b, "    %2d  %s\n", i+1, strings.Join(grouped(packages), ", "))
	}
	golden.Part(t, architecture, "layers", "\n"+b.String()+"\n")
}

// grouped writes packages without internal/, and those of one folder as
// folder/{a,b}.
func grouped(packages []string) []string {
	names := map[string][]string{}
	var folders []string
	for _, p := range slices.Sorted(slices.Values(packages)) {
		folder, name := path.Split(strings.TrimPrefix(p, "internal/"))
		if names[folder] == nil {
			folders = append(folders, folder)
		}
		names[folder] = append(names[folder], name)
	}
	var all []string
	for _, folder := range folders {
		list := strings.Join(names[folder], ",")
		switch {
		case folder == "":
			list = strings.Join(names[folder], ", ")
		case len(names[folder]) > 1:
			list = "{" + list + "}"
		}
		all = append(all, folder+list)
	}
	return all
}

// TestTree keeps the table of the tree complete: it names every package below
// internal, and nothing that is not there.
//
// A row names the paths that are in backticks in its first cell, with {a,b} for
// several. A name in backticks in another cell counts too if a package of that
// name is in a folder that the row names, or beside it: so a row can be a wing,
// with its packages in the text. Three kinds of package need no name: one that Go
// hides below the internal folder of another, a command below a package, and one
// that holds tests only.
func TestTree(t *testing.T) {
	_, section, found := strings.Cut(read(t, architecture), "\n## The tree\n")
	section, _, more := strings.Cut(section, "\n## ")
	if !found || !more {
		t.Fatalf("%s has no section The tree", architecture)
	}
	packages := map[string]bool{} // whether the table must have it
	walk(t, func(pkg, file string) {
		hidden := strings.Contains(strings.TrimPrefix(pkg, "internal/"), "/internal/")
		if strings.HasPrefix(pkg, "internal/") && !strings.HasSuffix(file, "_test.go") && !hidden && !isCommand(t, file) {
			packages[pkg] = true
		}
	})
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\|(.*?)\|(.*)\|$`).FindAllStringSubmatch(section, -1) {
		var folders []string
		for _, name := range quoted(row[1]) {
			for _, folder := range expand(name) {
				if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
					t.Errorf("the tree names %s, but there is no such folder", folder)
				}
				named[folder] = true
				folders = append(folders, folder)
			}
		}
		for _, name := range quoted(row[2]) {
			for _, folder := range folders {
				for _, p := range []string{path.Join(folder, name), path.Join(path.Dir(folder), name)} {
					if packages[p] {
						named[p] = true
					}
				}
			}
		}
	}
	if len(named) < 10 {
		t.Fatalf("only %d paths were found; the search is broken", len(named))
	}
	for p := range packages {
		if !named[p] {
			t.Errorf("the tree in %s does not name %s", architecture, p)
		}
	}
}

func TestExpand(t *testing.T) {
	for name, want := range map[string][]string{
		"a/b":         {"a/b"},
		"a/{b,c/d}":   {"a/b", "a/c/d"},
		"a/{b, c}/d":  {"a/b/d", "a/c/d"},
		"{a,b}/{c,d}": {"a/c", "a/d", "b/c", "b/d"},
	} {
		if diff := cmp.Diff(expand(name), want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

// expand writes a/{b,c} as a/b and a/c.
func expand(name string) []string {
	before, rest, open := strings.Cut(name, "{")
	list, after, closed := strings.Cut(rest, "}")
	if !open || !closed {
		return []string{name}
	}
	var all []string
	for part := range strings.SplitSeq(list, ",") {
		all = append(all, expand(before+strings.TrimSpace(part)+after)...)
	}
	return all
}

// quoted lists what a cell has in backticks.
func quoted(cell string) []string {
	var all []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

func isCommand(t *testing.T, file string) bool {
	t.Helper()
	return regexp.MustCompile(`(?m)^package main$`).MatchString(read(t, file))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
