package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"latchkey/internal/policy/fact"
)

// testUsers are the users of decide.yaml, with their tags.
var testUsers = []struct{ id, tags, credential string }{
	{"a", "", "KEY"},
	{"h", "", "KEY"},
	{"x", "", "KEY"},
	{"agent", "agent", "KEY"},
	{"admin", "admin", "KEY"},
	{"manager", "m", "KEY"},
	{"senior", "m senior", "KEY"},
	{"trader1", "trader", "KEY"},
	{"trader2", "trader", "KEY"},
	{"trader3", "trader", "KEY"},
	{"passkey", "", "PASSKEY"},
}

// testVoters returns the voters by id and all of them together. Each votes with an API
// key, and some hold a passkey besides.
func testVoters() (map[string]Voter, *fact.Consensus) {
	voters, allVoters := map[string]Voter{}, &fact.Consensus{}
	for _, p := range testUsers {
		v := Voter{User: fact.User{ID: p.id, Tags: strings.Fields(p.tags)}, Credentials: []fact.Credential{{ID: "key-" + p.id, UserID: p.id, Type: "KEY"}}}
		if p.credential != "KEY" {
			v.Credentials = append(v.Credentials, fact.Credential{ID: "more-" + p.id, UserID: p.id, Type: p.credential})
		}
		voters[p.id] = v
		allVoters.Approvers = append(allVoters.Approvers, v.User)
		allVoters.Credentials = append(allVoters.Credentials, v.Credentials...)
	}
	return voters, allVoters
}

type policyRow struct {
	Deny                       bool
	Condition, Consensus, Time string
}

func (r policyRow) compile(t testing.TB, id string) Policy {
	t.Helper()
	p := Policy{ID: id, Name: "policy " + id, Deny: r.Deny}
	for _, part := range []struct {
		place  Place
		source string
		to     **Expr
	}{{Condition, r.Condition, &p.Condition}, {Consensus, r.Consensus, &p.Consensus}, {Time, r.Time, &p.Time}} {
		if part.source != "" {
			*part.to = compiled(t, part.place, part.source)
		}
	}
	return p
}

func TestDecide(t *testing.T) {
	all, allVoters := testVoters()
	for _, c := range load[[]struct {
		Name        string
		Policies    []policyRow
		Voters      []string
		Want        Outcome
		Evaluations []Outcome
	}](t, "decide.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			env := &Env{
				Request: &fact.Request{
					Activity: fact.Activity{Type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", Resource: "PRIVATE_KEY", Action: "SIGN"},
					Wallet:   &fact.Wallet{ID: "w1"},
					Ethereum: &fact.EthereumTx{To: "0xabc", Data: "0x", Value: fact.Uint(5)},
				},
				Consensus: &fact.Consensus{},
				Now:       time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			}
			var voters []Voter
			for _, id := range c.Voters {
				v := all[id]
				voters = append(voters, v)
				env.Consensus.Approvers = append(env.Consensus.Approvers, v.User)
				env.Consensus.Credentials = append(env.Consensus.Credentials, v.Credentials[0])
			}
			var policies []Policy
			for i, r := range c.Policies {
				policies = append(policies, r.compile(t, fmt.Sprint(i)))
			}
			asked := 0
			d := Decide(policies, env, voters, func() *fact.Consensus { asked++; return allVoters }, nil)
			if d.Outcome != c.Want {
				t.Errorf("the decision is %s, want %s", d.Outcome, c.Want)
			}
			if len(d.Evaluations) != len(policies) {
				t.Fatalf("there are %d evaluations of %d policies", len(d.Evaluations), len(policies))
			}
			for i, e := range d.Evaluations {
				if c.Evaluations != nil && e.Outcome != c.Evaluations[i] {
					t.Errorf("policy %d: %s, want %s (%v)", i, e.Outcome, c.Evaluations[i], e.Err())
				}
				if (e.Outcome == Failed) != (e.Err() != nil) {
					t.Errorf("policy %d: %s with the error %v", i, e.Outcome, e.Err())
				}
				if e.Policy != &policies[i] {
					t.Errorf("evaluation %d is of policy %s", i, e.Policy.ID)
				}
				if alone := policies[i].Evaluate(env, voters); alone.Outcome != e.Outcome && alone.Outcome != RequiresConsensus {
					t.Errorf("policy %d alone is %s, together %s", i, alone.Outcome, e.Outcome)
				}
			}
			if asked > 1 || asked == 1 && c.Want != RequiresConsensus && c.Want != DenyImplicit {
				t.Errorf("allVoters was asked for %d times", asked)
			}
		})
	}
}

