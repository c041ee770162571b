package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func lintContext() LintContext {
	_, allVoters := testVoters()
	c := LintContext{
		Users: allVoters.Approvers, Credentials: allVoters.Credentials,
		UserTags: map[string]string{"t-9": "ops"}, KeyTags: map[string]string{"treasury": "Treasury"},
		Values: map[string][]string{"WalletAccount.curve": {"CURVE_SECP256K1", "CURVE_ED25519"}},
	}
	for _, a := range []KnownActivity{
		{Type: "CREATE_POLICIES", Kind: "CREATE_POLICIES", Resource: "POLICY", Action: "CREATE"},
		{Type: "CREATE_POLICY", Kind: "CREATE_POLICY", Resource: "POLICY", Action: "CREATE"},
		{Type: "CREATE_POLICY_V2", Kind: "CREATE_POLICY", Resource: "POLICY", Action: "CREATE"},
		{Type: "CREATE_POLICY_V3", Kind: "CREATE_POLICY", Resource: "POLICY", Action: "CREATE"},
		{Type: "EXPORT_WALLET", Kind: "EXPORT_WALLET", Resource: "WALLET", Action: "EXPORT"},
		{Type: "SIGN_RAW_PAYLOAD", Kind: "SIGN_RAW_PAYLOAD", Resource: "PRIVATE_KEY", Action: "SIGN"},
		{Type: "SIGN_RAW_PAYLOAD_V2", Kind: "SIGN_RAW_PAYLOAD", Resource: "PRIVATE_KEY", Action: "SIGN"},
		{Type: "SIGN_RAW_PAYLOADS", Kind: "SIGN_RAW_PAYLOADS", Resource: "PRIVATE_KEY", Action: "SIGN"},
		{Type: "SIGN_TRANSACTION", Kind: "SIGN_TRANSACTION", Resource: "PRIVATE_KEY", Action: "SIGN"},
		{Type: "SIGN_TRANSACTION_V2", Kind: "SIGN_TRANSACTION", Resource: "PRIVATE_KEY", Action: "SIGN"},
	} {
		a.Type = "ACTIVITY_TYPE_" + a.Type
		c.Activities = append(c.Activities, a)
		c.Values["Activity.type"] = append(c.Values["Activity.type"], a.Type)
		c.Values["Activity.kind"] = append(c.Values["Activity.kind"], a.Kind)
	}
	for _, u := range c.Users {
		for _, tag := range u.Tags {
			c.UserTags[tag] = "tag " + tag
		}
	}
	return c
}

func TestLint(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range load[[]struct {
		Name     string
		Policies []policyRow
		Want     [][]any
	}](t, "lint.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			var policies []Policy
			for i, r := range c.Policies {
				policies = append(policies, r.compile(t, fmt.Sprint(i)))
			}
			findings := Lint(policies, lintContext())
			var got, want []string
			for _, f := range findings {
				got = append(got, fmt.Sprint(f.PolicyID, " ", f.Place, " ", f.Offset, " ", f.Code))
				seen[f.Code] = true
			}
			for _, w := range c.Want {
				want = append(want, fmt.Sprint(w[0], " ", w[1], " ", w[2], " ", w[3]))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (- wanted, + found):\n%s%v", diff, findings)
			}
			for _, w := range c.Want {
				said := slices.ContainsFunc(findings, func(f Finding) bool {
					return string(f.Code) == w[3] && strings.Contains(f.Message, w[4].(string))
				})
				if !said {
					t.Errorf("no %s says %q: %v", w[3], w[4], findings)
				}
			}
		})
	}
	for _, code := range []Code{NeverTrue, AlwaysTrue, ShadowedByDeny, TooManyApprovals, UnknownUser, UnknownTag, RawPayloadHole, BadChecksum, WrongCase, UnknownValue, SingleVersion, AllowsEverything, BadAddress, LimitCanErr} {
		if !seen[code] {
			t.Errorf("no case has the finding %s", code)
		}
	}
}

// TestLintWithoutContext checks that nothing is said of what is not known.
func TestLintWithoutContext(t *testing.T) {
	p := []Policy{{
		Condition: compiled(t, Condition, "private_key.tags.contains('x')"),
		Consensus: compiled(t, Consensus, "approvers.filter(u, u.id == 'x' && u.tags.contains('y')).count() >= 50"),
	}}
	if findings := Lint(p, LintContext{}); len(findings) > 0 {
		t.Errorf("without context there are findings: %v", findings)
	}
}

// TestNeverIsTrue checks unsatisfiablePart and alwaysTrue against the evaluator.
func TestNeverIsTrue(t *testing.T) {
	check(t, func(r *rapid.T) {
		env, _ := facts(r)
		p := Condition
		if rapid.Bool().Draw(r, "consensus") {
			p = Consensus
		}
		e := expression(r, p, 4)
		result, err := e.Eval(env)
		if unsatisfiablePart(e.top) != nil && result {
			r.Fatalf("%s is true, but lint says that it never is", e)
		}
		if alwaysTrue(e.top) && err == nil && !result {
			r.Fatalf("%s is false, but lint says that it never is", e)
		}
	})
}
