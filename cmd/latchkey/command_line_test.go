package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"latchkey/internal/test/golden"
)

// The page lists every command and flag that the program has.
func TestCommandLineDocument(t *testing.T) {
	program, err := kong.New(&commands{}, kong.Name("latchkey"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	document(&b, program.Model.Node)
	commands := b.String()
	if strings.Count(commands, "### latchkey ") < 10 {
		t.Fatalf("too few commands:\n%s", commands)
	}
	golden.Part(t, "../../docs/command-line.md", "commands", commands)
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
