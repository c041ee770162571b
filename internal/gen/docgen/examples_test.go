package docgen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// pages returns the documents that show requests and expressions.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docs, "concepts", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range append(files, filepath.Join(docs, "policy-language.md"), "../../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(text)
	}
	return all
}

// TestExpressions compiles every expression that a page shows in a block of its
// own, marked with the place that it is for. An empty line divides expressions.
func TestExpressions(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^ *```(condition|consensus|time)\n(.*?)^ *```$")
	places := map[string]policy.Place{"condition": policy.Condition, "consensus": policy.Consensus, "time": policy.Time}
	found := 0
	for page, text := range pages(t) {
		for _, block := range blocks.FindAllStringSubmatch(text, -1) {
			for source := range strings.SplitSeq(block[2], "\n\n") {
				found++
				if _, err := policy.Compile(places[block[1]], source); err != nil {
					t.Errorf("%s: %s: %v\n%s", page, block[1], err, source)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d expressions were found; the search is broken", found)
	}
}

// TestNoAdviceOnDocuments: what a page or an example recommends is nothing that
// the advice warns of. Conditions of a block of its own stand for an ALLOW.
func TestNoAdviceOnDocuments(t *testing.T) {
	block := regexp.MustCompile("(?ms)^ *```condition\n(.*?)^ *```$")
	found := 0
	quiet := func(where string, p *policy.Policy) {
		t.Helper()
		found++
		for _, f := range policy.Lint([]policy.Policy{*p}, policy.LintContext{}) {
			t.Errorf("%s: %s: %s", where, f.Code, f.Message)
		}
	}
	for page, text := range pages(t) {
		for _, conditions := range block.FindAllStringSubmatch(text, -1) {
			for source := range strings.SplitSeq(conditions[1], "\n\n") {
				compiled, err := policy.Compile(policy.Condition, source)
				if err != nil {
					t.Fatal(err)
				}
				quiet(page, &policy.Policy{Condition: compiled, Consensus: oneUser(t)})
			}
		}
		for _, command := range request.FindAllStringSubmatch(text, -1) {
			if command[2] == "create_policy" {
				p := new(domain.Policy)
				if err := json.Unmarshal([]byte(os.Expand(command[4], sample)), p); err != nil {
					t.Fatal(err)
				}
				compiled, err := decide.Compile(p)
				if err != nil {
					t.Fatal(err)
				}
				quiet(page, compiled)
			}
		}
	}
	files, err := filepath.Glob("../../../examples/*/policies.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, name := range files {
		file, err := policytest.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range file.Lint() {
			t.Errorf("%s: %v", name, f)
		}
	}
	if found < 10 {
		t.Errorf("only %d policies were found; the search is broken", found)
	}
}

// oneUser is a consensus of one user.
func oneUser(t *testing.T) *policy.Expr {
	t.Helper()
	consensus, err := policy.Compile(policy.Consensus, "approvers.any(user, user.id == 'a')")
	if err != nil {
		t.Fatal(err)
	}
	return consensus
}

// request is a command that sends one: its operation, and its body on the line
// or below it.
var request = regexp.MustCompile(`(?m)^ *lk ((?:--[a-z]+ \S+ )*)([a-z0-9_/]+)(?: '(.*?)'| - <<END(?: \| tee reply.json)?\n((?s:.*?))\n *END)?(?: \| tee reply.json)?$`)

// sample is what the variables of the pages stand for.
func sample(name string) string {
	switch {
	case name == "FINGERPRINT":
		return "sha256:" + strings.Repeat("0", 64)
	case name == "BEN_PUBLIC":
		return "02c4cf153d6fbb428098ed7d116f28c24a70f32c87df1365ac46eadfc0036ada22"
	case name == "CI_PUBLIC": // on Ed25519: RFC 8032 section 7.1, test 1
		return "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	case strings.HasSuffix(name, "_PUBLIC"):
		return "025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"
	case name == "ADDRESS":
		return "0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"
	case name == "CODE", name == "TOKEN":
		return "text"
	}
	return "0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f"
}

// TestRequests checks that every request which a page shows is one of the
// interface, with parameters that fit.
func TestRequests(t *testing.T) {
	catalog, found := ops.Catalog(), 0
	for page, text := range pages(t) {
		if n := len(regexp.MustCompile(`(?m)^ *lk `).FindAllString(text, -1)); n != len(request.FindAllString(text, -1)) {
			t.Errorf("%s: %d commands, of which %d can be read", page, n, len(request.FindAllString(text, -1)))
		}
		for _, command := range request.FindAllStringSubmatch(text, -1) {
			found++
			// Between single quotes the shell expands nothing: '$NAME' ends
			// them and begins them again.
			body := os.Expand(strings.ReplaceAll(command[3], "'", "")+command[4], sample)
			if body == "" {
				body = "{}"
			}
			if err := check(catalog, command[2], body); err != nil {
				t.Errorf("%s: %s: %v", page, command[2], err)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d requests were found; the search is broken", found)
	}
}

// check reads a request the way the server would.
func check(catalog *activity.Catalog, operation, body string) error {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return err
	}
	if path := catalog.Endpoint(operation); path != nil {
		version, parameters := path.Newest(), jsontext.Value(body)
		if whole, ok := members["parameters"]; ok {
			parameters = whole
			var name string
			if err := json.Unmarshal(members["type"], &name); err != nil {
				return err
			}
			var err error
			if version, err = path.Version(name); err != nil {
				return err
			}
		}
		_, err := path.Parse(version, parameters)
		return err
	}
	members["organizationId"] = jsontext.Value(`"` + sample("ORGANIZATION") + `"`)
	whole, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var problems []fault.Field
	switch query := catalog.Query(operation); {
	case query != nil:
		_, problems = query.Parse(whole)
	case operation == "/latchkey/v1/explain":
		problems = schema.Of[engine.ExplainRequest]().Decode(whole, new(engine.ExplainRequest))
	default:
		return fmt.Errorf("there is no such operation")
	}
	if len(problems) > 0 {
		return fault.Fields("", problems)
	}
	return nil
}