// TestWaitsWithoutAllVoters checks that nothing is presumed when the caller does
// not say who there is.
func TestWaitsWithoutAllVoters(t *testing.T) {
	all, _ := testVoters()
	p := []Policy{{Consensus: compiled(t, Consensus, "approvers.count() >= 100")}}
	env := &Env{Consensus: &fact.Consensus{Approvers: []fact.User{all["x"].User}}, Now: noon}
	for name, allVoters := range map[string]func() *fact.Consensus{"no function": nil, "no answer": func() *fact.Consensus { return nil }} {
		if d := Decide(p, env, []Voter{all["x"]}, allVoters, nil); d.Outcome != RequiresConsensus {
			t.Errorf("%s: the decision is %s, want %s", name, d.Outcome, RequiresConsensus)
		}
	}
}

func TestNames(t *testing.T) {
	all, _ := testVoters()
	for _, c := range []struct {
		name, consensus, who string
		want                 bool
	}{
		{"by id", "approvers.any(u, u.id == 'a')", "a", true},
		{"by another's id", "approvers.any(u, u.id == 'a')", "h", false},
		{"in all", "approvers.all(u, u.tags.contains('trader'))", "trader1", true},
		{"not in all", "approvers.all(u, u.tags.contains('trader'))", "a", false},
		{"in a filter", "approvers.filter(u, u.tags.contains('trader')).count() > 1", "trader1", true},
		{"in a filter that any follows", "approvers.filter(u, u.tags.contains('m')).any(v, v.tags.contains('senior'))", "senior", true},
		{"only in the filter that any follows", "approvers.filter(u, u.tags.contains('m')).any(v, v.tags.contains('senior'))", "manager", false},
		{"a slice is passed over", "approvers[0..1].any(u, u.id == 'a')", "a", true},
		{"a count of a slice", "approvers[5..9].count() > 0", "a", true},
		{"a count of credentials", "credentials.count() >= 2", "a", true},
		{"a credential", "credentials.any(c, c.user_id == 'a')", "a", true},
		{"a credential of another", "credentials.any(c, c.user_id == 'a')", "h", false},
		{"a credential that the voter holds", "credentials.filter(c, c.type == 'PASSKEY').count() >= 1", "passkey", true},
		{"an index names no one", "approvers[0].id == 'a'", "a", false},
		{"a constant names no one", "true", "a", false},
		{"under not", "!approvers.any(u, u.id == 'a')", "a", true},
		{"under or", "approvers.any(u, u.id == 'a') || approvers.any(u, u.id == 'h')", "h", true},
		{"an atom that errs is not true", "approvers.any(u, u.tags[3] == 'x' || true)", "a", false},
		{"in a list of literals", "['a', 'h'].any(id, approvers.any(u, u.id == id))", "h", true},
		{"not in a list of literals", "['a', 'h'].any(id, approvers.any(u, u.id == id))", "x", false},
		{"what others did does not name the voter", "approvers.any(u, approvers.count() >= 2)", "a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := all[c.who]
			if got := compiled(t, Consensus, c.consensus).Names(&v, nil); got != c.want {
				t.Errorf("%s names %s: %v, want %v", c.consensus, c.who, got, c.want)
			}
		})
	}
}

