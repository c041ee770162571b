package policy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/policy/fact"
)

// load reads a table of testdata; an unknown key is a mistake in the table.
func load[T any](t testing.TB, name string) T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var table T
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&table); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return table
}

type evalGroup struct {
	Group, On, Place string
	Cases            []struct{ Expr, Want string }
}

func place(t testing.TB, name string) Place {
	t.Helper()
	for _, p := range []Place{Condition, Consensus, Time} {
		if p.String() == name || name == "" {
			return p
		}
	}
	t.Fatalf("there is no place %q", name)
	return 0
}

// answer is the result of an evaluation in the words of the tables.
func answer(result bool, err error) string {
	var failed *EvalError
	switch {
	case err == nil:
		return fmt.Sprint(result)
	case errors.As(err, &failed) && failed.Absent:
		return "absent"
	default:
		return "error"
	}
}

func TestEval(t *testing.T) {
	for _, g := range load[[]evalGroup](t, "eval.yaml") {
		t.Run(g.Group, func(t *testing.T) {
			env := environment(t, g.On)
			for _, c := range g.Cases {
				e, err := Compile(place(t, g.Place), c.Expr)
				if err != nil {
					t.Errorf("%s: %v", c.Expr, err)
					continue
				}
				result, err := e.Eval(env)
				if got := answer(result, err); got != c.Want {
					t.Errorf("%s is %s, want %s (%v)", c.Expr, got, c.Want, err)
				}
				checkForms(t, e, env)
			}
		})
	}
}

// checkForms checks what must hold of every expression: its canonical form
// means the same, and its trace says what its evaluation says.
func checkForms(t testing.TB, e *Expr, env *Env) {
	t.Helper()
	result, err := e.Eval(env)
	again, compileErr := Compile(e.place, e.String())
	if compileErr != nil {
		t.Errorf("%s does not compile in its canonical form %s: %v", e.source, e, compileErr)
		return
	}
	if again.String() != e.String() {
		t.Errorf("%s has the forms %s and %s", e.source, e, again)
	}
	result2, err2 := again.Eval(env)
	if answer(result, err) != answer(result2, err2) {
		t.Errorf("%s is %s, but its canonical form %s", e.source, answer(result, err), answer(result2, err2))
	}
	if steps := e.Trace(env); len(steps) > 0 {
		top := steps[0]
		var traced error
		if top.Err != nil {
			traced = top.Err
		}
		if got := answer(top.Value == "true", traced); got != answer(result, err) {
			t.Errorf("%s is %s, but its trace says %s", e.source, answer(result, err), got)
		}
		for _, s := range steps {
			if s.Source != e.source[s.Offset:s.End] {
				t.Errorf("%s: a step is about %q, but its offsets say %q", e.source, s.Source, e.source[s.Offset:s.End])
			}
			if (s.Err == nil) == (s.Value == "") {
				t.Errorf("%s: the step %q has the value %q and the error %v", e.source, s.Source, s.Value, s.Err)
			}
		}
	} else if !e.top.literal() {
		t.Errorf("%s has no trace", e.source)
	}
}

