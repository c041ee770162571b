package policy

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"latchkey/internal/policy/fact"
)

// generator writes random expressions that are well typed: it knows the
// vocabulary, the operators and nothing of how they are evaluated.
type generator struct {
	*rapid.T
	place Place
	vars  []variable
}

// reachable is something that can be written, with its type.
type reachable struct {
	path string
	typ  *typ
}

func (g *generator) words() []reachable {
	var all []reachable
	var walk func(path string, t *typ)
	walk = func(path string, t *typ) {
		all = append(all, reachable{path, t})
		switch t.kind {
		case kindMap:
			for _, key := range []string{"to", "amount", "small", "flag", "calls", "amounts", "kind", "user", "nope", "permitted"} {
				all = append(all, reachable{fmt.Sprintf("%s['%s']", path, key), t.elem})
			}
		case kindList:
			if t.elem.kind == kindStruct {
				for _, f := range t.elem.fields {
					all = append(all, reachable{path + "[0]." + f.name, f.typ})
				}
			}
		}
		for _, f := range t.fields {
			walk(path+"."+f.name, f.typ)
		}
	}
	for _, r := range rootsOf(g.place) {
		walk(r.name, r.typ)
	}
	for _, v := range g.vars {
		walk(v.name, v.typ)
		walk(v.name, v.typ) // twice: what a quantifier binds should be used
	}
	return all
}

func (g *generator) word(kinds ...kind) (reachable, bool) {
	all := slices.DeleteFunc(g.words(), func(w reachable) bool { return !slices.Contains(kinds, w.typ.kind) })
	if len(all) == 0 {
		return reachable{}, false
	}
	return rapid.SampledFrom(all).Draw(g.T, "word"), true
}

func (g *generator) choose(n int) int { return rapid.IntRange(0, n-1).Draw(g.T, "choice") }

func (g *generator) boolean(depth int) string {
	if g.place == Time {
		return g.window(depth)
	}
	if depth <= 0 {
		if w, ok := g.word(kindBool, kindArgument); ok && g.choose(2) == 0 {
			return w.path
		}
		return []string{"true", "false"}[g.choose(2)]
	}
	switch g.choose(12) {
	case 0, 1:
		return g.boolean(depth-1) + " && " + "(" + g.boolean(depth-1) + ")"
	case 2, 3:
		return "(" + g.boolean(depth-1) + " || " + g.boolean(depth-1) + ")"
	case 4:
		return "!(" + g.boolean(depth-1) + ")"
	case 5:
		return g.number(depth-1) + rapid.SampledFrom([]string{" == ", " != ", " < ", " > ", " <= ", " >= "}).Draw(g.T, "sign") + g.number(depth-1)
	case 6, 7:
		return g.text(depth-1) + rapid.SampledFrom([]string{" == ", " != "}).Draw(g.T, "sign") + g.text(depth-1)
	case 8:
		list, elem := g.list(depth - 1)
		element := g.of(elem, depth-1)
		if element == "" {
			return list + ".count() > 0"
		}
		if g.choose(2) == 0 {
			return element + " in " + list
		}
		return list + ".contains(" + element + ")"
	default:
		list, elem := g.list(depth - 1)
		name := fmt.Sprintf("v%d", len(g.vars))
		if len(g.vars) > 3 {
			return list + ".count() > 1"
		}
		g.vars = append(g.vars, variable{name, elem})
		body := g.boolean(depth - 1)
		g.vars = g.vars[:len(g.vars)-1]
		return fmt.Sprintf("%s.%s(%s, %s)", list, []string{"any", "all"}[g.choose(2)], name, body)
	}
}

func (g *generator) window(depth int) string {
	switch g.choose(5 - min(depth, 1)*2) {
	case 0:
		if depth > 0 {
			return "!(" + g.window(depth-1) + ")"
		}
		return "time.now < Timestamp('2026-06-01T00:00:00Z')"
	case 1:
		if depth > 0 {
			return "(" + g.window(depth-1) + " || " + g.window(depth-1) + ")"
		}
		return "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')"
	case 2:
		if depth > 0 {
			return g.window(depth-1) + " && (" + g.window(depth-1) + ")"
		}
		return "true"
	default:
		return "time.now >= Timestamp('2026-01-01T00:00:00Z')"
	}
}

// of writes an expression that can be compared with an elem; "" if none can.
func (g *generator) of(elem *typ, depth int) string {
	switch elem.kind {
	case kindText:
		return g.text(depth)
	case kindInt:
		return g.number(depth)
	case kindBool:
		return "(" + g.boolean(0) + ")"
	case kindArgument:
		return rapid.SampledFrom([]string{"1", "'a'", "true"}).Draw(g.T, "argument")
	default:
		return ""
	}
}

func (g *generator) number(depth int) string {
	if w, ok := g.word(kindInt, kindArgument); ok && g.choose(3) > 0 {
		return w.path
	}
	if depth > 0 && g.choose(2) == 0 {
		list, _ := g.list(depth - 1)
		return list + rapid.SampledFrom([]string{".count()", ".count"}).Draw(g.T, "count")
	}
	return rapid.SampledFrom([]string{"0", "1", "2", "-1", "5", "1000000000000000000", "340282366920938463463374607431768211456"}).Draw(g.T, "number")
}