func TestMonotonic(t *testing.T) {
	for source, want := range map[string]bool{
		"approvers.count() >= 2":                                  true,
		"approvers.count() > 2":                                   true,
		"2 <= approvers.count()":                                  true,
		"2 < credentials.count()":                                 true,
		"approvers.count() == 2":                                  false,
		"approvers.count() != 2":                                  false,
		"approvers.count() < 2":                                   false,
		"approvers.count() <= 2":                                  false,
		"approvers.any(u, u.id == 'a')":                           true,
		"approvers.all(u, u.id == 'a')":                           false,
		"!approvers.any(u, u.id == 'a')":                          false,
		"approvers[0].id == 'a'":                                  false,
		"approvers[0..1].any(u, u.id == 'a')":                     false,
		"approvers.filter(u, !u.tags.contains('x')).count() >= 1": true,
		"approvers.filter(u, !credentials.any(c, c.user_id == u.id)).count() >= 1":         false,
		"approvers.any(u, credentials.any(c, c.user_id == u.id)) && approvers.count() > 1": true,
		"approvers.any(u, u.id == 'a') || approvers.count() == 1":                          false,
		"approvers.count() >= credentials.count()":                                         false,
		"true":                                  true,
		"[1, 2].any(v, approvers.count() >= v)": true,
	} {
		if got := monotonic(compiled(t, Consensus, source).top); got != want {
			t.Errorf("%s is monotonic: %v, want %v", source, got, want)
		}
	}
}

func TestStricter(t *testing.T) {
	order := []Outcome{Allow, RequiresConsensus, DenyImplicit, DenyExplicit}
	for i, a := range order {
		for j, b := range order {
			if got, want := Stricter(a, b), order[max(i, j)]; got != want {
				t.Errorf("of %s and %s the stricter is %s, want %s", a, b, got, want)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	env, voters := benchEnv()
	solana := environment(t, "solana")
	calls := environment(t, "call")
	policies := benchPolicies(t)
	policies = append(policies,
		Policy{Condition: compiled(t, Condition, "private_key.id == 'k' || eth.tx.data[9] == 'x'")},
		Policy{Consensus: compiled(t, Consensus, "approvers.count() >= 3")},
		Policy{Time: compiled(t, Time, "CronSpan('0 9 * * 1', '7d', 'America/New_York')"), Condition: compiled(t, Condition, "true")},
	)
	buffer := make([]Evaluation, 0, len(policies))
	for name, f := range map[string]func(){
		"a decision":  func() { Decide(policies, env, voters, nil, buffer) },
		"a condition": evaluator(t, Condition, benchCondition, env),
		"a consensus": evaluator(t, Consensus, benchConsensus, env),
		"nested quantifiers": evaluator(t, Condition,
			"solana.tx.instructions.filter(i, i.program_key == 'jup').all(i, i.accounts.any(a, a.signer && a.account_key in solana.tx.account_keys))", solana),
		"arguments": evaluator(t, Condition,
			"eth.tx.contract_call_args['calls'].all(c, c[0] == eth.tx.to && c[1] < 2) && eth.tx.contract_call_args['memo'][0..2] == 'He'", calls),
		"lower case": evaluator(t, Condition, "CaseInsensitiveString(wallet_account.address)[0..4] == '0xab'", calls),
		"an index":   evaluator(t, Condition, "solana.tx.instructions.filter(i, i.program_key == 'jup')[0..1][0].accounts[1].writable", solana),
	} {
		// It counts what the whole process allocates, such as the cleanups of
		// other tests: what f itself does is the least of several counts.
		least := math.Inf(1)
		for range 10 {
			if least = min(least, testing.AllocsPerRun(200, f)); least == 0 {
				break
			}
		}
		if least != 0 {
			t.Errorf("%s allocates %v times", name, least)
		}
	}
}

func evaluator(t *testing.T, p Place, source string, env *Env) func() {
	e := compiled(t, p, source)
	return func() {
		if result, err := e.Eval(env); !result || err != nil {
			t.Fatalf("%s: %v, %v", source, result, err)
		}
	}
}
