package policytest

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/suggest"
	"latchkey/internal/velocity"
)

// Case is a request and its expected outcome.
type Case struct {
	Name       string
	Line       int
	Expect     string   // ALLOW, DENY or PENDING
	DeniedBy   []string // names of policies; nil: not checked
	CanApprove []string // names of users; nil: not checked

	submitter string            // id
	used      map[string]string // what controls have used, by identifier
	asked     engine.ExplainRequest
	at        string // path
}

// readCases prepares the cases.
func (r *reader) readCases() {
	if len(r.content.Cases) == 0 {
		return
	}
	r.catalog = ops.Catalog()
	seen := map[string]bool{}
	for i := range r.content.Cases {
		given := &r.content.Cases[i]
		at := "cases." + strconv.Itoa(i)
		if seen[given.Name] {
			r.reportPath(join(at, "name"), "there are two cases of the name %q", given.Name)
		}
		seen[given.Name] = true
		c := Case{
			Name: given.Name, Line: nodeAt(r.root, at).Line, Expect: given.Expect, at: at,
			DeniedBy: given.DeniedBy, CanApprove: given.CanApprove,
			submitter: r.id(KindUser, join(at, "submitter"), given.Submitter),
		}
		c.asked.Approvers = append(c.asked.Approvers, c.submitter)
		for _, id := range r.ids(KindUser, join(at, "approvers"), given.Approvers) {
			if id != c.submitter {
				c.asked.Approvers = append(c.asked.Approvers, id)
			}
		}
		r.ids(KindUser, join(at, "canApprove"), given.CanApprove)
		for j, name := range given.DeniedBy {
			if !slices.ContainsFunc(r.Policies, func(p FilePolicy) bool { return p.Name == name }) {
				r.reportPath(join(at, "deniedBy."+strconv.Itoa(j)), "there is no policy %q", name)
			}
		}
		r.readTime(&c, given)
		r.readUsed(&c)
		r.readRequest(&c, given)
		r.Cases = append(r.Cases, c)
	}
	r.requireFacts()
}

func (r *reader) readTime(c *Case, given *caseSpec) {
	if c.asked.Time = given.Time; given.Time == "" {
		return
	}
	if _, err := time.Parse(time.RFC3339, given.Time); err != nil {
		r.reportPath(join(c.at, "time"), "must be a time as in RFC 3339, such as 2026-11-15T12:00:00Z")
	}
}

// readUsed reads what velocity controls of the file are supposed to have used.
func (r *reader) readUsed(c *Case) {
	at := join(c.at, "used")
	given := nodeAt(r.root, at)
	if given == nodeAt(r.root, c.at) || given.Kind != yaml.MappingNode {
		return // it says nothing
	}
	c.used = map[string]string{}
	for i := 0; i+1 < len(given.Content); i += 2 {
		identifier, amount := given.Content[i].Value, given.Content[i+1]
		k := slices.IndexFunc(r.controls, func(known *velocity.Control) bool { return known.Identifier == identifier })
		if k < 0 {
			r.reportLine(amount.Line, "%s: the file has no velocity control %q", at, identifier)
			continue
		}
		if _, err := r.controls[k].Parse(amount.Value); err != nil || amount.Kind != yaml.ScalarNode {
			r.reportLine(amount.Line, "%s.%s: must be a decimal number such as 100 or 0.25, not negative, in the unit of the threshold", at, identifier)
		}
		c.used[identifier] = amount.Value
	}
}

// readRequest finds the operation and reads its parameters, as the server does.
func (r *reader) readRequest(c *Case, given *caseSpec) {
	version := r.findVersion(c.at, given)
	if version == nil {
		return
	}
	c.asked.Type = version.Type
	at := join(c.at, "parameters")
	c.asked.Parameters = jsontext.Value("{}")
	if given.Parameters != nil {
		before := len(r.mistakes)
		c.asked.Parameters = r.json(nil, nodeAt(r.root, at), at, func(n *yaml.Node) string {
			e, unfit := expand(n.Value, r.resolve)
			if unfit != nil {
				r.reportLine(n.Line, "%s: %s", at, unfit.message)
			}
			return e.text
		})
		if len(r.mistakes) > before {
			return
		}
	}
	_, err := r.catalog.Endpoint(version.Name).Parse(version, c.asked.Parameters)
	if err == nil {
		return
	}
	refusal, ok := fault.As(err)
	if !ok || len(refusal.Fields) == 0 {
		r.reportPath(at, "%v", err)
		return
	}
	for _, f := range refusal.Fields {
		r.reportPath(join(at, f.Path), "%s", f.Description)
	}
}

// findVersion is the version of an activity that a case is about.
func (r *reader) findVersion(at string, given *caseSpec) *activity.CompiledOp {
	var version *activity.CompiledOp
	switch {
	case (given.Operation == "") == (given.Type == ""):
		r.reportPath(at, "give either the operation or the type of an activity")
		return nil
	case given.Operation != "":
		at = join(at, "operation")
		if p := r.catalog.Endpoint(given.Operation); p != nil {
			version = p.Newest()
		}
	default:
		at = join(at, "type")
		version = r.catalog.Op(given.Type)
	}
	switch {
	case r.catalog.Query(given.Operation) != nil:
		r.reportPath(at, "%s is a query: every member may ask it, and no policy is asked", given.Operation)
		return nil
	case version == nil:
		known := map[string]bool{}
		for _, p := range r.catalog.Endpoints {
			for _, v := range p.Versions {
				known[v.Type] = given.Type != ""
				known[v.Name] = given.Type == ""
			}
		}
		maps.DeleteFunc(known, func(_ string, right bool) bool { return !right })
		name := given.Operation + given.Type
		r.reportPath(at, "there is no activity %q; the nearest is %q", name, suggest.Name(name, 1000, slices.Sorted(maps.Keys(known))))
		return nil
	case version.Govern.By == decide.Vote:
		r.reportPath(at, "%s is a vote on another activity; name the voters in approvers", version.Name)
		return nil
	}
	return version
}

// Fields that follow from what a file may leave out.
var (
	readsSender = regexp.MustCompile(`\beth\.tx\.from\b`)
	readsPath   = regexp.MustCompile(`\bwallet_account\.path_(indexes|hardened)\b`)
	readsTime   = regexp.MustCompile(`\btime\.now\b|\bCronSpan\b`)
)

// requireFacts refuses a file in which a policy reads what the file leaves open:
// with a made-up value the case would prove nothing.
func (r *reader) requireFacts() {
	if name := r.policyReading(readsTime); name != "" {
		for _, c := range r.Cases {
			if c.asked.Time == "" {
				r.reportPath(c.at, "time is needed, because policy %q reads it", name)
			}
		}
	}
	sender, path := r.policyReading(readsSender), r.policyReading(readsPath)
	needsKey := func(at string, c curve.KeyCurve, publicKey string) {
		if sender != "" && c == curve.KeySecp256k1 && publicKey == "" {
			r.reportPath(at, "publicKey is needed, because policy %q reads eth.tx.from, which follows from it", sender)
		}
	}
	made := r.accounts
	for i, w := range r.content.Wallets {
		for j, a := range w.Accounts {
			at := "wallets." + strconv.Itoa(i) + ".accounts." + strconv.Itoa(j)
			needsKey(at, made[j].Curve, made[j].PublicKey)
			if path != "" && a.Path == "" {
				r.reportPath(at, "path is needed, because policy %q reads it", path)
			}
		}
		made = made[len(w.Accounts):]
	}
	for i, k := range r.privateKeys {
		needsKey("privateKeys."+strconv.Itoa(i), k.Curve, k.PublicKey)
	}
}