func (g *generator) text(depth int) string {
	w, ok := g.word(kindText, kindArgument)
	switch {
	case !ok || g.choose(4) == 0:
		return rapid.SampledFrom([]string{"''", "'a'", "'w1'", "'SIGN'", "'alice'", "'admin'", "'" + contractAddress + "'", "'" + strings.ToLower(ownerAddress) + "'"}).Draw(g.T, "text")
	case depth > 0 && g.choose(4) == 0:
		return "CaseInsensitiveString(" + g.text(depth-1) + ")"
	case depth > 0 && g.choose(4) == 0:
		from := g.choose(4)
		return fmt.Sprintf("%s[%d..%d]", w.path, from, from+g.choose(9)-1)
	case depth > 0 && g.choose(8) == 0:
		return fmt.Sprintf("%s[%d]", w.path, g.choose(3))
	default:
		return w.path
	}
}

func (g *generator) list(depth int) (string, *typ) {
	w, ok := g.word(kindList, kindArgument)
	switch {
	case !ok || g.choose(4) == 0:
		return rapid.SampledFrom([]string{"['a', 'admin', 'alice']", "['w1']", "[" + g.text(0) + ", 'b']"}).Draw(g.T, "list"), textType
	case g.choose(8) == 0:
		return "[1, 2, 2]", intType
	}
	elem := w.typ.elem
	if w.typ.kind == kindArgument {
		elem = argumentType
	}
	if depth <= 0 || len(g.vars) > 3 {
		return w.path, elem
	}
	switch g.choose(4) {
	case 0:
		name := fmt.Sprintf("v%d", len(g.vars))
		g.vars = append(g.vars, variable{name, elem})
		body := g.boolean(depth - 1)
		g.vars = g.vars[:len(g.vars)-1]
		return fmt.Sprintf("%s.filter(%s, %s)", w.path, name, body), elem
	case 1:
		from := g.choose(3)
		return fmt.Sprintf("%s[%d..%d]", w.path, from, from+g.choose(5)-1), elem
	default:
		return w.path, elem
	}
}

// expression draws an expression and compiles it, which must succeed.
func expression(r *rapid.T, p Place, depth int) *Expr {
	g := &generator{T: r, place: p}
	source := g.boolean(depth)
	e, err := Compile(p, source)
	if err != nil {
		r.Fatalf("%s: %v", source, err)
	}
	return e
}

// facts draws an environment: roots of several requests together, so that many
// expressions find what they read.
func facts(r *rapid.T) (*Env, []Voter) {
	all := requests()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	pick := func() *fact.Request { return all[rapid.SampledFrom(names).Draw(r, "request")] }
	request := *pick()
	if rapid.IntRange(0, 3).Draw(r, "rich") > 0 {
		request.Ethereum, request.EIP712, request.PrivateKey = all["call"].Ethereum, all["eip712"].EIP712, all["eip712"].PrivateKey
		request.Wallet, request.WalletAccount, request.Wallets = all["export"].Wallet, all["export"].WalletAccount, all["wallets"].Wallets
		request.Solana, request.Tron, request.Bitcoin, request.Tempo = all["solana"].Solana, all["tron"].Tron, all["bitcoin"].Bitcoin, all["tempo"].Tempo
		request.Secret, request.EIP7702, request.Activity = all["secret"].Secret, all["authorization"].EIP7702, pick().Activity
	}
	env := &Env{Request: &request, Consensus: &fact.Consensus{}, Now: noon}
	known, _ := testVoters()
	ids := []string{"a", "h", "x", "agent", "admin", "senior", "passkey"}
	var voters []Voter
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 4, rapid.ID).Draw(r, "voters") {
		v := known[id]
		voters = append(voters, v)
		env.Consensus.Approvers = append(env.Consensus.Approvers, v.User)
		env.Consensus.Credentials = append(env.Consensus.Credentials, v.Credentials[0])
	}
	return env, voters
}

// usual are expressions as users write them; random ones seldom hold.
var usual = map[Place][]string{
	Condition: {"true", "activity.action == 'SIGN'", "wallet.id == 'w1'", "eth.tx.value > 1", "private_key.id == 'k'", "eth.tx.data[99] == 'x'"},
	Consensus: {
		"approvers.count() >= 1", "approvers.count() >= 3", "approvers.any(u, u.id == 'a') && approvers.any(u, u.id == 'h')",
		"approvers.filter(u, u.tags.contains('admin')).count() >= 1", "credentials.any(c, c.type == 'PASSKEY')", "approvers.count() == 2", "approvers[1].id == 'a'",
	},
}

func oftenUsual(r *rapid.T, p Place) *Expr {
	if rapid.Bool().Draw(r, "usual") {
		e, err := Compile(p, rapid.SampledFrom(usual[p]).Draw(r, "expression"))
		if err != nil {
			r.Fatal(err)
		}
		return e
	}
	return expression(r, p, rapid.IntRange(0, 3).Draw(r, "depth"))
}

// somePolicy draws a policy.
func somePolicy(r *rapid.T, id string) Policy {
	p := Policy{ID: id, Deny: rapid.IntRange(0, 5).Draw(r, "deny") == 0}
	if rapid.IntRange(0, 2).Draw(r, "condition") > 0 {
		p.Condition = oftenUsual(r, Condition)
	}
	if rapid.IntRange(0, 2).Draw(r, "consensus") > 0 {
		p.Consensus = oftenUsual(r, Consensus)
	}
	if rapid.IntRange(0, 3).Draw(r, "time") == 0 {
		p.Time = expression(r, Time, 1)
	}
	return p
}
