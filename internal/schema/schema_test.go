package schema

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/test/golden"
)

func TestExamplesDecode(t *testing.T) {
	for name, s := range schemas() {
		for _, doc := range [][]byte{s.Example(), s.ExampleFull()} {
			if _, got := decode(s, string(doc)); got != nil {
				t.Errorf("%s: %s: %q", name, doc, got)
			}
		}
		if !bytes.Equal(s.ExampleFull(), s.ExampleFull()) || !bytes.Equal(s.Example(), s.Example()) {
			t.Errorf("%s: examples differ", name)
		}
	}
}

func TestExampleIsMinimal(t *testing.T) {
	for name, c := range map[string]struct {
		s             *Schema
		minimal, full string
	}{
		"oneOf": {Of[oneOf](), `{"name":"example"}`, `{"name":"example"}`},
		"user": {
			Of[user](),
			`{"userName":"example","apiKeys":[],"userTags":[]}`,
			`{"userName":"example","userEmail":"user1@example.com","userPhoneNumber":"+15550000001","apiKeys":[{"apiKeyName":"example",` +
				`"publicKey":"000000000000000000000000000000000000000000000000000000000000000a01","curveType":"P256","expirationSeconds":"1"}],` +
				`"userTags":["01900000-0000-7000-8000-000000000001"]}`,
		},
		"limits": {Of[struct {
			A []string `json:"a" check:"required,min=3,unique,each=hex,each=min=6" doc:"."`
			B string   `json:"b" check:"required,max=3" doc:"."`
			C string   `json:"c" check:"required,min=9" doc:"."`
			D int32    `json:"d" check:"required,max=-4" doc:"."`
			E []bool   `json:"e" check:"max=0" doc:"."`
			F []int32  `json:"f" check:"each=min=5" example:"6" doc:"."`
		}](), `{"a":["000a01","000a02","000a03"],"b":"exa","c":"examplexx","d":-4}`, `{"a":["000a01","000a02","000a03"],"b":"exa","c":"examplexx","d":-4,"e":[],"f":[6]}`},
	} {
		if got := string(c.s.Example()); got != c.minimal {
			t.Errorf("%s: Example\n got %s\nwant %s", name, got, c.minimal)
		}
		if got := string(c.s.ExampleFull()); got != c.full {
			t.Errorf("%s: ExampleFull\n got %s\nwant %s", name, got, c.full)
		}
	}
}

