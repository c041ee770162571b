package docgen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
	"latchkey/internal/test/golden"
)

var api = filepath.Join(docs, "api")

// TestReference keeps the page of every operation, and the tables of the index,
// current with the catalog and with what the end-to-end tests recorded.
func TestReference(t *testing.T) {
	r := newReference(ops.Catalog(), recorded(t))
	pages := r.pages()
	for name, text := range pages {
		golden.File(t, filepath.Join(api, name), []byte(text))
	}
	files, err := filepath.Glob(filepath.Join(api, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "README.md" && pages[name] == "" {
			if golden.Update() {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				continue
			}
			t.Errorf("%s: there is no such operation; run make generate", file)
		}
	}
	index := filepath.Join(api, "README.md")
	generated(t, index, "operations", r.index())
	generated(t, index, "envelope", table(r.values.members(schema.Of[engine.Envelope]()), ofRequest))
	generated(t, index, "activity", table(r.values.members(activity.ReplySchema()), ofReply))
	generated(t, index, "values", r.values.String())
}

// TestStatuses keeps the tables of statuses and errors complete: each value has
// its line, and there are no others.
func TestStatuses(t *testing.T) {
	text := read(t, filepath.Join(api, "README.md"))
	section := func(heading string) string {
		_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
		if !ok {
			t.Fatalf("the index has no section %s", heading)
		}
		section, _, _ := strings.Cut(rest, "\n## ")
		return section
	}
	rows := func(section, pattern string) []string {
		var list []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(section, -1) {
			list = append(list, m[1])
		}
		return slices.Sorted(slices.Values(list))
	}

	statuses := domain.ActivityStatus("").Enum()
	if diff := cmp.Diff(rows(section("Status of an activity"), "(?m)^\\| `(ACTIVITY_STATUS_[A-Z_]+)` \\|"), slices.Sorted(slices.Values(statuses))); diff != "" {
		t.Errorf("statuses (-document +code):\n%s", diff)
	}

	var codes []string
	for code := range fault.Code(20) {
		if status := fault.New(code, "", "").Status(); status != 0 {
			codes = append(codes, fmt.Sprintf("%d | %d", status, code))
		}
	}
	errors := section("Errors")
	if diff := cmp.Diff(rows(errors, `(?m)^\| (\d+ \| \d+) \|`), slices.Sorted(slices.Values(codes))); diff != "" {
		t.Errorf("codes (-document +code):\n%s", diff)
	}
	declared := rows(read(t, filepath.Join(root, "internal/fault/fault.go")), `(?m)^\s*Reason\w+ +Reason = "([A-Z_0-9]+)"`)
	if diff := cmp.Diff(rows(errors, "(?m)^\\| `([A-Z_0-9]+)` \\|"), declared); diff != "" {
		t.Errorf("reasons (-document +code):\n%s", diff)
	}
}

// reference is the whole of docs/api, made of a catalog and of examples.
type reference struct {
	catalog  *activity.Catalog
	examples map[string]example
	values   values
	activity []member // of the reply to every activity
}

func newReference(c *activity.Catalog, examples map[string]example) *reference {
	return &reference{catalog: c, examples: examples, values: values{}, activity: values{}.members(activity.ReplySchema())}
}

// pages renders all pages but the index, by file name.
func (r *reference) pages() map[string]string {
	pages := map[string]string{}
	for _, p := range r.catalog.Endpoints {
		pages[p.Name+".md"] = r.submit(p)
	}
	for _, q := range r.catalog.Queries {
		pages[q.Name+".md"] = r.query(q)
	}
	for _, o := range engine.OwnOperations() {
		pages[o.Name+".md"] = r.own(&o)
	}
	return pages
}

const header = "<!-- Written by make generate from the catalog and examples.json; do not edit. -->\n\n"

func (r *reference) submit(p *activity.Endpoint) string {
	newest := p.Newest()
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s\n\n    POST /public/v1/submit/%s\n\n| | |\n|---|---|\n", header, p.Name, newest.Summary, p.Name)
	fmt.Fprintf(&b, "| type | `%s` |\n", newest.Type)
	fmt.Fprintf(&b, "| decided by | %s |\n", decided(newest, r.ownUser(p)))
	fmt.Fprintf(&b, "| callers | %s |\n", callers(newest.Access))
	if newest.Govern.By != decide.Vote {
		fmt.Fprintf(&b, "| intent and result | `%s`, `%s` |\n", newest.IntentKey, newest.ResultKey)
	}
	parameters := r.values.members(newest.Params)
	fmt.Fprintf(&b, "\n## Parameters\n\n%s%s", table(parameters, ofRequest), secretMembers(newest.Params))
	b.WriteString("\n## Result\n\n")
	if newest.Govern.By == decide.Vote {
		b.WriteString("The activity that was voted on: its type, its result if it is completed, and all its votes.\n")
	} else {
		fmt.Fprintf(&b, "In `activity.result.%s`; [around it](README.md#the-reply-to-an-activity) is what every activity says.\n\n%s%s", newest.ResultKey, table(r.values.members(newest.Result), ofReply), secretMembers(newest.Result))
	}
	r.example(&b, p.Name)
	if len(p.Versions) > 1 {
		b.WriteString("\n## Older types\n\nThey are accepted on the same path. Compared with the parameters above:\n\n| type | result | has not | has besides | has otherwise |\n|---|---|---|---|---|\n")
		for _, a := range slices.Backward(p.Versions[:len(p.Versions)-1]) {
			missing, besides, otherwise := compare(values{}.members(a.Params), parameters)
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", a.Type, a.ResultKey, missing, besides, otherwise)
		}
	}
	return b.String()
}

// secretMembers says which members only the submitter is shown.
func secretMembers(s *schema.Schema) string {
	var names []string
	s.Walk(func(p schema.Property) {
		if p.Secret {
			names = append(names, "`"+strings.ReplaceAll(p.Path, ".0", "[]")+"`")
		}
	})
	if names == nil {
		return ""
	}
	return "\nOnly the submitter is shown " + strings.Join(names, ", ") + " in the recorded activity, and no list has it.\n"
}

func (r *reference) query(q *activity.CompiledQuery) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s\n\n    POST /public/v1/query/%s\n\n| | |\n|---|---|\n", header, q.Name, q.Summary, q.Name)
	access := q.Access
	access.ByParent = true // a parent reads its children
	fmt.Fprintf(&b, "| decided by | no one: all callers may read |\n| callers | %s |\n", callers(access))
	fmt.Fprintf(&b, "\n## Body\n\n%s\n## Reply\n\n%s", table(r.values.members(q.Params), ofRequest), table(r.withoutActivities(r.values.members(q.Reply)), ofReply))
	r.example(&b, q.Name)
	return b.String()
}

