package strictyaml

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// keys are of a file with a section, a list of mappings and a free mapping.
var keys = map[string][]string{
	"": {"section", "list", "free"}, "section": {"size", "colour"}, "list.0": {"name", "size"},
}

// read walks a whole file and returns its scalars by path.
func read(data []byte) (map[string]string, error) {
	r := &Reader{Keys: keys}
	found := map[string]string{}
	if root := r.Document(data); root != nil {
		r.walk("", root, found)
	}
	return found, r.Err("f")
}

func (r *Reader) walk(path string, n *yaml.Node, found map[string]string) {
	if n.Kind == yaml.ScalarNode {
		found[path] = n.Value
	}
	for key, value := range r.Members(path, n) {
		r.walk(Join(path, key.Value), value, found)
	}
	for i, element := range r.Elements(n) {
		r.walk(Join(path, strconv.Itoa(i)), element, found)
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"syntax", "a: b: c", "f:1:1: not valid YAML: mapping values are not allowed in this context"},
		{"not UTF-8", "free: \xff", "f:1:1: not valid YAML: invalid leading UTF-8 octet"},
		{"broken after the first document", "list: []\n---\n{\n", "f:3:1: not valid YAML: did not find expected node content"},
		{"merge key", "<<: {free: {}}", "f:1:1: unknown key (not a plain name); known here: section, list, free"},
		{"two documents", "list: []\n---\nlist: []", "f:2:1: a second document begins here: a file is one document"},
		{"anchor and alias", "free: &a {x: 1}\nlist: [*a]", "f:1:7: an anchor (&name) is not allowed\nf:2:8: an alias (*name) is not allowed"},
		{"alias as key", "free: {&a x: 1, *a : 2}", "f:1:8: an anchor (&name) is not allowed\nf:1:17: an alias (*name) is not allowed"},
		{"alias to nothing", "free: *a", "f:1:1: an alias (*name) is not allowed"},
		{"tag", "free: !mine {x: !!binary aGk=}", "f:1:7: a tag (!name) is not allowed; put text that begins with ! in quotes\nf:1:17: a tag (!name) is not allowed; put text that begins with ! in quotes"},
		{"misspelt", "lsit: []", `f:1:1: unknown key "lsit"; the nearest known key is "list"`},
		{"misspelt in a section", "section: {siez: 1}", `f:1:11: unknown key "section.siez"; the nearest known key is "section.size"`},
		{"misspelt in a list", "list: [{}, {nmae: x}]", `f:1:13: unknown key "nmae"; the nearest known key is "name"`},
		{"part of a name", "section: {Col: 1}", `f:1:11: unknown key "section.Col"; the nearest known key is "section.colour"`},
		{"of another section", "Colour: red", `f:1:1: unknown key "Colour"; the nearest known key is "section.colour"`},
		{"of a list", "section: {name: x}", `f:1:11: unknown key "section.name"; the nearest known key is "list[].name"`},
		{"of two others", "size: 1", `f:1:1: unknown key "size"; the nearest known key is "list"`},
		{"not a plain name", "section: {'a b': 1}", "f:1:11: unknown key (not a plain name); known here: size, colour"},
		{"not a name where any is allowed", "free: {'a b': 1, 5: x, [c]: d}", "f:1:18: a key must be a plain name\nf:1:24: a key must be a plain name"},
		{"twice", "list:\n- {name: x}\n- name: y\n  name: z", "f:4:3: name is given twice: first on line 3"},
		{"a free key twice", "free: {x: 1, x: 2}", "f:1:14: free.x is given twice: first on line 1"},
		{"an unprintable key twice", "free: {'u:hunter2@h': 1, 'u:hunter2@h': 2}", "f:1:26: a key is given twice: first on line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read([]byte(tt.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is refused does not keep the rest from being read.
func TestRestIsRead(t *testing.T) {
	got, err := read([]byte("section: {siez: 1, size: 2}\nlist: [!x {}, {name: n, name: m}]\nfree: {a: !x 1, b: 2}"))
	if err == nil {
		t.Error("accepted")
	}
	if diff := cmp.Diff(map[string]string{"section.size": "2", "list.1.name": "n", "free.b": "2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever the bytes, the answer is the same twice, a problem has a place, and
// a file without problems is one that the YAML library reads, with known keys.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		"", "---\n---\n", "{", "a: &b *b", "? [a]\n: b", "list: [{name: x}]\nfree: {a: [1, ~, {b: c}]}", "<<: {}", "section: {size: 1}",
		"free: !!binary aGk=", "free: {&a x: 1, *a : 2}", "%YAML 1.1\n---\n!!map {}", "\xff\xfel\x00", "free: {1: a, true: b}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := read(data)
		again, err2 := read(data)
		if !maps.Equal(found, again) || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("two readings differ: %v, %v", err, err2)
		}
		var e *Error
		if errors.As(err, &e) {
			for _, p := range e.Problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Fatalf("no place: %+v", p)
				}
			}
			return
		}
		var value any
		if err := yaml.Unmarshal(data, &value); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if members, ok := value.(map[string]any); ok {
			for key := range members {
				if !slices.Contains(keys[""], key) {
					t.Fatalf("%q is accepted", key)
				}
			}
		}
	})
}
