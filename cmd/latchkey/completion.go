package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/ops"
)

// The scripts ask the program itself what can stand at the cursor, so that they
// need not know any command.
var (
	//go:embed completion/bash.sh
	bashCompletion string
	//go:embed completion/zsh.sh
	zshCompletion string
	//go:embed completion/fish.fish
	fishCompletion string
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Run prints the script of a shell.
func (cmd completionCommand) Run() error {
	fmt.Print(map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[cmd.Shell])
	return nil
}

// completeCommand is for the scripts.
type completeCommand struct {
	Words []string `arg:"" optional:"" help:"The words of the line after the program; the last is the one to complete."`
}

// Run prints the candidates for the last word, one on a line, each with a tab
// and what it is.
func (cmd completeCommand) Run() error {
	program, err := kong.New(&commands{}, kong.Name("latchkey"))
	if err != nil {
		return err
	}
	for _, c := range complete(program.Model, ops.Catalog(), cmd.Words) {
		fmt.Printf("%s\t%s\n", c.text, c.about)
	}
	return nil
}

type candidate struct{ text, about string }

// complete lists what can stand in the place of the last word. None means that
// nothing is known, as for files.
func complete(program *kong.Application, catalog *activity.Catalog, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := line{node: program.Node, catalog: catalog}
	for _, word := range words[:len(words)-1] {
		at.read(word)
	}
	var all []candidate
	switch {
	case at.flag != nil:
		all = at.values()
	case strings.HasPrefix(last, "-") && !at.closed:
		all = at.flags()
	default:
		all = append(at.commands(), at.positionals()...)
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, last) })
}

// line is a command line that is read word by word.
type line struct {
	catalog   *activity.Catalog
	node      *kong.Node // the command so far
	flag      *kong.Flag // waits for its value
	given     int        // positional arguments
	operation string     // the first of them, where it is one
	closed    bool       // after --
}

func (l *line) read(word string) {
	switch {
	case l.flag != nil:
		l.flag = nil
	case word == "--":
		l.closed = true
	case strings.HasPrefix(word, "--") && !l.closed:
		name, _, whole := strings.Cut(word[2:], "=")
		for _, f := range l.allFlags() {
			if f.Name == name && !whole && !f.IsBool() && !f.IsCounter() {
				l.flag = f
			}
		}
	case strings.HasPrefix(word, "-") && len(word) > 1 && !l.closed:
	default:
		for _, child := range l.node.Children {
			if child.Name == word {
				l.node = child
				return
			}
		}
		if p := l.positional(); p != nil && p.Name == "operation" {
			l.operation = word
		}
		l.given++
	}
}

// positional is the argument that comes next; nil: there is none.
func (l *line) positional() *kong.Positional {
	if l.given < len(l.node.Positional) {
		return l.node.Positional[l.given]
	}
	return nil
}

func (l *line) allFlags() []*kong.Flag {
	var all []*kong.Flag
	for n := l.node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	return all
}

func (l *line) flags() []candidate {
	var all []candidate
	for _, f := range l.allFlags() {
		if !f.Hidden {
			all = append(all, candidate{"--" + f.Name, f.Help})
		}
	}
	return all
}

func (l *line) commands() []candidate {
	var all []candidate
	for _, child := range l.node.Children {
		if !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	return all
}

func (l *line) positionals() []candidate {
	switch p := l.positional(); {
	case p == nil:
		return nil
	case p.Name == "operation":
		return operationCandidates(l.catalog)
	default:
		return enumCandidates(p)
	}
}

func operationCandidates(catalog *activity.Catalog) []candidate {
	var all []candidate
	for _, p := range catalog.Endpoints {
		all = append(all, candidate{p.Name, p.Newest().Summary})
	}
	for _, q := range catalog.Queries {
		all = append(all, candidate{q.Name, q.Summary})
	}
	return all
}

// values are those of a flag: of a list that it has, or, for an operation, what
// the catalog says about it.
func (l *line) values() []candidate {
	cmd := callCommand{Operation: l.operation}
	if op, err := cmd.find(l.catalog); err == nil && l.operation != "" {
		switch {
		case l.flag.Name == "json" && l.flag.PlaceHolder == "PARAMETERS":
			return op.template()
		case l.flag.Name == "type" && op.path != nil:
			var all []candidate
			for _, v := range op.path.Versions {
				all = append(all, candidate{v.Type, ""})
			}
			return all
		}
	}
	return enumCandidates(l.flag.Value)
}

// template is what the operation requires, without what is filled in.
func (op *operation) template() []candidate {
	parameters, _, _ := op.schemas()
	required := map[string]jsontext.Value{}
	if err := json.Unmarshal(parameters.Example(), &required); err != nil {
		return nil
	}
	delete(required, "organizationId")
	text, err := json.Marshal(required, json.Deterministic(true))
	if err != nil || len(required) == 0 {
		return nil
	}
	return []candidate{{string(text), "what is required, with values made up"}}
}

func enumCandidates(v *kong.Value) []candidate {
	var all []candidate
	for value := range strings.SplitSeq(v.Enum, ",") {
		if value != "" {
			all = append(all, candidate{strings.TrimSpace(value), ""})
		}
	}
	return all
}