// withoutActivities leaves out what is inside an activity: the index has it.
func (r *reference) withoutActivities(list []member) []member {
	inside := r.activity[1:] // of its only member
	var short []member
	for i := 0; i < len(list); i++ {
		m, rest := list[i], list[i+1:]
		if len(rest) >= len(inside) && slices.EqualFunc(rest[:len(inside)], inside, func(a, b member) bool {
			return strings.TrimPrefix(strings.TrimPrefix(a.name, m.name), "[]") == strings.TrimPrefix(b.name, r.activity[0].name)
		}) {
			m.kind = strings.Replace(m.kind, "object", "[activity](README.md#the-reply-to-an-activity)", 1)
			i += len(inside)
		}
		short = append(short, m)
	}
	return short
}

// own renders an operation that is not of the public interface but our own.
func (r *reference) own(o *engine.OwnOperation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s [%s](../%s) shows how to use it.\n\n", header, o.Name, o.Summary, o.GuideTitle, o.Guide)
	fmt.Fprintf(&b, "    POST %s\n\n| | |\n|---|---|\n| decided by | no one: all readers of the organization may ask |\n", o.Path())
	reply := "Reply"
	if o.Streams {
		reply = "Data of each event"
	}
	fmt.Fprintf(&b, "\n## Body\n\n%s\n## %s\n\n%s",
		table(r.values.members(o.Request), ofRequest), reply, table(r.values.members(o.Reply), ofReply))
	r.example(&b, o.Name)
	return b.String()
}

func (r *reference) example(b *strings.Builder, operation string) {
	e := r.examples[operation]
	fmt.Fprintf(b, "\n## Example\n\n```json\n%s\n```\n\nis answered with\n\n```json\n%s\n```\n", indented(e.Request), indented(e.Reply))
}

func indented(v jsontext.Value) string {
	v = slices.Clone(v)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return err.Error() // the examples are checked before
	}
	return string(v)
}

