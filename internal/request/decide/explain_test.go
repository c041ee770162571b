package decide

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
)

// The parts of random policies. Some of them err: by what the request does not
// have, and by an index out of range.
var (
	someConsensus = []string{
		"", "approvers.any(u, u.id == 'ada')", "approvers.any(u, u.id == 'bob') && approvers.any(u, u.id == 'ada')",
		"approvers.count() >= 2", "approvers.filter(u, u.tags.contains('admin')).count() >= 2", "approvers.count() >= 9",
		"approvers.all(u, u.tags.contains('admin'))", "credentials.any(c, c.user_id == 'eve')", "approvers[3].id == 'root'",
		"!approvers.any(u, u.id == 'root')", "approvers.any(u, u.id == 'nobody')",
	}
	someCondition = []string{
		"", "activity.resource == 'WALLET'", "activity.resource == 'USER'", "wallet.id == 'w'", "activity.action in ['CREATE', 'UPDATE']",
		"wallets[5].id == 'x'", "eth.tx.value > 5 || true", "true", "false", "wallets.any(w, w.exported) && activity.action == 'CREATE'",
	}
	someTime = []string{"", "", "", "time.now < Timestamp('2030-01-01T00:00:00Z')", "time.now > Timestamp('2030-01-01T00:00:00Z')"}
)

// randomCase makes a case out of a seed.
func randomCase(r *rand.Rand) *Input {
	names := []string{"root", "second", "third", "ada", "bob", "eve"}
	w := newWorld(int32(r.IntN(4)), names[:1+r.IntN(3)]...)
	for _, u := range w.users {
		if r.IntN(3) == 0 {
			u.TagIDs = []string{"admin"}
		}
	}
	for range r.IntN(5) {
		effect := domain.EffectAllow
		if r.IntN(3) == 0 {
			effect = domain.EffectDeny
		}
		w.policy(effect, someConsensus[r.IntN(len(someConsensus))], someCondition[r.IntN(len(someCondition))])
		w.policies[len(w.policies)-1].Time = someTime[r.IntN(len(someTime))]
	}
	var approvers []string
	for range 1 + r.IntN(3) {
		approvers = append(approvers, names[r.IntN(len(names))])
	}
	own := ""
	if r.IntN(4) == 0 {
		own = approvers[0]
	}
	c := w.on(own, approvers...)
	if r.IntN(8) == 0 {
		c.By = RootQuorum
	}
	facts := &fact.Request{Activity: fact.Activity{Resource: "WALLET", Action: "CREATE"}}
	if r.IntN(2) == 0 {
		facts.Wallet = &fact.Wallet{ID: "w"}
		facts.Wallets = []fact.Wallet{{ID: "w", Exported: true}}
	}
	c.Facts = func() (*fact.Request, error) { return facts, nil }
	return c
}

// value reads what a trace says of the whole expression: true, false, or an
// error that means absence, or another one.
func value(steps []policy.Step) string {
	switch {
	case steps == nil:
		return "true"
	case steps[0].Err == nil:
		return steps[0].Value
	case steps[0].Err.Absent:
		return "absent"
	}
	return "error"
}

// said folds an explanation by the rules of the specification, knowing nothing
// but the values that were shown.
func said(e *Explanation) (verdict string) {
	var denied, allows, waits bool
	for _, p := range e.Policies {
		condition, consensus, active := value(p.Condition), value(p.Consensus), value(p.Time)
		erring, absent := false, false
		for _, v := range []string{condition, consensus, active} {
			erring = erring || v == "error"
			absent = absent || v == "absent"
		}
		switch {
		case absent:
		case erring:
			denied = denied || p.Policy.Deny
		case condition == "true" && active == "true" && consensus == "true" && p.Policy.Deny:
			denied = true
		case condition == "true" && active == "true" && consensus == "true" && !p.Policy.Boundless():
			allows = true
		case p.Evaluation.Outcome == string(policy.RequiresConsensus):
			waits = true
		}
	}
	switch {
	case denied:
		return "denied"
	case allows:
		return "allowed"
	case waits:
		return "waiting"
	}
	return "silent"
}

// TestExplainEqualsDecision compares, for many random cases, the decision with
// what follows from the explanation's values.
func TestExplainEqualsDecision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	outcomes := map[Outcome]int{}
	for i := range 100_000 {
		c := randomCase(r)
		again := *c
		e, err := c.Explain()
		if err != nil {
			t.Fatal(err)
		}
		d, err := again.Decide()
		if err != nil {
			t.Fatal(err)
		}
		outcomes[d.Outcome]++
		if d.Outcome != e.Outcome || fmt.Sprint(d.Evaluations) != fmt.Sprint(e.Evaluations) {
			t.Fatalf("case %d: decided %v, explained %v", i, d, e.Decision)
		}
		quorum := c.Organization.RootQuorum
		want := Deny
		verdict := said(e)
		own := c.OwnUser != "" && c.OwnUser == c.Activity.Votes[0].UserID // every vote counts here
		switch {
		case quorum.Threshold > 0 && len(e.RootApprovals) >= int(quorum.Threshold):
			want = Allow
		case c.By == RootQuorum:
			if len(e.RootApprovals) > 0 {
				want = Pending
			}
		case verdict == "allowed", verdict == "silent" && own:
			want = Allow
		case verdict == "waiting", len(e.RootApprovals) > 0:
			want = Pending
		}
		if d.Outcome != want {
			t.Fatalf("case %d: decided %v, but the values say %v (%s): %+v", i, d.Outcome, want, verdict, e)
		}
	}
	for _, o := range []Outcome{Allow, Deny, Pending} {
		if outcomes[o] < 1000 {
			t.Errorf("the cases are one-sided: %v", outcomes)
		}
	}
}

// TestOrderNeverMatters shuffles the policies of every case.
func TestOrderNeverMatters(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		c := randomCase(r)
		before, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		policies := c.Rules.policies
		r.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
		after, err := c.Decide()
		if err != nil || after.Outcome != before.Outcome {
			t.Fatalf("case %d: %v became %v (%v)", i, before.Outcome, after.Outcome, err)
		}
	}
}

// TestDenyNeverAllows adds a DENY to every case: no refusal becomes an allowance
// and no waiting either.
func TestDenyNeverAllows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		c := randomCase(r)
		before, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		deny := &domain.Policy{
			ID: "more", Effect: domain.EffectDeny,
			Consensus: someConsensus[r.IntN(len(someConsensus))], Condition: someCondition[r.IntN(len(someCondition))],
		}
		compiled, err := Compile(deny)
		if err != nil {
			t.Fatal(err)
		}
		c.Rules.policies = append(c.Rules.policies, *compiled)
		after, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		if before.Outcome == Deny && after.Outcome != Deny || before.Outcome == Pending && after.Outcome == Allow {
			t.Fatalf("case %d: a DENY turned %v into %v", i, before.Outcome, after.Outcome)
		}
	}
}