// drop removes the value at path from doc; it reports whether it was there.
func drop(t *testing.T, doc []byte, path string) ([]byte, bool) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(doc, &tree); err != nil {
		t.Fatal(err)
	}
	at := tree
	steps := strings.Split(path, ".")
	for _, s := range steps[:len(steps)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[s]
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	m, ok := at.(map[string]any)
	last := steps[len(steps)-1]
	if _, there := m[last]; !ok || !there {
		return nil, false
	}
	delete(m, last)
	out, err := json.Marshal(tree, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return out, true
}

func TestDroppingEachRequired(t *testing.T) {
	dropped := 0
	for name, s := range schemas() {
		s.Walk(func(p Property) {
			for _, doc := range [][]byte{s.Example(), s.ExampleFull()} {
				short, ok := drop(t, doc, p.Path)
				if !ok {
					continue
				}
				dropped++
				_, got := decode(s, string(short))
				var want []string
				if p.Required {
					want = []string{p.Path + ": is required"}
				}
				if name == "oneOf" { // its Check wants the one that is left
					want = []string{": give either id or name"}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s without %s: got %q, want %q", name, p.Path, got, want)
				}
			}
		})
	}
	if dropped < 50 {
		t.Errorf("only %d properties were dropped", dropped)
	}
}

func TestWalk(t *testing.T) {
	var lines []string
	all := map[string]Property{}
	Of[rich]().Walk(func(p Property) {
		lines = append(lines, p.Path+" "+p.Type)
		all[p.Path] = p
	})
	want := []string{"organizationId string", "users array", "users.0 object", "users.0.userName string"}
	if !reflect.DeepEqual(lines[:4], want) {
		t.Errorf("got %q, want %q", lines[:4], want)
	}
	if p := all["users.0.apiKeys.0.publicKey"]; p.Format != "hex" || p.Min != 66 || !p.HasMin || p.Max != 66 || !p.HasMax ||
		!p.Required || p.Parent != "users.0.apiKeys.0" || p.Name != "publicKey" || p.Tag.Get("json") != "publicKey" {
		t.Errorf("publicKey: %+v", p)
	}
	if p := all["users.0.userTags"]; p.Required || !p.Lenient || !p.Unique {
		t.Errorf("userTags: %+v", p)
	}
	if p := all["users.0.userTags.0"]; p.Required || !p.Element || p.Format != "uuid" {
		t.Errorf("userTags.0: %+v", p)
	}
	if p := all["colors.0"]; !reflect.DeepEqual(p.Enum, []string{"P256", "SECP256K1"}) {
		t.Errorf("colors.0: %+v", p)
	}
	if p := all["users.0.apiKeys.0.expirationSeconds"]; p.Type != "int64" || p.Required {
		t.Errorf("expirationSeconds: %+v", p)
	}
	if p := all["words"]; p.Type != "integer" || !reflect.DeepEqual(p.OneOf, []int{12, 15, 18}) {
		t.Errorf("words: %+v", p)
	}
	if p := all["config"]; p.Type != "raw" || !p.ObjectOnly || !p.Required {
		t.Errorf("config: %+v", p)
	}
}

type pair[T any] struct {
	A string `json:"a" doc:"."`
}

func TestOpenAPIGolden(t *testing.T) {
	components := map[string]any{}
	root := Of[rich]().OpenAPI(components)
	Of[struct {
		P pair[user] `json:"p" doc:"."`
	}]().OpenAPI(components)
	got, err := json.Marshal(map[string]any{"schema": root, "components": components}, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.File(t, filepath.Join("testdata", "openapi.golden.json"), got)
}

func TestOpenAPISameNameTwice(t *testing.T) {
	type user struct {
		A bool `json:"a" doc:"."`
	}
	s := Of[struct {
		U user `json:"u" doc:"."`
	}]()
	components := map[string]any{}
	s.OpenAPI(components)
	s.OpenAPI(components) // the same struct again is no conflict
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Of[rich]().OpenAPI(components)
}

// Shared is embedded by two structs.
type Shared struct {
	First  string `json:"first" check:"required" doc:"."`
	Second int32  `json:"second,omitzero" doc:"."`
}

// TestEmbedded reads and writes the members of an embedded struct as those of
// the struct around it.
func TestEmbedded(t *testing.T) {
	type around struct {
		Before string `json:"before" check:"required" doc:"."`
		Shared
		After bool `json:"after,omitzero" doc:"."`
	}
	s := Of[around]()
	var got around
	if problems := s.Decode([]byte(`{"after":true,"second":2,"first":"f","before":"b"}`), &got); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := around{Before: "b", Shared: Shared{First: "f", Second: 2}, After: true}
	if got != want {
		t.Errorf("%+v", got)
	}
	encoded, err := Encode(got)
	if err != nil || string(encoded) != `{"before":"b","first":"f","second":2,"after":true}` {
		t.Errorf("%s %v", encoded, err)
	}
	problems := s.Decode([]byte(`{"before":"b","shared":{}}`), new(around))
	if len(problems) != 2 {
		t.Errorf("problems: %v", problems)
	}
	for name, make := range map[string]func(){
		"used twice": func() {
			Of[struct {
				Shared
				First string `json:"first" doc:"."`
			}]()
		},
		"json tag": func() {
			Of[struct {
				Shared `json:"shared"`
			}]()
		},
	} {
		if text := panics(make); !strings.Contains(text, name) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
