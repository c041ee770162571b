package docgen

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// example is one exchange with a real server, recorded by the end-to-end tests
// (e2e/lib/examples.mjs).
type example struct {
	Request jsontext.Value `json:"request"`
	Reply   jsontext.Value `json:"reply"`
}

// parameters of an activity; nil when there are none.
func (e example) parameters() jsontext.Value {
	var envelope struct {
		Parameters jsontext.Value `json:"parameters"`
	}
	if json.Unmarshal(e.Request, &envelope) != nil {
		return nil
	}
	return envelope.Parameters
}

func recorded(t *testing.T) map[string]example {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(api, "examples.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples map[string]example
	if err := json.Unmarshal(text, &examples, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return examples
}

// TestRecorded checks every recorded request and reply against the catalog, so
// that a changed declaration fails until a real run has renewed them.
func TestRecorded(t *testing.T) {
	for _, problem := range disagreements(ops.Catalog(), recorded(t)) {
		t.Errorf("%s; make generate renews the examples", problem)
	}
}

// disagreements says in what examples are not what a catalog declares.
func disagreements(c *activity.Catalog, examples map[string]example) []string {
	var problems []string
	known := map[string]bool{}
	check := func(operation string, check func(example) error) {
		known[operation] = true
		e, ok := examples[operation]
		if !ok {
			problems = append(problems, operation+": has no example")
		} else if err := check(e); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", operation, err))
		}
	}
	for _, p := range c.Endpoints {
		check(p.Name, func(e example) error { return checkSubmit(c, p, e) })
	}
	for _, q := range c.Queries {
		check(q.Name, func(e example) error { return checkQuery(c, q, e) })
	}
	for _, o := range engine.OwnOperations() {
		check(o.Name, func(e example) error {
			if err := fits(o.Request, e.Request); err != nil {
				return fmt.Errorf("request: %w", err)
			}
			return reads(o.Reply, e.Reply)
		})
	}
	for operation := range examples {
		if !known[operation] {
			problems = append(problems, operation+": there is no such operation")
		}
	}
	slices.Sort(problems)
	return problems
}

func checkSubmit(c *activity.Catalog, p *activity.Endpoint, e example) error {
	if err := fits(schema.Of[engine.Envelope](), e.Request); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	var request engine.Envelope
	if err := json.Unmarshal(e.Request, &request); err != nil {
		return err
	}
	newest := p.Newest()
	if request.Type != newest.Type {
		return fmt.Errorf("request: the type is %s, but %s is the newest", request.Type, newest.Type)
	}
	if err := fits(newest.Params, request.Parameters); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	if err := reads(activity.ReplySchema(), e.Reply); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	var reply activity.Reply
	if err := json.Unmarshal(e.Reply, &reply); err != nil {
		return err
	}
	if vote := newest.Govern.By == decide.Vote; vote == (reply.Activity.Type == request.Type) {
		return fmt.Errorf("reply: the activity has the type %s", reply.Activity.Type)
	}
	return checkActivity(c, &reply.Activity)
}

func checkQuery(c *activity.Catalog, q *activity.CompiledQuery, e example) error {
	if err := fits(q.Params, e.Request); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if err := reads(q.Reply, e.Reply); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	var reply struct {
		Activity   *activity.View  `json:"activity"`
		Activities []activity.View `json:"activities"`
	}
	if err := json.Unmarshal(e.Reply, &reply); err != nil {
		return err
	}
	if reply.Activity != nil {
		reply.Activities = append(reply.Activities, *reply.Activity)
	}
	for i := range reply.Activities {
		if err := checkActivity(c, &reply.Activities[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkActivity checks what the schema of a view leaves open: intent and
// result, in both of their views.
func checkActivity(c *activity.Catalog, view *activity.View) error {
	a := c.Op(view.Type)
	if a == nil {
		return fmt.Errorf("reply: there is no activity type %s", view.Type)
	}
	intent, err := only(view.Intent, a.IntentKey)
	if err != nil {
		return fmt.Errorf("intent: %w", err)
	}
	if err := reads(a.Params, intent[a.IntentKey]); err != nil {
		return fmt.Errorf("%s: %w", a.IntentKey, err)
	}
	if view.Status != domain.StatusCompleted {
		_, err := only(view.Result)
		return err
	}
	result, err := only(view.Result, a.ResultKey, "activity")
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if err := reads(a.Result, result[a.ResultKey]); err != nil {
		return fmt.Errorf("%s: %w", a.ResultKey, err)
	}
	inner, err := only(result["activity"], "type", "intent", "result")
	if err != nil {
		return fmt.Errorf("result.activity: %w", err)
	}
	nested, err := only(inner["result"], a.ResultKey)
	if err != nil {
		return fmt.Errorf("result.activity.result: %w", err)
	}
	return same(nested[a.ResultKey], result[a.ResultKey])
}

// fits reads what a client sent, the way the server does.
func fits(s *schema.Schema, raw jsontext.Value) error {
	if problems := s.Decode(raw, reflect.New(s.Type()).Interface()); len(problems) > 0 {
		return fault.Fields("", problems)
	}
	return nil
}

// reads checks what the server sent: nothing unknown in it, and nothing missing
// that the server always writes. So it is what it would write again.
func reads(s *schema.Schema, raw jsontext.Value) error {
	value := reflect.New(s.Type()).Interface()
	if problems := s.Decode(raw, value); len(problems) > 0 {
		return fault.Fields("", problems)
	}
	again, err := schema.Encode(value)
	if err != nil {
		return err
	}
	return same(raw, again)
}

// same compares two values, whatever the order of their members.
func same(got, want jsontext.Value) error {
	got, want = slices.Clone(got), slices.Clone(want)
	if err := got.Canonicalize(); err != nil {
		return err
	}
	if err := want.Canonicalize(); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("is recorded as %s, but would be written as %s", got, want)
	}
	return nil
}

// only takes an object apart that must have these members and no others.
func only(raw jsontext.Value, names ...string) (map[string]jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := members[name]; !ok {
			return nil, fmt.Errorf("has no member %s", name)
		}
	}
	if len(members) != len(names) {
		return nil, fmt.Errorf("has other members than %v", names)
	}
	return members, nil
}
