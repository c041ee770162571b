package docgen

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLine is for prose, which is wrapped at 100 characters: a link or a piece of
// code that is not broken may go beyond.
const maxLine = 120

// TestLineLength keeps the prose of the documents at one line length. Generated
// parts, tables, headings, pictures and code are as long as they are.
func TestLineLength(t *testing.T) {
	for _, file := range documents(t) {
		name := filepath.ToSlash(file)
		if strings.Contains(name, "/docs/api/") || strings.HasSuffix(name, "/compatibility.md") || strings.Contains(name, "/wordlists/") {
			continue
		}
		for i, line := range prose(read(t, file)) {
			if n := utf8.RuneCountInString(line); n > maxLine {
				t.Errorf("%s:%d has %d characters; wrap prose at 100", file, i+1, n)
			}
		}
	}
}

// prose returns the lines of a page, with those that are not prose left empty.
func prose(page string) []string {
	lines := strings.Split(page, "\n")
	var fenced, generated bool
	for i, line := range lines {
		text := strings.TrimSpace(line)
		fence := strings.HasPrefix(text, "```")
		switch {
		case strings.HasPrefix(text, "<!-- generated:"):
			generated = true
		case strings.HasPrefix(text, "<!-- end:"):
			generated = false
		case fence:
			fenced = !fenced
		}
		if fenced || fence || generated || strings.HasPrefix(line, "    ") || strings.HasPrefix(text, "|") ||
			strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "![") {
			lines[i] = ""
		}
	}
	return lines
}
