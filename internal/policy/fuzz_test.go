package policy

import (
	"errors"
	"slices"
	"testing"
)

// FuzzCompile feeds arbitrary sources: whatever compiles prints to a form that
// compiles to the same form and the same meaning, and evaluates without panic.
// Whatever does not says where and why.
func FuzzCompile(f *testing.F) {
	for p, all := range load[map[string][]string](f, "quoted.yaml") {
		for _, source := range all {
			f.Add(uint8(place(f, p)), source) // a seed
		}
	}
	for _, g := range load[[]evalGroup](f, "eval.yaml") {
		for _, c := range g.Cases {
			f.Add(uint8(place(f, g.Place)), c.Expr)
		}
	}
	for _, c := range load[[]struct {
		Place, Expr string
		Offset      int
		Says        []string
	}](f, "refused.yaml") {
		f.Add(uint8(place(f, c.Place)), c.Expr)
	}
	all := requests()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Fuzz(func(t *testing.T, p uint8, source string) {
		e, err := Compile(Place(p%3), source)
		if err != nil {
			var refused *Error
			if !errors.As(err, &refused) || refused.Message == "" || refused.Offset < 0 || refused.End < refused.Offset || refused.End > len(source) {
				t.Fatalf("a poor refusal: %#v", err)
			}
			return
		}
		if len(e.String()) > maxSource {
			return
		}
		env := environment(t, names[len(source)%len(names)])
		checkForms(t, e, env)
		for _, name := range []string{"none", "call", "solana"} {
			env.Request = all[name]
			_, _ = e.Eval(env)
		}
		v := Voter{User: env.Consensus.Approvers[0], Credentials: env.Consensus.Credentials}
		e.Names(&v, nil)
		Lint([]Policy{{Condition: e, Consensus: e, Time: e}}, LintContext{Users: env.Consensus.Approvers, Credentials: env.Consensus.Credentials})
	})
}

func TestQuoted(t *testing.T) {
	for p, all := range load[map[string][]string](t, "quoted.yaml") {
		for _, source := range all {
			checkForms(t, compiled(t, place(t, p), source), environment(t, "none"))
		}
	}
}
