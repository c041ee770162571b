package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/policy/fact"
)

// check runs a property often enough that every outcome comes up.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 5 {
		rapid.Check(t, property)
	}
}

// TestAgainstOracle compares the evaluator with the plain one, and checks the
// forms of every random expression.
func TestAgainstOracle(t *testing.T) {
	seen := map[string]int{}
	check(t, func(r *rapid.T) {
		p := rapid.SampledFrom([]Place{Condition, Condition, Consensus}).Draw(r, "place")
		env, _ := facts(r)
		e := expression(r, p, rapid.IntRange(0, 5).Draw(r, "depth"))
		result, err := e.Eval(env)
		got := answer(result, err)
		if want := (&oracle{env: env}).ask(e); got != want {
			r.Fatalf("%s is %s, want %s (%v)", e, got, want, err)
		}
		seen[got]++
		checkForms(t, e, env)
		if t.Failed() {
			r.Fatalf("%s", e.source)
		}
	})
	for _, outcome := range []string{"true", "false", "absent", "error"} {
		if seen[outcome] == 0 {
			t.Errorf("no random expression was %s; the generator is too tame: %v", outcome, seen)
		}
	}
}

// drawCase draws policies and what they are evaluated on.
func drawCase(r *rapid.T) ([]Policy, *Env, []Voter) {
	env, voters := facts(r)
	var policies []Policy
	for range rapid.IntRange(0, 6).Draw(r, "policies") {
		policies = append(policies, somePolicy(r, "p"))
	}
	return policies, env, voters
}

func decideAll(policies []Policy, env *Env, voters []Voter) Outcome {
	_, allVoters := testVoters()
	return Decide(policies, env, voters, func() *fact.Consensus { return allVoters }, nil).Outcome
}

func TestOrderNeverMatters(t *testing.T) {
	seen := map[Outcome]int{}
	check(t, func(r *rapid.T) {
		policies, env, voters := drawCase(r)
		want := decideAll(policies, env, voters)
		seen[want]++
		shuffled := rapid.Permutation(policies).Draw(r, "order")
		if got := decideAll(shuffled, env, voters); got != want {
			r.Fatalf("the decision is %s, in another order %s", want, got)
		}
		// The order of operands does not matter either.
		for _, p := range policies {
			if p.Condition == nil || p.Condition.top.op != opAnd && p.Condition.top.op != opOr {
				continue
			}
			turned := *p.Condition.top
			turned.args = slices.Clone(turned.args)
			slices.Reverse(turned.args)
			other := compiled(t, Condition, turned.String())
			x, err1 := p.Condition.Eval(env)
			y, err2 := other.Eval(env)
			if answer(x, err1) != answer(y, err2) {
				r.Fatalf("%s is %s, but %s is %s", p.Condition, answer(x, err1), other, answer(y, err2))
			}
		}
	})
	for _, o := range []Outcome{Allow, DenyExplicit, DenyImplicit, RequiresConsensus} {
		if seen[o] == 0 {
			t.Errorf("no random case ended in %s: %v", o, seen)
		}
	}
}

func TestAddingADenyNeverAllows(t *testing.T) {
	check(t, func(r *rapid.T) {
		policies, env, voters := drawCase(r)
		deny := somePolicy(r, "deny")
		deny.Deny = true
		before, after := decideAll(policies, env, voters), decideAll(append(slices.Clone(policies), deny), env, voters)
		if after != before && after != DenyExplicit {
			r.Fatalf("a DENY changed the decision from %s to %s", before, after)
		}
		// A DENY of everything is absolute.
		if got := decideAll(append(slices.Clone(policies), Policy{Deny: true}), env, voters); got != DenyExplicit {
			r.Fatalf("with a DENY of everything the decision is %s", got)
		}
	})
}

func TestAddingWhatDoesNotApplyChangesNothing(t *testing.T) {
	added := 0
	check(t, func(r *rapid.T) {
		policies, env, voters := drawCase(r)
		more := somePolicy(r, "more")
		e := more.Evaluate(env, voters)
		applies := e.Outcome != DenyImplicit && e.Outcome != TimeInactive && (e.Outcome != Failed || !e.Err().Absent)
		if e.Outcome == Failed && !more.Deny {
			applies = false // an ALLOW that errs, in whatever way, does not allow
		}
		if applies {
			return
		}
		added++
		before, after := decideAll(policies, env, voters), decideAll(append(slices.Clone(policies), more), env, voters)
		if before != after {
			r.Fatalf("a policy with the outcome %s changed the decision from %s to %s", e.Outcome, before, after)
		}
	})
	if added == 0 {
		t.Error("no random policy failed to apply")
	}
}

// TestGrowingConsensus checks the claim that the refinement of Decide rests on:
// a monotonic expression stays true when votes are added.
func TestGrowingConsensus(t *testing.T) {
	_, allVoters := testVoters()
	tried := 0
	check(t, func(r *rapid.T) {
		env, _ := facts(r)
		e := expression(r, Consensus, rapid.IntRange(1, 4).Draw(r, "depth"))
		if !monotonic(e.top) {
			return
		}
		before, err := e.Eval(env)
		if err != nil || !before {
			return
		}
		tried++
		more := &fact.Consensus{Approvers: slices.Clone(allVoters.Approvers), Credentials: slices.Clone(allVoters.Credentials)}
		after, err := e.Eval(&Env{Consensus: more, Now: noon})
		if err == nil && !after {
			r.Fatalf("%s became false when every user voted", e)
		}
	})
	if tried == 0 {
		t.Error("no random consensus is monotonic and true")
	}
}
