package docgen

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// TestLinks follows every link from one document to another, and to the
// headings in it.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]*`")
	found, headings := 0, map[string]string{}
	for _, file := range documents(t) {
		text := read(t, file)
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			path, heading, _ := strings.Cut(m[1], "#")
			target := filepath.Join(filepath.Dir(file), path)
			if path == "" {
				target = file
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: there is no %s", file, m[1])
				continue
			}
			if heading == "" {
				continue
			}
			if headings[target] == "" {
				headings[target] = anchors(read(t, target))
			}
			if !strings.Contains(headings[target], "\n"+heading+"\n") {
				t.Errorf("%s: %s has no heading #%s", file, path, heading)
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d links were found; the search is broken", found)
	}
}

// documents lists what users read: those of the root, all below docs, and the
// README of every other folder and of every example.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.md", "*/README.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	err := filepath.WalkDir(docs, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return slices.Compact(files) // docs/README.md is found twice
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors lists the names of the headings, each on a line, as the hosts of
// repositories make them.
func anchors(text string) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		b.WriteString(strings.ReplaceAll(name, " ", "-") + "\n")
	}
	return b.String()
}
