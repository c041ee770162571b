package policytest

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// seedFiles are files that touch everything, and some that are broken.
func seedFiles() []string {
	return []string{
		world + "policies: []\n",
		one("ALLOW", "  condition: |\n    eth.tx.value < 5 && wallet.id == '${wallet.Main}'\n  consensus: approvers.any(u, u.id == '$${x} ${user.Ada}')\n", paying, "submitter: Ada\n  approvers: [Ben]\n  time: 2026-11-15T12:00:00Z\n  expect: PENDING\n  deniedBy: []\n  canApprove: [Cleo]"),
		one("DENY", "  time: \"CronSpan('0 9 * * 1-5', '8h', 'UTC')\"\n", tagging, "submitter: Ada\n  time: 2026-11-15T12:00:00Z\n  expect: DENY"),
		`{"policies": [{"policyName": "\ud83d\ude00", "effect": "EFFECT_DENY", "createdAt": {"seconds": "1"}}]}`,
		"policies: []\nusers: [{name: \"\\u2028\\x80\", credentials: [{type: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR, credentialId: a}]}]\n",
		"policies: []\nprivateKeys: [{name: K, addresses: [{address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}]}]\n",
		"policies: []\ninterfaces: [{address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, file: abi.json}]\n",
		"policies: [{policyName: P, effect: EFFECT_DENY, condition: \"\\n\\t${user.A}\"}]\n",
		"users: [{name: A}]\npolicies: [{policyName: P, effect: EFFECT_DENY, condition: \"wallet.id in ['a'" + strings.Repeat(", '${user.A}'", 400) + "]\"}]\n",
		"users: [{name: A}]\npolicies: [{policyName: P, effect: EFFECT_DENY, condition: \"wallet.id in ['a'" + strings.Repeat(", '${user.A}'", 600) + "]\"}]\n",
		"policies: []\nvelocityControls: [{name: D, identifier: daily, dataSource: {activityExecution: {}}, aggregation: {method: VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT, operator: VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN, threshold: '3', window: {infinite: {}}, groupBy: {user: {}}}}]\n",
		"", "---\n---\n", "{", "a: &b *b", "? [a]\n: b", "\xff\xfel\x00", "policies: !!binary aGk=", "<<: {}", "policies: [~, 0x1, .inf, 1_0]\n",
	}
}

// Whatever the bytes, Parse answers with a file or with mistakes that have a
// line, and twice the same. A file that was read means the same when it is
// written down as JSON, and a server takes its policies.
func FuzzLoad(f *testing.F) {
	for _, seed := range seedFiles() {
		f.Add([]byte(seed))
	}
	if example, err := os.ReadFile("../../../cmd/latchkey/testdata/policy_test.txtar"); err == nil {
		_, text, _ := strings.Cut(string(example), "-- treasury.yaml --\n")
		f.Add([]byte(text))
	}
	read := func(string) ([]byte, error) { return []byte("[]"), nil }
	place := regexp.MustCompile(`^f\.yaml:[1-9]\d*: .`)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f.yaml", data, read)
		again, err2 := Parse("f.yaml", data, read)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("two readings differ: %v, %v", err, err2)
		}
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || len(wrong.Mistakes) == 0 {
				t.Fatalf("not a list of mistakes: %v", err)
			}
			lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029") + strings.Count(string(data), "\u0085") + 1
			for _, m := range wrong.Mistakes {
				if !place.MatchString(m.text("f.yaml")) || m.Line > lines+1 {
					t.Fatalf("a mistake without its place: %+v in %d lines", m, lines)
				}
			}
			return
		}
		same(t, file, again)
		file.Lint()
		serverAccepts(t, file)
		text, err := schema.Encode(&file.content)
		if err != nil {
			t.Fatal(err)
		}
		written, err := Parse("f.yaml", text, read)
		if err != nil {
			t.Fatalf("written down as %s: %v", text, err)
		}
		same(t, file, written)
	})
}

var catalog = ops.Catalog()

// serverAccepts reads the policies as create_policy does.
func serverAccepts(t *testing.T, f *File) {
	t.Helper()
	create := catalog.Endpoint("create_policy")
	for _, p := range f.Policies {
		text, err := json.Marshal(map[string]string{
			"policyName": p.Name, "effect": string(p.Effect), "condition": p.Condition, "consensus": p.Consensus, "time": p.Time, "notes": p.Notes,
		})
		if err == nil {
			_, err = create.Parse(create.Newest(), text)
		}
		if err != nil {
			t.Fatalf("a server refuses policy %q: %v", p.Name, err)
		}
	}
	control := catalog.Endpoint("create_velocity_control")
	for i := range f.Controls {
		text, err := schema.Encode(&f.Controls[i])
		if err == nil {
			_, err = control.Parse(control.Newest(), text)
		}
		if err != nil {
			t.Fatalf("a server refuses velocity control %q: %v", f.Controls[i].Identifier, err)
		}
	}
}

// same compares what two files mean.
func same(t *testing.T, a, b *File) {
	t.Helper()
	for _, diff := range []string{
		cmp.Diff(a.Policies, b.Policies, cmpopts.IgnoreUnexported(FilePolicy{})),
		cmp.Diff(a.Cases, b.Cases, cmp.AllowUnexported(Case{}), cmpopts.IgnoreFields(Case{}, "Line")),
		cmp.Diff(a.quorum, b.quorum), cmp.Diff(a.users, b.users), cmp.Diff(a.tags, b.tags),
		cmp.Diff(a.wallets, b.wallets), cmp.Diff(a.accounts, b.accounts), cmp.Diff(a.privateKeys, b.privateKeys),
		cmp.Diff(a.contracts, b.contracts),
	} {
		if diff != "" {
			t.Fatalf("two readings differ:\n%s", diff)
		}
	}
}

// A place of the expanded text leads back to the same character of the given
// one, or to the placeholder whose value it is in.
func TestBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e expanded
		for _, part := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "é", "${x}", "${yy}", "$${"}), 0, 12).Draw(t, "parts") {
			value, swapped := map[string]string{"${x}": "a value that is longer", "${yy}": "v", "$${": "${"}[part]
			if swapped {
				e.replacements = append(e.replacements, replacement{len(e.given), len(part), len(e.text), len(value)})
				e.text += value
			} else {
				e.text += part
			}
			e.given += part
		}
		inside := func(at int) (replacement, bool) {
			for _, s := range e.replacements {
				if at >= s.at && at < s.at+s.size {
					return s, true
				}
			}
			return replacement{}, false
		}
		for at := range len(e.text) {
			from, to := e.givenOffset(at, false), e.givenOffset(at+1, true)
			if s, ok := inside(at); ok {
				if from != s.given || to != s.given+s.length {
					t.Fatalf("%d of %q leads to %d..%d of %q, not to %+v", at, e.text, from, to, e.given, s)
				}
				continue
			}
			if to != from+1 || e.given[from] != e.text[at] {
				t.Fatalf("%d of %q leads to %d..%d of %q", at, e.text, from, to, e.given)
			}
		}
	})
}