// TestEveryField holds the table of the vocabulary against eval.yaml: each
// field must be read by a case whose outcome depends on it.
func TestEveryField(t *testing.T) {
	read := map[*field]bool{}
	roots := map[string]bool{}
	for _, g := range load[[]evalGroup](t, "eval.yaml") {
		for _, c := range g.Cases {
			if c.Want != "true" {
				continue
			}
			compiled(t, place(t, g.Place), c.Expr).top.visit(func(n *node) {
				if n.field != nil {
					read[n.field] = true
				}
				if n.root != nil {
					roots[n.root.name] = true
				}
			})
		}
	}
	var walk func(path string, ty *typ)
	walk = func(path string, ty *typ) {
		if ty.kind == kindList {
			ty = ty.elem
		}
		for i := range ty.fields {
			f := &ty.fields[i]
			if !read[f] {
				t.Errorf("no case of eval.yaml reads %s.%s", path, f.name)
			}
			walk(path+"."+f.name, f.typ)
		}
	}
	for _, p := range []Place{Condition, Consensus, Time} {
		for _, r := range rootsOf(p) {
			if !roots[r.name] {
				t.Errorf("no case of eval.yaml reads %s", r.name)
			}
			walk(r.name, r.typ)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range load[[]struct {
		Place, Expr string
		Offset      int
		Says        []string
	}](t, "refused.yaml") {
		t.Run(c.Expr, func(t *testing.T) {
			_, err := Compile(place(t, c.Place), c.Expr)
			var refused *Error
			if !errors.As(err, &refused) {
				t.Fatalf("compiled (%v), want a refusal", err)
			}
			if refused.Offset != c.Offset {
				t.Errorf("offset %d, want %d: %v", refused.Offset, c.Offset, err)
			}
			if refused.End < refused.Offset || refused.End > len(c.Expr) {
				t.Errorf("end %d of a source of %d bytes", refused.End, len(c.Expr))
			}
			for _, words := range append(c.Says, fmt.Sprintf("at offset %d", c.Offset)) {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the error does not say %q: %v", words, err)
				}
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	_, err := Compile(Condition, "activity.action == 'SIGN' && eth.tx.gasPrice < 5")
	want := "field does not exist: gasPrice (at offset 36: gasPrice); write gas_price"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	_, err = Compile(Condition, "private_key.id == 'k' && eth.tx.contract_call_args['amount'] == 1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = compiled(t, Condition, "true && eth.tx.contract_call_args['nope'] == 1").Eval(environment(t, "call"))
	want = "condition, at offset 8: eth.tx.contract_call_args['nope']: there is no value of that name"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	_, err = compiled(t, Condition, "eth.tx.contract_call_args['small'] == 'x'").Eval(environment(t, "call"))
	want = "condition, at offset 0: eth.tx.contract_call_args['small']: expected a string, but the value is a number"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
}

func TestCaps(t *testing.T) {
	many := func(n int, part, between string) string {
		return strings.TrimSuffix(strings.Repeat(part+between, n), between)
	}
	for _, c := range []struct {
		name, expr, says string
	}{
		{"a source of the greatest length", "'" + strings.Repeat("x", 20_000-9) + "' == 'y'", ""},
		{"one byte more", "'" + strings.Repeat("x", 20_000-8) + "' == 'y'", "too long"},
		{"many clauses are not deep", many(1000, "1 == 1", " && "), ""},
		{"as many parts as are allowed", "1 in [" + many(4093, "1", ",") + "]", ""},
		{"one part more", "1 in [" + many(4094, "1", ",") + "]", "too many parts"},
		{"brackets as deep as allowed", strings.Repeat("(", 63) + "true" + strings.Repeat(")", 63), ""},
		{"one bracket more", strings.Repeat("(", 64) + "true" + strings.Repeat(")", 64), "nested too deep"},
		{"not as deep as allowed", strings.Repeat("!", 63) + "true", ""},
		{"one not more", strings.Repeat("!", 64) + "true", "nested too deep"},
		{"a flood of brackets", strings.Repeat("(", 19_000), "nested too deep"},
		{"a flood of not", strings.Repeat("!", 19_000), "nested too deep"},
		{"a flood of lists", strings.Repeat("[", 19_000), "nested too deep"},
		{"a flood of indexes", "eth.eip_712.message['a']" + strings.Repeat("[0]", 200) + " == 1", "nested too deep"},
		{"a flood of digits", strings.Repeat("9", 19_000) + " == 1", "too large"},
		{"not UTF-8", "'\xff' == 'a'", "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(Condition, c.expr)
			switch {
			case c.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("the error is %v, want %q", err, c.says)
			case err != nil && len(err.Error()) > 300:
				t.Errorf("the error repeats %d bytes", len(err.Error()))
			}
		})
	}
}

// TestEvaluationEnds checks that long lists in nested quantifiers do not keep
// the server busy, and that giving up is an error that makes a DENY deny.
func TestEvaluationEnds(t *testing.T) {
	var long []fact.Value
	for i := range 3000 {
		long = append(long, num(uint64(i)))
	}
	env := &Env{Request: &fact.Request{EIP712: &fact.EIP712{Message: fact.Map{{Name: "l", Value: list(long...)}}}}}
	e := compiled(t, Condition, "eth.eip_712.message['l'].any(a, eth.eip_712.message['l'].any(b, eth.eip_712.message['l'].any(c, a == c)))")
	result, err := e.Eval(env)
	if got := answer(result, err); got != "error" || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("evaluation says %s (%v), want that it takes too long", got, err)
	}
	d := Decide([]Policy{{Deny: true, Condition: e}, {Condition: compiled(t, Condition, "true")}}, env, nil, nil, nil)
	if d.Outcome != DenyExplicit {
		t.Errorf("the decision is %s, want %s", d.Outcome, DenyExplicit)
	}
	single := compiled(t, Condition, "eth.eip_712.message['l'].filter(a, a > 0 && a < 3000).count() == 2999")
	if result, err := single.Eval(env); !result || err != nil {
		t.Errorf("one pass over the list says %v, %v", result, err)
	}
}

func TestCron(t *testing.T) {
	for _, g := range load[[]struct {
		Name, Span string
		Cases      []struct {
			At   string
			Want bool
		}
	}](t, "cron.yaml") {
		t.Run(g.Name, func(t *testing.T) {
			e := compiled(t, Time, g.Span)
			for _, c := range g.Cases {
				now := instantOf(t, c.At)
				if got, err := e.Eval(&Env{Now: now}); err != nil || got != c.Want {
					t.Errorf("at %s: %v, %v, want %v", c.At, got, err, c.Want)
				}
				if got := slowly(e.top.cron, now); got != c.Want {
					t.Errorf("at %s: minute by minute it is %v, want %v", c.At, got, c.Want)
				}
			}
		})
	}
}

// TestNoClock checks that a forgotten time is not the year 1.
func TestNoClock(t *testing.T) {
	for _, source := range []string{"time.now < Timestamp('2026-01-01T00:00:00Z')", "CronSpan('* * * * *', '7d', 'UTC')"} {
		result, err := compiled(t, Time, source).Eval(&Env{})
		if got := answer(result, err); got != "error" {
			t.Errorf("%s is %s, want an error", source, got)
		}
	}
}

// TestNothingThere checks that an empty environment has no roots.
func TestNothingThere(t *testing.T) {
	for p, source := range map[Place]string{Condition: "activity.type == ''", Consensus: "approvers.count() == 0 || credentials.count() == 0"} {
		result, err := compiled(t, p, source).Eval(&Env{Now: noon})
		if got := answer(result, err); got != "absent" {
			t.Errorf("%s is %s, want absent", source, got)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"spaces", "  true&&( false||true )\n", "true && (false || true)"},
		{"needless brackets", "((1) == (((1))))", "1 == 1"},
		{"chains dissolve", "(true && true) && (true && (true || (false || true)))", "true && true && true && (true || false || true)"},
		{"not", "!(!(true))&&!(1==1)", "!!true && !(1 == 1)"},
		{"a comparison as an operand", "(1 == 1) == (2 == 2)", "(1 == 1) == (2 == 2)"},
		{"leading zeros", "007 == -0", "7 == 0"},
		{"count", "wallets.count==1", "wallets.count() == 1"},
		{"postfix of an expression", "(['a'])[0..1].any(v,(v)=='a')", "['a'][0..1].any(v, v == 'a')"},
		{"functions", "CaseInsensitiveString( 'A' )in[ 'a' ,'b' ]", "CaseInsensitiveString('A') in ['a', 'b']"},
		{"maps", "eth.eip_712.message[ 'a' ][ 0 ]==1", "eth.eip_712.message['a'][0] == 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := compiled(t, Condition, c.source).String(); got != c.want {
				t.Errorf("%s has the form %s, want %s", c.source, got, c.want)
			}
		})
	}
	source := "CronSpan( '0 9 * * *','8h' , 'UTC')&&Timestamp('2026-01-01T00:00:00Z')<time.now"
	if got, want := compiled(t, Time, source).String(), "CronSpan('0 9 * * *', '8h', 'UTC') && Timestamp('2026-01-01T00:00:00Z') < time.now"; got != want {
		t.Errorf("%s has the form %s, want %s", source, got, want)
	}
}

// TestConcurrent uses one compiled expression from many goroutines, for the
// race detector.
func TestConcurrent(t *testing.T) {
	const source = "solana.tx.instructions.filter(i, i.program_key == 'jup').all(i, i.accounts.any(a, a.signer))"
	e := compiled(t, Condition, source)
	if e.Place() != Condition || e.Source() != source {
		t.Errorf("the expression is a %s: %s", e.Place(), e.Source())
	}
	env := environment(t, "solana")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if result, err := e.Eval(env); !result || err != nil {
					t.Errorf("%v, %v", result, err)
				}
				_, _ = e.String(), e.Trace(env)
			}
		})
	}
	group.Wait()
}

