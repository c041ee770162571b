package policytest

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/ops"
)

// FilePolicy is a policy of a file, with its placeholders replaced.
type FilePolicy struct {
	Name                       string
	Effect                     domain.Effect
	Condition, Consensus, Time string
	Notes                      string

	compiled    policy.Policy
	expressions map[policy.Place]*expression
}

// expression is an expression where it was written.
type expression struct {
	expanded
	node *yaml.Node
	expr *policy.Expr
}

// readPolicies compiles the policies.
func (r *reader) readPolicies() {
	seen := map[string]bool{}
	for i, given := range r.content.Policies {
		at := "policies." + strconv.Itoa(i)
		if seen[given.PolicyName] {
			r.reportPath(join(at, "policyName"), "there are two policies of the name %q", given.PolicyName)
		}
		seen[given.PolicyName] = true
		p := FilePolicy{
			Name: given.PolicyName, Effect: given.Effect, Notes: given.Notes,
			expressions: map[policy.Place]*expression{},
		}
		p.compiled = policy.Policy{ID: madeUpID("policy", i, given.PolicyName), Name: given.PolicyName, Deny: given.Effect == domain.EffectDeny}
		r.compile(&p, at, policy.Condition, given.Condition, &p.Condition, &p.compiled.Condition)
		r.compile(&p, at, policy.Consensus, given.Consensus, &p.Consensus, &p.compiled.Consensus)
		r.compile(&p, at, policy.Time, given.Time, &p.Time, &p.compiled.Time)
		if given.Effect == domain.EffectAllow && given.Condition == "" && given.Consensus == "" {
			r.mistakes = append(r.mistakes, Mistake{
				Line: nodeAt(r.root, at).Line, Policy: p.Name,
				Message: "a policy that allows needs a condition or a consensus; without both it would allow everything to every user",
			})
		}
		r.Policies = append(r.Policies, p)
	}
}

func (r *reader) compile(p *FilePolicy, at string, place policy.Place, given string, text *string, to **policy.Expr) {
	if given == "" {
		return
	}
	e := &expression{node: nodeAt(r.root, join(at, place.String()))}
	refuse := func(from, end int, message, fix string) {
		r.mistakes = append(r.mistakes, Mistake{
			Line: e.line(from), Policy: p.Name, Place: place.String(), Offset: from,
			Message: message, Fix: fix, excerpt: excerptOf(e.given, from, end),
		})
	}
	var unfit *placeholderError
	if e.expanded, unfit = expand(given, r.resolve); unfit != nil {
		refuse(unfit.from, unfit.to, unfit.message, "")
		return
	}
	compiled, err := policy.Compile(place, e.text)
	var refused *policy.Error
	if errors.As(err, &refused) {
		refuse(e.givenOffset(refused.Offset, false), e.givenOffset(refused.End, true), refused.Message, refused.Fix)
		return
	}
	e.expr, *to, *text = compiled, compiled, e.text
	p.expressions[place] = e
}

// line is the line of a byte of the given text. Only of a literal block can it
// be told exactly; of others it is where the text begins.
func (e *expression) line(at int) int {
	if e.node.Style&yaml.LiteralStyle == 0 {
		return e.node.Line
	}
	return e.node.Line + 1 + strings.Count(e.given[:at], "\n")
}

// policyReading is the name of a policy that reads a field.
func (f *File) policyReading(field *regexp.Regexp) string {
	for i := range f.Policies {
		for _, e := range f.Policies[i].expressions {
			if field.MatchString(quoted.ReplaceAllString(e.expr.String(), "''")) {
				return f.Policies[i].Name
			}
		}
	}
	return ""
}

var quoted = regexp.MustCompile(`'[^']*'`)

// Finding is advice on a policy that compiles but is probably not what its
// author meant.
type Finding struct {
	Line    int    `json:"line"`
	Policy  string `json:"policyName"`
	Place   string `json:"place"`
	Offset  int    `json:"offset"`
	Code    string `json:"code"`
	Message string `json:"message"`
	excerpt excerpt
}

// Lint gives advice on the policies. Users and tags are checked only if the
// file has such lists.
func (f *File) Lint() []Finding {
	compiled := make([]policy.Policy, len(f.Policies))
	for i := range f.Policies {
		compiled[i] = f.Policies[i].compiled
	}
	all := []Finding{}
	for _, found := range policy.Lint(compiled, f.lintContext()) {
		i := slices.IndexFunc(compiled, func(p policy.Policy) bool { return p.ID == found.PolicyID })
		e := f.Policies[i].expressions[found.Place]
		from := e.givenOffset(found.Offset, false)
		all = append(all, Finding{
			Line: e.line(from), Policy: found.PolicyName, Place: found.Place.String(), Offset: from,
			Code: string(found.Code), Message: f.labels.Replace(found.Message), excerpt: excerptOf(e.given, from, from),
		})
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

func (f *File) lintContext() policy.LintContext {
	context := ops.LintContext(ops.Catalog())
	if f.content.Users != nil {
		context.Users, context.Credentials = []fact.User{}, []fact.Credential{}
	}
	for _, u := range f.users {
		voter := decide.VoterOf(u)
		context.Users = append(context.Users, voter.User)
		context.Credentials = append(context.Credentials, voter.Credentials...)
	}
	if f.content.Tags != nil {
		context.UserTags = map[string]string{}
	}
	if f.content.PrivateKeyTags != nil {
		context.KeyTags = map[string]string{}
	}
	for _, t := range f.tags {
		if t.Type == domain.TagUser {
			context.UserTags[t.ID] = t.Name
		} else {
			context.KeyTags[t.ID] = t.Name
		}
	}
	return context
}