// ownUser reports whether users may do it for themselves. The declaration says
// so only of a request.
func (r *reference) ownUser(p *activity.Endpoint) bool {
	intent, err := p.Parse(p.Newest(), r.examples[p.Name].parameters())
	return err == nil && intent.OwnUser != ""
}

func decided(a *activity.CompiledOp, own bool) string {
	text := deciders[a.Govern.By]
	switch a.Govern.By {
	case decide.Vote:
		return "every user who may [vote on the activity](../concepts/activities.md#votes)"
	case decide.Policies:
		text += fmt.Sprintf(", which see resource `%s` and action `%s`", a.Govern.Resource, a.Govern.Action)
	case decide.RootQuorum, decide.Self:
	}
	if own && a.Govern.By != decide.Self {
		text += "; users may do it for themselves, unless a policy denies it"
	}
	return text
}

func callers(a activity.Access) string {
	text := "users of the organization"
	for _, more := range []struct {
		applies bool
		text    string
	}{
		{a.ByParent, "users of its parent"},
		{a.FindsChild, "a user of exactly one child, who names the parent"},
		{a.ByRecovery, "a recovery key"},
		{a.ByAttestation, "a token that names a key (`X-Stamp-Attested`)"},
	} {
		if more.applies {
			text += "; " + more.text
		}
	}
	return text
}

// compare says in what an older version differs from the newest. Of a member
// that is not there, the members inside it go without saying.
func compare(older, newest []member) (missing, besides, otherwise string) {
	byName := func(list []member) map[string]member {
		all := map[string]member{}
		for _, m := range list {
			all[m.name] = m
		}
		return all
	}
	inOld, inNew := byName(older), byName(newest)
	only := func(list []member, other map[string]member) string {
		var names []string
		for _, m := range list {
			inside := slices.ContainsFunc(names, func(n string) bool {
				return strings.HasPrefix(m.name, n+".") || strings.HasPrefix(m.name, n+"[")
			})
			if _, both := other[m.name]; !both && !inside {
				names = append(names, m.name)
			}
		}
		return quoted(names)
	}
	var differ []string
	for _, m := range older {
		if n, both := inNew[m.name]; both && (n.kind != m.kind || n.required != m.required) {
			differ = append(differ, m.name)
		}
	}
	return only(newest, inOld), only(older, inNew), quoted(differ)
}

func quoted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// topics sort the index. The first whose pattern fits an operation takes it.
var topics = []struct{ name, concept, pattern string }{
	{"Organizations", "organizations", `organization|suborg|root_quorum|^whoami$`},
	{"Activities and votes", "activities", `activit|^receipt$|^events`},
	{"Multi-factor policies", "multi-factor", `mfa`},
	{"Policies", "policies", `polic|smart_contract|^explain$`},
	{"Logins and sessions", "sessions", `login|session|otp|^oauth$|email_auth|recover`},
	{"Credentials", "credentials", `api_key|authenticator|oauth_provider`},
	{"Users", "organizations", `user`},
	{"Signing", "keys", `^sign_`},
	{"Wallets", "keys", `wallet`},
	{"Private keys", "keys", `private_key`},
	{"Others", "activities", ``},
}

// index lists all operations by topic.
func (r *reference) index() string {
	rows := map[string][]string{}
	add := func(name, kind, summary string) {
		for _, topic := range topics {
			if regexp.MustCompile(topic.pattern).MatchString(name) {
				rows[topic.name] = append(rows[topic.name], fmt.Sprintf("| [`%s`](%s.md) | %s | %s |\n", name, name, kind, cell(summary)))
				return
			}
		}
	}
	for _, p := range r.catalog.Endpoints {
		add(p.Name, "activity", p.Newest().Summary)
	}
	for _, q := range r.catalog.Queries {
		add(q.Name, "query", q.Summary)
	}
	for _, o := range engine.OwnOperations() {
		add(o.Name, "our own", o.Summary)
	}
	var b strings.Builder
	for _, topic := range topics {
		if len(rows[topic.name]) > 0 {
			fmt.Fprintf(&b, "### %s\n\nConcept: [%s](../concepts/%s.md)\n\n| operation | | |\n|---|---|---|\n%s\n", topic.name, topic.concept, topic.concept, strings.Join(rows[topic.name], ""))
		}
	}
	return b.String()
}
