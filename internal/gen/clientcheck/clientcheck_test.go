// Package clientcheck compares the client, as it is compiled, with the catalog.
// It is apart from clientgen because the tests of that write the client: they
// must build when the client does not, and see nothing of the old one. It holds
// tests only.
package clientcheck

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// TestMethods finds a method for every operation, and holds the types that it
// takes and gives against the schemas of the server: each member that the
// schema's examples show must come through them unchanged.
func TestMethods(t *testing.T) {
	c := ops.Catalog()
	for _, p := range c.Endpoints {
		t.Run(p.Name, func(t *testing.T) {
			takes, gives := method(t, p.Name)
			through(t, p.Newest().Params, takes)
			if p.Newest().Govern.By != decide.Vote {
				through(t, p.Newest().Result, gives)
			} else if gives != reflect.TypeFor[client.Activity]() {
				t.Errorf("a vote gives %v", gives)
			}
		})
	}
	for _, q := range c.Queries {
		t.Run(q.Name, func(t *testing.T) {
			takes, gives := method(t, q.Name)
			through(t, q.Params, takes, "organizationId")
			through(t, q.Reply, gives)
		})
	}
	for _, o := range engine.OwnOperations() {
		t.Run(o.Name, func(t *testing.T) {
			if o.Streams { // its method is written by hand
				through(t, o.Reply, reflect.TypeFor[client.EventView]())
				return
			}
			takes, gives := method(t, o.Name)
			through(t, o.Request, takes, "organizationId", "timestampMs")
			through(t, o.Reply, gives)
		})
	}
	through(t, activity.ReplySchema(), reflect.TypeFor[struct {
		Activity client.Activity `json:"activity"`
	}]())
}

// method finds the method of an operation, and its types. How Go spells the
// words of its name is left to clientgen.
func method(t *testing.T, operation string) (takes, gives reflect.Type) {
	t.Helper()
	for m := range reflect.TypeFor[*client.Client]().Methods() {
		if !strings.EqualFold(m.Name, strings.ReplaceAll(operation, "_", "")) {
			continue
		}
		if m.Type.NumIn() != 3 || m.Type.NumOut() < 2 {
			t.Fatalf("the method %s has the type %v", m.Name, m.Type)
		}
		return m.Type.In(2), m.Type.Out(0).Elem()
	}
	t.Fatalf("there is no method for %s; run make generate", operation)
	return nil, nil
}

// through sends the examples of a schema through a type of the client.
func through(t *testing.T, s *schema.Schema, typ reflect.Type, filled ...string) {
	t.Helper()
	for name, example := range map[string][]byte{"short": s.Example(), "full": s.ExampleFull()} {
		members := map[string]jsontext.Value{}
		if err := json.Unmarshal(example, &members); err != nil {
			t.Fatal(err)
		}
		for _, name := range filled {
			delete(members, name)
		}
		want, err := json.Marshal(members, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(typ).Interface()
		if err := json.Unmarshal(want, v, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%v does not read the %s example: %v\n%s", typ, name, err, want)
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(meaning(t, want), meaning(t, got)); diff != "" {
			t.Errorf("%v changes the %s example (-example +written):\n%s", typ, name, diff)
		}
	}
}

// meaning is a JSON text without its order and spaces.
func meaning(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
