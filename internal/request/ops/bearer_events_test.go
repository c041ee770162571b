package ops_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// readEvents is every event of an organization, when all of its activities have
// one.
func readEvents(t *testing.T, reader *Caller) (said []byte) {
	t.Helper()
	activities := reader.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).Get("activities").List()
	testkit.Until(t, "every activity has an event", func() bool {
		reply := reader.PostTo(t, "/latchkey/v1/events", m{"organizationId": reader.OrganizationID, "limit": 1000})
		if reply.Status != http.StatusOK {
			t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
		}
		said = reply.Body
		for _, a := range activities {
			if !bytes.Contains(said, []byte(a.Get("id").Text())) {
				return false
			}
		}
		return true
	})
	return said
}

// TestEventsHoldNoBearer plants a text in every secret member of every operation,
// in what was signed and in what came of it, and looks for them in the event.
func TestEventsHoldNoBearer(t *testing.T) {
	const canary = "canary-4fb1c0de"
	catalog := ops.Catalog()
	planted := 0
	for _, endpoint := range catalog.Endpoints {
		for _, version := range endpoint.Versions {
			intent, inIntent := plant(t, version.Params, canary)
			result, inResult := plant(t, version.Result, canary)
			planted += inIntent + inResult
			a := &domain.Activity{
				ID: "a", OrganizationID: "o", Type: version.Type, Status: domain.StatusCompleted,
				Body: fmt.Sprintf(`{"type":%q,"parameters":%s}`, version.Type, intent), Intent: intent, Result: result,
				Votes: []domain.Vote{
					{ID: "1", UserID: "u", Signature: "signed-first"},
					{ID: "2", UserID: "v", Signature: "signed-second", Message: `{"fingerprint":"x"}`},
				},
				CreatedAt: time.UnixMilli(1), UpdatedAt: time.UnixMilli(1),
			}
			view, err := catalog.RenderEvent(a)
			if err != nil {
				t.Errorf("%s: %v", version.Type, err)
				continue
			}
			text, err := schema.Encode(activity.Reply{Activity: view})
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte(canary)) {
				t.Errorf("an event of %s has a bearer text: %s", version.Type, text)
			}
			first := view.Votes[0]
			if hidden := inIntent > 0; hidden != (first.Message == "") || hidden != (first.Signature == "") {
				t.Errorf("%s: message %q, signature %q", version.Type, first.Message, first.Signature)
			}
			if second := view.Votes[1]; second.Message == "" || second.Signature == "" {
				t.Errorf("%s: the second vote holds no secret, and is %+v", version.Type, second)
			}
		}
	}
	if planted < 20 {
		t.Errorf("only %d texts were planted", planted)
	}
}

// plant returns a document of a schema with a text in every secret member, and how
// many there are.
func plant(t *testing.T, s *schema.Schema, text string) (document jsontext.Value, planted int) {
	t.Helper()
	var value any
	if err := json.Unmarshal(s.ExampleFull(), &value); err != nil {
		t.Fatal(err)
	}
	s.Walk(func(p schema.Property) {
		if p.Secret && p.Type == "string" && put(value, strings.Split(p.Path, "."), text) {
			planted++
		}
	})
	document, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return document, planted
}

// put writes a text at a path of a document; false: there is nothing around it.
func put(at any, path []string, text string) bool {
	switch at := at.(type) {
	case []any:
		return len(at) > 0 && put(at[0], path[1:], text)
	case map[string]any:
		if len(path) == 1 {
			at[path[0]] = text
			return true
		}
		return put(at[path[0]], path[1:], text)
	}
	return false
}
