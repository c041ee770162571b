package ops_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/request/decide"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
	"latchkey/internal/server/config"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

func TestMain(m *testing.M) {
	code := Main(m)
	oidctest.Clean()
	os.Exit(code)
}

// operation is one version of an activity, or a query, as the walk sees it.
type operation struct {
	name   string
	typ    string // empty: a query
	params *schema.Schema
	by     decide.Governor
	newest *schema.Schema // parameters of the newest version; nil for a query
}

func operations() []operation {
	var all []operation
	catalog := ops.Catalog()
	for _, p := range catalog.Endpoints {
		for _, a := range p.Versions {
			all = append(all, operation{p.Name, a.Type, a.Params, a.Govern.By, p.Newest().Params})
		}
	}
	for _, q := range catalog.Queries {
		all = append(all, operation{q.Name, "", q.Params, decide.Self, nil})
	}
	return all
}

func (o operation) title() string {
	if o.typ != "" {
		return o.typ
	}
	return o.name
}

// body is a request of caller with these parameters.
func (o operation) body(t testing.TB, caller *Caller, parameters any) []byte {
	t.Helper()
	if o.typ == "" {
		members := parameters.(map[string]any)
		if _, ok := members["organizationId"]; ok {
			members["organizationId"] = caller.OrganizationID
		}
		return marshal(t, members)
	}
	return caller.BodyOf(t, o.typ, parameters)
}

// TestCatalog walks every operation for every refusal that follows from its
// declaration, on both stores: bad input gets a clear error that names the
// field, and changes nothing.
//
// What is wrong by its form alone is refused before the transaction begins, and
// no store has a part in it: SQLite gets all of that, PostgreSQL one of each
// kind.
func TestCatalog(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		w := newWorld(t, s)
		w.brief = s.Kind != "sqlite"
		for _, o := range operations() {
			t.Run(o.title(), func(t *testing.T) {
				before := w.state(t)
				w.syntax(t, o)
				w.envelope(t, o)
				w.fields(t, o)
				w.stamps(t, o)
				w.transport(t, o)
				if after := w.state(t); after != before {
					t.Errorf("refused requests changed something:\nbefore %s\nafter  %s", before, after)
				}
				w.permission(t, o)
			})
		}
	})
}

// TestExamples executes the example of every version: whatever refers to
// nothing that exists must be a 4xx, never a 500.
func TestExamples(t *testing.T) {
	EachStore(t, func(t *testing.T, storeURL string) {
		s := Start(t, storeURL, config.Default())
		for _, o := range operations() {
			for _, sample := range [][]byte{o.params.Example(), o.params.ExampleFull()} {
				reply := s.Root.Post(t, o.name, o.body(t, s.Root, value(t, sample)))
				if reply.Status >= 500 {
					t.Errorf("%s: HTTP %d: %s", o.title(), reply.Status, reply.Body)
				}
			}
		}
		for line := range strings.Lines(s.Log.Complaints()) {
			// A busy machine may be too slow for it.
			if !strings.Contains(line, `"msg":"the outbox cannot be read or changed; messages wait"`) {
				t.Errorf("the server complained: %s", line)
			}
		}
	})
}

// TestOnce sends the same bytes many times at once: they are one activity,
// executed once.
func TestOnce(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const times = 50
		for round := range 4 {
			body := s.Root.Body(t, "create_user_tag", map[string]any{"userTagName": fmt.Sprint("tag ", round), "userIds": []any{}})
			replies := make([]Reply, times)
			var wait sync.WaitGroup
			for i := range times {
				wait.Go(func() { replies[i] = s.Root.Post(t, "create_user_tag", body) })
			}
			wait.Wait()
			for _, r := range replies {
				if r.Status != http.StatusOK || !bytes.Equal(r.Body, replies[0].Body) {
					t.Fatalf("answers differ:\nHTTP %d %s\nHTTP %d %s", replies[0].Status, replies[0].Body, r.Status, r.Body)
				}
			}
		}
		if tags := s.Root.Query(t, "list_user_tags", nil).Get("userTags").List(); len(tags) != 4 {
			t.Errorf("%d tags were made of 4 requests", len(tags))
		}
		if all := s.Root.Query(t, "list_activities", nil).Get("activities").List(); len(all) != 4 {
			t.Errorf("%d activities were recorded of 4 requests", len(all))
		}
	})
}

func example(t testing.TB, o operation) any { return value(t, o.params.Example()) }

func value(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	unmarshal(t, text, &v)
	return v
}

// clone copies a document.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, member := range v {
			copied[name] = clone(member)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, element := range v {
			copied[i] = clone(element)
		}
		return copied
	}
	return v
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
