package policytest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"latchkey/internal/strictyaml"
)

// document reads the only document of a file.
func (r *reader) document(data []byte, keys map[string][]string) {
	y := &strictyaml.Reader{Keys: keys}
	root, ok := jsonDocument(data)
	if !ok {
		root = y.Document(data)
	}
	switch {
	case root != nil && root.Kind == yaml.MappingNode:
		checkKeys(y, "", root)
	case len(y.Problems) == 0:
		r.reportLine(1, "the file must hold a mapping with the key policies")
	}
	for _, p := range y.Problems {
		r.reportLine(p.Line, "%s", p.Message)
	}
	r.root = root
}

// checkKeys checks the keys of all mappings in n.
func checkKeys(y *strictyaml.Reader, path string, n *yaml.Node) {
	for key, value := range y.Members(path, n) {
		checkKeys(y, join(path, key.Value), value)
	}
	for i, element := range y.Elements(n) {
		checkKeys(y, join(path, strconv.Itoa(i)), element)
	}
}

func join(path, key string) string { return strictyaml.Join(path, key) }

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
			if allowsNames(path) && c.Kind == yaml.ScalarNode {
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
	switch n.ShortTag() {
	case "!!null":
		return append(out, "null"...)
	case "!!bool":
		if n.Value != "true" && n.Value != "false" {
			r.reportLine(n.Line, "write true or false, not %q", n.Value)
		}
		return append(out, strings.ToLower(n.Value)...)
	case "!!int", "!!float":
		if !jsonNumber.MatchString(n.Value) {
			r.reportLine(n.Line, "%q reads as a number in another notation; put it in quotes if it is text", n.Value)
		}
		return append(out, n.Value...)
	}
	return quote(out, n.Value)
}

// allowsNames reports whether the elements of a list may be names instead of
// mappings.
func allowsNames(path string) bool { return path == "tags" || path == "privateKeyTags" }

// quote appends a JSON string. YAML has no invalid UTF-8, so it cannot fail.
func quote(out []byte, text string) jsontext.Value {
	out, _ = jsontext.AppendQuote(out, text)
	return out
}

// nodeAt returns the value at a path of names and indexes, or the innermost one
// around it.
func nodeAt(n *yaml.Node, path string) *yaml.Node {
	for path != "" {
		next, rest := childAt(n, path)
		if next == nil {
			return n
		}
		n, path = next, rest
	}
	return n
}

// childAt follows the first part of the path. A key may itself hold dots.
func childAt(n *yaml.Node, path string) (*yaml.Node, string) {
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
