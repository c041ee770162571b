package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/command-line.md")

// The page lists every command and flag that the program has.
func TestCommandLineDocument(t *testing.T) {
	program, err := kong.New(&commands{}, kong.Name("latchkey"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	document(&b, program.Model.Node)
	want := b.String()
	if strings.Count(want, "### latchkey ") < 10 {
		t.Fatalf("too few commands:\n%s", want)
	}
	const file, begin, end = "../../docs/command-line.md", "<!-- generated: commands -->\n", "<!-- end: commands -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no part between %q and %q", file, begin, end)
	}
	if *update {
		got = want
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s is not current; run go test ./cmd/latchkey -run TestCommandLineDocument -update (-document +program):\n%s", file, diff)
	}
}

// The page shows the mistakes that the script makes.
func TestCommandLineQuotes(t *testing.T) {
	script, err := os.ReadFile("testdata/call.txtar")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(script), "-- wrong.txt --\n")
	text, _, more := strings.Cut(text, "\n-- ")
	if !found || !more {
		t.Fatal("the script has no wrong.txt")
	}
	if quoted := "    " + strings.ReplaceAll(text, "\n", "\n    "); !strings.Contains(string(page), quoted) {
		t.Errorf("docs/command-line.md does not quote\n%s", quoted)
	}
}

// document describes the commands below a node, in the order of the program.
func document(b *strings.Builder, node *kong.Node) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		if len(child.Children) > 0 {
			document(b, child)
			continue
		}
		fmt.Fprintf(b, "### latchkey %s\n\n%s\n\n    latchkey %s\n\n", child.Path(), child.Help, usage(child))
		if len(child.Positional)+len(child.Flags) == 0 {
			continue
		}
		b.WriteString("| | |\n|---|---|\n")
		for _, p := range child.Positional {
			fmt.Fprintf(b, "| `%s` | %s |\n", strings.Trim(p.Summary(), "[]"), cell(p.Help))
		}
		for _, f := range child.Flags {
			fmt.Fprintf(b, "| `%s` | %s |\n", written(f), cell(f.Help))
		}
		b.WriteString("\n")
	}
}

// usage is the line with what is required; of flags that exclude each other,
// one is.
func usage(node *kong.Node) string {
	words := []string{node.Path()}
	for _, p := range node.Positional {
		words = append(words, p.Summary())
	}
	either := map[string]int{} // where a group of such flags stands
	for _, f := range node.Flags {
		if !f.Required {
			continue
		}
		group := strings.Join(f.Xor, ",")
		if at, begun := either[group]; begun && group != "" {
			words[at] = strings.TrimSuffix(words[at], ")") + " | " + written(f) + ")"
			continue
		}
		word := written(f)
		if group != "" {
			either[group] = len(words)
			word = "(" + word + ")"
		}
		words = append(words, word)
	}
	return strings.Join(append(words, "[flags]"), " ")
}

// written is a flag as it is typed.
func written(f *kong.Flag) string {
	switch {
	case f.IsBool():
		return "--" + f.Name
	case f.PlaceHolder == "":
		return "--" + f.Name + " " + strings.ToUpper(f.Name)
	}
	return "--" + f.Name + " " + f.FormatPlaceHolder()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
