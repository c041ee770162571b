// Package strictyaml reads YAML files of which every line counts.
//
// It refuses what a lenient reader would ignore or guess: unknown and repeated
// keys, anchors and aliases, tags of an application, a second document. A
// problem has a line and a column, and reading goes on behind it, so that all
// are reported at once. No message repeats a value, or a key that is not a
// plain name: it may be a secret in the wrong place.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/suggest"
)

// Problem is one thing wrong in a file. Line and Column count from 1.
type Problem struct {
	Line, Column int
	Message      string
}

// Error is all that is wrong in one file, in the order of the file. Its text is
// one `file:line:column: message` a line.
type Error struct {
	File     string
	Problems []Problem
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.File, p.Line, p.Column, p.Message)
	}
	return strings.Join(lines, "\n")
}

// Reader reads one file and collects its problems.
type Reader struct {
	// Keys lists what a mapping may hold by its path: names joined by dots, 0
	// for an element of a list, "" for the file. Others may hold any key.
	Keys     map[string][]string
	Problems []Problem
}

// Problemf reports a problem at a node.
func (r *Reader) Problemf(n *yaml.Node, format string, args ...any) {
	r.report(n.Line, n.Column, format, args...)
}

func (r *Reader) report(line, column int, format string, args ...any) {
	// A node that is not in the text (the value of an empty document) has no place.
	r.Problems = append(r.Problems, Problem{max(line, 1), max(column, 1), fmt.Sprintf(format, args...)})
}

// Err returns the problems as [*Error], nil if there is none.
func (r *Reader) Err(file string) error {
	if len(r.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{File: file, Problems: slices.Compact(r.Problems)}
}

// Document returns the root of the only document; nil if the file is empty, or
// not YAML.
func (r *Reader) Document(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		r.syntax(err)
		return nil
	}
	if err := decoder.Decode(&second); err == nil {
		r.Problemf(&second, "a second document begins here: a file is one document")
	} else {
		r.syntax(err)
	}
	if len(first.Content) == 0 || IsNull(first.Content[0]) {
		return nil
	}
	r.refuseIndirect(first.Content[0])
	return first.Content[0]
}

var (
	syntaxText    = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '.*' referenced$`)
)

const noAliases = "an alias (*name) is not allowed"

// syntax reports what the YAML library could not read. It tells at most a line.
func (r *Reader) syntax(err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	m := syntaxText.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(m[1])
	message := "not valid YAML: " + m[2]
	if unknownAnchor.MatchString(m[2]) {
		message = noAliases
	}
	r.report(line, 1, "%s", message)
}

// refuseIndirect reports every anchor and alias, with which the meaning of a
// line depends on another one far away, and every tag of an application.
func (r *Reader) refuseIndirect(n *yaml.Node) {
	if n.Anchor != "" {
		r.Problemf(n, "an anchor (&name) is not allowed")
	}
	if n.Kind == yaml.AliasNode {
		r.Problemf(n, noAliases) // what it refers to is reported at its own place
	} else if refused(n) {
		// Not repeated: an unquoted password that begins with ! is read as a tag.
		r.Problemf(n, "a tag (!name) is not allowed; put text that begins with ! in quotes")
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 || c.Kind == yaml.AliasNode || c.Anchor != "" {
			r.refuseIndirect(c) // Members reports all else about a key
		}
	}
}

// plainTags are what a node may be.
var plainTags = map[yaml.Kind][]string{
	yaml.MappingNode: {"!!map"}, yaml.SequenceNode: {"!!seq"},
	yaml.ScalarNode: {"!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp"},
}

// refused reports whether refuseIndirect refuses the node itself.
func refused(n *yaml.Node) bool { return !slices.Contains(plainTags[n.Kind], n.ShortTag()) }

// Members returns keys and values of the mapping at path, without those that
// are refused. It is empty for any other node.
func (r *Reader) Members(path string, n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	known, fixed := r.Keys[anyIndex.ReplaceAllString(path, ".0")]
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			line, twice := seen[key.Value]
			switch {
			case key.Kind == yaml.AliasNode: // reported by Document
			case fixed && !(isText(key) && plainName.MatchString(key.Value)):
				r.Problemf(key, "unknown key (not a plain name); known here: %s", strings.Join(known, ", "))
			case !isText(key):
				r.Problemf(key, "a key must be a plain name")
			case fixed && !slices.Contains(known, key.Value):
				r.Problemf(key, "unknown key %q; the nearest known key is %q", inElement(path, key.Value), r.nearest(path, key.Value, known))
			case twice:
				r.Problemf(key, "%s is given twice: first on line %d", inElement(path, key.Value), line)
			default:
				seen[key.Value] = key.Line
				if !refused(value) && !yield(key, value) {
					return
				}
			}
		}
	}
}

// Elements is [Reader.Members] for a list, with indexes.
func (r *Reader) Elements(n *yaml.Node) iter.Seq2[int, *yaml.Node] {
	return func(yield func(int, *yaml.Node) bool) {
		for i, c := range n.Content {
			if n.Kind == yaml.SequenceNode && !refused(c) && !yield(i, c) {
				return
			}
		}
	}
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)
	anyIndex  = regexp.MustCompile(`\.\d+\b`)
	toElement = regexp.MustCompile(`^.*\.\d+(?:\.|$)`)
)

// nearest guesses which key was meant: one of the same mapping, unless the very
// name exists in one other only; then it is the indentation that is wrong.
func (r *Reader) nearest(path, name string, here []string) string {
	if i := slices.IndexFunc(here, func(k string) bool {
		return len(name) > 2 && strings.Contains(strings.ToLower(k), strings.ToLower(name))
	}); i >= 0 {
		return inElement(path, here[i])
	}
	var elsewhere []string
	for other, known := range r.Keys {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
			elsewhere = append(elsewhere, strings.ReplaceAll(Join(other, known[i]), ".0.", "[]."))
		}
	}
	if len(elsewhere) == 1 {
		return elsewhere[0]
	}
	// However far: a name without a suggestion does not help.
	return inElement(path, suggest.Name(name, 1000, here))
}

// inElement is the path of a key as a message shows it: from the list element
// that it is in, which the line tells.
func inElement(path, key string) string {
	if !plainName.MatchString(key) {
		return "a key"
	}
	return Join(toElement.ReplaceAllString(path, ""), key)
}

// Join returns the path of a key, or of an index, below path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// IsNull reports whether the node is null, or nothing at all.
func IsNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
