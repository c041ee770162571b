package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/suggest"
)

// Mistake is one thing wrong in a file. Line and Column count from 1.
type Mistake struct {
	Line, Column int
	Message      string
}

// Error is all that is wrong in one file, in the order of the file. Its text is
// one `file:line:column: message` a line and never holds the value of `store`.
type Error struct {
	File     string
	Mistakes []Mistake
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.File, m.Line, m.Column, m.Message)
	}
	return strings.Join(lines, "\n")
}

// Parse checks data as the content of the file called name, which need not
// exist: it is used in messages, and its folder resolves relative paths.
// A mistake in the content is returned as *Error.
func Parse(name string, data []byte) (*Config, error) {
	cfg := Default()
	p := &parser{dir: filepath.Dir(name)}
	if root := p.document(data); root != nil {
		p.refuseReferences(root)
		known := settings(p, &cfg)
		p.mapping("", known, known, root)
	}
	// Rules across sections mean nothing while one of them is still in doubt.
	if n := p.metrics; n != nil && len(p.mistakes) == 0 && cfg.Metrics.Listen == cfg.Listen {
		p.mistake(n, "metrics.listen is the address of listen: leave it empty to serve /metrics there")
	}
	// The defaults are relative paths too.
	if rest, ok := strings.CutPrefix(cfg.Store, "sqlite:"); ok {
		cfg.Store = "sqlite:" + p.resolve(rest)
	}
	for _, source := range []*string{&cfg.MasterKey, &cfg.PreviousMasterKey} {
		if kind, path, _ := strings.Cut(*source, ":"); kind == "file" || kind == "passphrase" {
			*source = kind + ":" + p.resolve(path)
		}
	}
	if len(p.mistakes) > 0 {
		slices.SortStableFunc(p.mistakes, func(a, b Mistake) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, &Error{File: name, Mistakes: slices.Compact(p.mistakes)}
	}
	return &cfg, nil
}

type parser struct {
	dir      string
	metrics  *yaml.Node // where metrics.listen is set, if it is
	mistakes []Mistake
}

func (p *parser) mistake(n *yaml.Node, format string, args ...any) {
	p.at(n.Line, n.Column, format, args...)
}

func (p *parser) at(line, column int, format string, args ...any) {
	// A node that the reader made up (the value of an empty document) has no place.
	p.mistakes = append(p.mistakes, Mistake{max(line, 1), max(column, 1), fmt.Sprintf(format, args...)})
}

// document returns the root of the only document, nil for an empty file or one
// that is not YAML at all.
func (p *parser) document(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := dec.Decode(&first); err != nil {
		p.syntax(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		p.mistake(&second, "a second document begins here: a config file is one document")
	default:
		p.syntax(err)
	}
	if len(first.Content) == 0 || isNull(first.Content[0]) {
		return nil
	}
	return first.Content[0]
}

var (
	syntaxLine    = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '.*' referenced$`)
)

// syntax reports what the YAML reader could not read. It tells at most a line.
func (p *parser) syntax(err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	text := err.Error()
	m := syntaxLine.FindStringSubmatch(text)
	text = text[len(m[0]):]
	line, _ := strconv.Atoi(m[1])
	if unknownAnchor.MatchString(text) {
		p.at(line, 1, "an alias (*name) is not allowed in a config file")
		return
	}
	p.at(line, 1, "not valid YAML: %s", text)
}

// refuseReferences reports every anchor and alias: with them, what a line means
// depends on another one far away, and none of our settings repeats.
func (p *parser) refuseReferences(n *yaml.Node) {
	if n.Anchor != "" {
		p.mistake(n, "an anchor (&name) is not allowed in a config file")
	}
	if n.Kind == yaml.AliasNode {
		p.mistake(n, "an alias (*name) is not allowed in a config file")
		return // what it refers to is reported where it stands
	}
	for _, c := range n.Content {
		p.refuseReferences(c)
	}
}

// mapping reads one section; path is "" for the whole file.
func (p *parser) mapping(path string, all, known map[string]setting, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		return // already refused
	}
	if n.Kind != yaml.MappingNode {
		if path == "" {
			p.mistake(n, "a config file holds settings (key: value), not %s", kind(n))
		} else {
			p.mistake(n, "%s holds settings (key: value), not %s", path, kind(n))
		}
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			continue
		}
		full := join(path, key.Value)
		s, ok := known[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			p.unknown(path, all, known, key)
			continue
		}
		if before := seen[key.Value]; before != nil {
			p.mistake(key, "%s is set twice: first on line %d", full, before.Line)
			continue
		}
		seen[key.Value] = key
		switch {
		case isNull(value): // `log:` with nothing below it: the default
		case s.below != nil:
			before := len(p.mistakes)
			p.mapping(full, all, s.below, value)
			if s.after != nil && len(p.mistakes) == before {
				s.after(key)
			}
		case value.Kind == yaml.AliasNode:
		default:
			s.set(full, value)
		}
	}
}

// plainName is what a key may look like to be repeated in a message. Anything
// else may be a store URL, with its password, that lost its place.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)

func (p *parser) unknown(path string, all, known map[string]setting, key *yaml.Node) {
	if key.Kind != yaml.ScalarNode || !plainName.MatchString(key.Value) {
		p.mistake(key, "unknown key (not a plain name); known here: %s", strings.Join(keys(path, known), ", "))
		return
	}
	p.mistake(key, "unknown key %q; the nearest known key is %q", join(path, key.Value), meant(path, key.Value, all, known))
}

// meant prefers a key of the same section, unless the very name exists in
// another one: then it is the indentation that is wrong.
func meant(path, name string, all, known map[string]setting) string {
	for _, full := range keys("", all) {
		last := full[strings.LastIndexByte(full, '.')+1:]
		if _, here := known[last]; !here && strings.EqualFold(last, name) {
			return full
		}
	}
	// However far: a name that is printed with no suggestion helps nobody.
	return join(path, suggest.Name(name, 1000, slices.Sorted(maps.Keys(known))))
}

// keys lists every setting below path, in full and in order. A section's own
// name is listed at its own level only.
func keys(path string, known map[string]setting) []string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(known)) {
		list = append(list, join(path, k))
		if path == "" {
			for _, below := range slices.Sorted(maps.Keys(known[k].below)) {
				list = append(list, k+"."+below)
			}
		}
	}
	return list
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// kind says in a reader's words what a node is.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return "a value with a tag of its own"
}

// show quotes a value for a message. What looks like a URL stays out of it: a
// store URL may have been pasted into the wrong line, password and all.
func show(v string) string {
	if strings.Contains(v, "//") || strings.Contains(v, "@") {
		return "a URL"
	}
	if len(v) > 40 {
		return "a text of " + strconv.Itoa(len(v)) + " bytes"
	}
	return strconv.Quote(v)
}
