package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/policy/fact"
)

// expensive is a condition that takes more than half of what one expression may
// do. It is true.
func expensive() string {
	list := "['" + strings.Join(strings.Split("abcdefghijklmnopqrst", ""), "', '") + "']"
	return fmt.Sprintf("%[1]s.any(a, %[1]s.any(b, %[1]s.any(c, %[1]s.any(d, a == b && c == d))))", list)
}

// TestBudget lets policies together take more than a request may: all of them
// fail then, in whichever order they come.
func TestBudget(t *testing.T) {
	condition := compiled(t, Condition, expensive())
	cheap := compiled(t, Condition, "true")
	never := compiled(t, Condition, "false")
	absent := compiled(t, Condition, "eth.tx.value == 1")
	decide := func(env *Env, policies []Policy) (all []Outcome) {
		for range 2 {
			env.Budget = NewBudget(t.Context())
			all = append(all, Decide(policies, env, nil, nil, nil).Outcome)
			slices.Reverse(policies)
		}
		return all
	}
	many := func(n int, others ...Policy) []Policy {
		for range n {
			others = append(others, Policy{Condition: condition})
		}
		return others
	}
	env := &Env{Request: &fact.Request{}}
	for name, c := range map[string]struct {
		policies []Policy
		want     Outcome
	}{
		"within":                        {many(3), Allow},
		"beyond":                        {many(12), DenyImplicit},
		"beyond, with one that allows":  {many(12, Policy{Condition: cheap}), DenyImplicit},
		"within, with a DENY":           {many(3, Policy{Deny: true, Condition: never}), Allow},
		"beyond, with a DENY":           {many(12, Policy{Deny: true, Condition: never}), DenyExplicit},
		"beyond, with a DENY on absent": {many(12, Policy{Deny: true, Condition: absent}), DenyExplicit},
	} {
		if got := decide(env, c.policies); got[0] != c.want || got[1] != c.want {
			t.Errorf("%s: %v, want %v in both orders", name, got, c.want)
		}
	}
	env.Budget = NewBudget(t.Context())
	d := Decide(many(12), env, nil, nil, nil)
	for i := range d.Evaluations {
		if err := d.Evaluations[i].Err(); err == nil || err.Reason != "evaluation takes too long" || err.Absent {
			t.Errorf("policy %d: %v", i, err)
		}
	}
	if steps := condition.Trace(env); len(steps) != 0 {
		t.Errorf("%d steps of an expression for which nothing is left", len(steps))
	}
}

// TestBudgetOfNames asks for many voters whether a consensus counts on them.
func TestBudgetOfNames(t *testing.T) {
	e := compiled(t, Consensus, fmt.Sprintf("approvers.any(u, %s && u.id == 'ada')", expensive()))
	b, named := NewBudget(t.Context()), 0
	for range 20 {
		if e.Names(&Voter{User: fact.User{ID: "ada"}}, b) {
			named++
		}
	}
	if named == 0 || named > 10 || !b.Exhausted() {
		t.Errorf("named %d times, exhausted: %v", named, b.Exhausted())
	}
}

// TestBudgetOfTrace shows a bounded number of bytes, however often and however
// long the source of a part is repeated.
func TestBudgetOfTrace(t *testing.T) {
	list := "[" + strings.Repeat("'x', ", 19) + "'x']"
	source := list + ".any(a, " + list + ".any(b, a == b && '" + strings.Repeat("y", 15000) + "' == a))"
	e := compiled(t, Condition, source)
	b := NewBudget(t.Context())
	shown := 0
	for range 100 {
		for _, s := range e.Trace(&Env{Budget: b}) {
			shown += len(s.Source) + len(s.Bound) + len(s.Value)
		}
	}
	if !b.Exhausted() || shown > maxRequestWork+2*maxSource {
		t.Errorf("%d bytes were shown, exhausted: %v", shown, b.Exhausted())
	}
}

// TestBudgetOfContext ends with the request.
func TestBudgetOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := NewBudget(ctx)
	cancel()
	_, err := compiled(t, Condition, expensive()).Eval(&Env{Budget: b})
	if err != nil || !b.Exhausted() || !errors.Is(b.Err(), context.Canceled) {
		t.Errorf("%v, exhausted: %v, %v", err, b.Exhausted(), b.Err())
	}
}