func TestTrace(t *testing.T) {
	env := environment(t, "eth")
	e := compiled(t, Consensus, "approvers.any(u, u.id == 'bob') && approvers[7].id == 'x'")
	type step struct{ source, bound, value, err string }
	var got []step
	for _, s := range e.Trace(env) {
		one := step{s.Source, s.Bound, s.Value, ""}
		if s.Err != nil {
			one.err = s.Err.Reason
		}
		got = append(got, one)
	}
	const outOfRange = "the index is out of range"
	want := []step{
		{e.source, "", "", outOfRange},
		{"approvers.any(u, u.id == 'bob')", "", "true", ""},
		{"approvers", "", "[User, User]", ""},
		{"u.id == 'bob'", "u = approvers[0]", "false", ""},
		{"u.id", "u = approvers[0]", "'alice'", ""},
		{"u", "u = approvers[0]", "User", ""},
		{"u.id == 'bob'", "u = approvers[1]", "true", ""},
		{"u.id", "u = approvers[1]", "'bob'", ""},
		{"u", "u = approvers[1]", "User", ""},
		{"approvers[7].id == 'x'", "", "", outOfRange},
		{"approvers[7].id", "", "", outOfRange},
		{"approvers[7]", "", "", outOfRange},
		{"approvers", "", "[User, User]", ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the trace is\n%q\nwant\n%q", got, want)
	}
}

// TestTraceValues checks how values of every type are written down.
func TestTraceValues(t *testing.T) {
	for _, c := range []struct{ on, part, want string }{
		{"eth", "eth.tx.value", "1000000000000000000"},
		{"eth", "eth.tx.to", "'" + contractAddress + "'"},
		{"eth", "wallet.imported", "true"},
		{"eth", "CaseInsensitiveString(wallet.label)", "'hot'"},
		{"eth", "CaseInsensitiveString('ÄBC')", "'Äbc'"},
		{"eth", "eth.tx", "EthereumTransaction"},
		{"export", "wallet_account.path_indexes", "[44, 60, 0]"},
		{"export", "wallet_account.path_hardened[1..3]", "[true, false]"},
		{"call", "eth.tx.contract_call_args['calls'][0]", "['" + contractAddress + "', 0]"},
		{"call", "eth.tx.contract_call_args['nothing']", "(absent)"},
		{"call", "eth.tx.contract_call_args['wide']", "(the integer does not fit)"},
		{"call", "eth.tx.contract_call_args['flag']", "true"},
		{"eip712", "eth.eip_712.message['uneven']", "[{a: 1}, {b: 2}]"},
		{"solana", "solana.tx.instructions.filter(i, i.program_key == 'jup')", "[Instruction]"},
	} {
		n, err := parse(c.part)
		if err != nil {
			t.Fatal(err)
		}
		ck := checker{place: Condition, roots: rootsOf(Condition)}
		if err := ck.check(n); err != nil {
			t.Fatal(err)
		}
		var m machine
		m.load(environment(t, c.on))
		if got := m.render(n); got != c.want || m.failed.node != nil {
			t.Errorf("%s is written %s, want %s", c.part, got, c.want)
		}
	}
	long := &Env{Request: &fact.Request{EIP712: &fact.EIP712{Message: fact.Map{{Name: "deep", Value: list(list(list(list(num(1)))))}, {Name: "text", Value: str(strings.Repeat("x", 500))}, {Name: "many", Value: list(make([]fact.Value, 30)...)}}}}}
	steps := compiled(t, Condition, "eth.eip_712.message['deep'].count() == eth.eip_712.message['text'][0..9].count() || eth.eip_712.message['many'].count() == 1").Trace(long)
	var all strings.Builder
	for _, s := range steps {
		all.WriteString(s.Value)
	}
	for _, words := range []string{"[[[…]]]", "xxx…'", "and 10 more"} {
		if !strings.Contains(all.String(), words) {
			t.Errorf("the trace does not have %q: %s", words, all.String())
		}
	}
}

func TestVocabulary(t *testing.T) {
	all := map[string]string{}
	for _, p := range []Place{Condition, Consensus, Time} {
		for _, w := range Vocabulary(p) {
			if all[w.Path] != "" {
				t.Errorf("%s is listed twice", w.Path)
			}
			all[w.Path] = w.Type
		}
	}
	for path, want := range map[string]string{
		"approvers":                                 "list<User>",
		"approvers[].tags":                          "list<string>",
		"credentials[].public_key":                  "string",
		"time.now":                                  "timestamp",
		"eth.tx.to":                                 "case-insensitive string",
		"eth.tx.value":                              "int",
		"eth.eip_712.domain.chain_id":               "uint",
		"eth.tx.contract_call_args":                 "map<string, argument value>",
		"solana.tx.instructions[].accounts":         "list<Account>",
		"wallet.imported":                           "bool",
		"bitcoin.tx.locktime.type":                  "string",
		"activity.params.transfer.leaves[].leaf_id": "string",
	} {
		if all[path] != want {
			t.Errorf("%s is listed as %q, want %q", path, all[path], want)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d words are listed", len(all))
	}
}
