package policytest

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"latchkey/internal/suggest"
)

// document returns the root of the only document of a file; nil, and a mistake,
// when there is none that can be read.
func (r *reader) document(data []byte) *yaml.Node {
	if root, ok := jsonDocument(data); ok {
		return root
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(first.Content) == 0 || first.Content[0].Kind != yaml.MappingNode {
		r.at(1, "the file must hold a mapping with the key policies")
		return nil
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		r.at(second.Line, "a second document begins here: a file is one document")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	return first.Content[0]
}

var syntaxLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax reports what the YAML reader could not read. It tells at most a line.
func (r *reader) syntax(err error) {
	text := err.Error()
	m := syntaxLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	r.at(line, "not valid YAML: %s", text[len(m[0]):])
}

// plain refuses whatever makes the meaning of a line depend on another one, and
// keys that are unknown or given twice. Inside raw values any key goes.
func (r *reader) plain(n *yaml.Node, path string) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		r.at(n.Line, "anchors (&name) and aliases (*name) are not allowed")
		return
	}
	if tag := n.ShortTag(); n.Kind != yaml.ScalarNode && tag != "!!map" && tag != "!!seq" {
		r.at(n.Line, "a value with the tag %s is not allowed", tag)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			r.plain(c, join(path, "0"))
		}
	case yaml.MappingNode:
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Anchor != "" {
				r.at(key.Line, "a key must be a plain name")
				continue
			}
			if line, twice := seen[key.Value]; twice {
				r.at(key.Line, "%s is given twice: first on line %d", key.Value, line)
				continue
			}
			seen[key.Value] = key.Line
			known, fixed := r.keys[path]
			if fixed && !slices.Contains(known, key.Value) {
				r.at(key.Line, "unknown key %q; the nearest known key is %q", key.Value, r.meant(key.Value, known))
				continue
			}
			r.plain(value, join(path, key.Value))
		}
	}
}

// meant guesses which key was meant: one of the same mapping, unless the very
// name exists in one other only; then it is the indentation that is wrong.
func (r *reader) meant(name string, here []string) string {
	if i := slices.IndexFunc(here, func(k string) bool {
		return len(name) > 2 && strings.Contains(strings.ToLower(k), strings.ToLower(name))
	}); i >= 0 {
		return here[i]
	}
	var elsewhere []string
	for path, known := range r.keys {
		if slices.Contains(known, name) {
			elsewhere = append(elsewhere, strings.ReplaceAll(join(path, name), ".0.", "[]."))
		}
	}
	if len(elsewhere) == 1 {
		return elsewhere[0]
	}
	// However far: a name that is printed with no suggestion helps nobody.
	return suggest.Name(name, 1000, here)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// json appends a value as JSON. Strings go through expand, if there is one.
func (r *reader) json(out jsontext.Value, n *yaml.Node, path string, expand func(*yaml.Node) string) jsontext.Value {
	switch n.Kind {
	case yaml.MappingNode:
		out = append(out, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				out = append(out, ',')
			}
			key := n.Content[i].Value
			out = append(quote(out, key), ':')
			out = r.json(out, n.Content[i+1], join(path, key), expand)
		}
		return append(out, '}')
	case yaml.SequenceNode:
		out = append(out, '[')
		for i, c := range n.Content {
			if i > 0 {
				out = append(out, ',')
			}
			if short(path) && c.Kind == yaml.ScalarNode {
				out = append(r.json(append(out, `{"name":`...), c, "", nil), '}')
				continue
			}
			out = r.json(out, c, join(path, strconv.Itoa(i)), expand)
		}
		return append(out, ']')
	}
	if expand != nil && n.ShortTag() == "!!str" {
		return quote(out, expand(n))
	}
	return r.scalar(out, n)
}

func (r *reader) scalar(out jsontext.Value, n *yaml.Node) jsontext.Value {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return quote(out, n.Value)
	case "!!null":
		return append(out, "null"...)
	case "!!bool":
		if n.Value != "true" && n.Value != "false" {
			r.at(n.Line, "write true or false, not %q", n.Value)
		}
		return append(out, strings.ToLower(n.Value)...)
	case "!!int", "!!float":
		if !jsonNumber.MatchString(n.Value) {
			r.at(n.Line, "%q reads as a number in another notation; put it in quotes if it is text", n.Value)
		}
		return append(out, n.Value...)
	default:
		r.at(n.Line, "a value with the tag %s is not allowed", tag)
		return append(out, "null"...)
	}
}

// short says that the elements of the list may be names instead of mappings.
func short(path string) bool { return path == "tags" || path == "privateKeyTags" }

// quote appends a JSON string. YAML has no invalid UTF-8, so it cannot fail.
func quote(out []byte, text string) jsontext.Value {
	out, _ = jsontext.AppendQuote(out, text)
	return out
}

// find returns the value that a path of names and indexes leads to, or the
// nearest one around it.
func find(n *yaml.Node, path string) *yaml.Node {
	for path != "" {
		next, rest := step(n, path)
		if next == nil {
			return n
		}
		n, path = next, rest
	}
	return n
}

// step goes one step along the path. A key may itself hold dots.
func step(n *yaml.Node, path string) (*yaml.Node, string) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		rest, found := strings.CutPrefix(path+".", n.Content[i].Value+".")
		if found {
			return n.Content[i+1], strings.TrimSuffix(rest, ".")
		}
	}
	first, rest, _ := strings.Cut(path, ".")
	index, err := strconv.Atoi(first)
	if n.Kind == yaml.SequenceNode && err == nil && index >= 0 && index < len(n.Content) {
		return n.Content[index], rest
	}
	return nil, ""
}
