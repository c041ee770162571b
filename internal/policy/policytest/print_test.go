package policytest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/engine"
)

func steps(t *testing.T, place policy.Place, source string) []engine.ExplainedStep {
	t.Helper()
	e, err := policy.Compile(place, source)
	if err != nil {
		t.Fatal(err)
	}
	env := &policy.Env{
		Now:     time.Unix(0, 0),
		Request: &fact.Request{Activity: fact.Activity{Kind: "SIGN_TRANSACTION"}, Wallets: []fact.Wallet{{ID: "a"}, {ID: "b", Imported: true}}},
		Consensus: &fact.Consensus{Approvers: []fact.User{
			{ID: "1", Tags: []string{"x", "y"}}, {ID: "2", Tags: []string{"y"}},
		}},
	}
	var all []engine.ExplainedStep
	for _, s := range e.Trace(env) {
		shown := engine.ExplainedStep{Source: s.Source, Offset: int32(s.Offset), Bound: s.Bound, Value: s.Value}
		if s.Err != nil {
			shown.Error = s.Err.Reason
		}
		all = append(all, shown)
	}
	return all
}

// Whatever is nested, the parts of an expression are put inside each other in
// the order of the trace.
func TestTree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		place  policy.Place
		source string
		want   string
	}{
		{"brackets", policy.Condition, "((activity.kind == 'A') || (true && !(activity.action == 'B')))", `
((activity.kind == 'A') || (true && !(activity.action == 'B'))) -> true
  activity.kind == 'A' -> false
    activity.kind -> 'SIGN_TRANSACTION'
  true && !(activity.action == 'B') -> true
    !(activity.action == 'B') -> true
      activity.action == 'B' -> false
        activity.action -> ''
`},
		{"chains that dissolve", policy.Condition, "(activity.kind == 'A' && activity.kind == 'B') && activity.kind == 'C'", `
(activity.kind == 'A' && activity.kind == 'B') && activity.kind == 'C' -> false
  activity.kind == 'A' -> false
    activity.kind -> 'SIGN_TRANSACTION'
  activity.kind == 'B' -> false
    activity.kind -> 'SIGN_TRANSACTION'
  activity.kind == 'C' -> false
    activity.kind -> 'SIGN_TRANSACTION'
`},
		{"without a value", policy.Condition, "eth.tx.data[0..10] == '0x' && activity.kind[100] == 'x'", `
eth.tx.data[0..10] == '0x' && activity.kind[100] == 'x' -> no value: the request has none
  eth.tx.data[0..10] == '0x' -> no value: the request has none
    eth.tx.data[0..10] -> no value: the request has none
      eth.tx.data -> no value: the request has none
        eth.tx -> no value: the request has none
  activity.kind[100] == 'x' -> no value: the index is out of range
    activity.kind[100] -> no value: the index is out of range
      activity.kind -> 'SIGN_TRANSACTION'
`},
		{"quantifiers inside quantifiers", policy.Consensus, "approvers.filter(u, u.tags.any(t,\n  t == 'x')).count() == 1", `
approvers.filter(u, u.tags.any(t, t == 'x')).count() == 1 -> true
  approvers.filter(u, u.tags.any(t, t == 'x')).count() -> 1
    approvers.filter(u, u.tags.any(t, t == 'x')) -> [User]
      approvers -> [User, User]
      [u = approvers[0]] u.tags.any(t, t == 'x') -> true
        u.tags -> ['x', 'y']
        [t = u.tags[0]] t == 'x' -> true
          t -> 'x'
        [t = u.tags[1]] t == 'x' -> false
          t -> 'y'
      [u = approvers[1]] u.tags.any(t, t == 'x') -> false
        u.tags -> ['y']
        [t = u.tags[0]] t == 'x' -> false
          t -> 'y'
`},
		{"a body that is a field", policy.Condition, "(wallets).any(w, w.imported)", `
(wallets).any(w, w.imported) -> true
  wallets -> [Wallet, Wallet]
  [w = wallets[0]] w.imported -> false
  [w = wallets[1]] w.imported -> true
`},
		{"what was written says nothing", policy.Condition, "activity.kind in ['A', 'B']", `
activity.kind in ['A', 'B'] -> false
  activity.kind -> 'SIGN_TRANSACTION'
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			traced := steps(t, tt.place, tt.source)
			var inOrder []engine.ExplainedStep
			var text strings.Builder
			p := printer{&text, "", func(s string) string { return s }}
			for _, top := range stepTree(traced) {
				top.visit(func(n *stepNode) { inOrder = append(inOrder, n.ExplainedStep) })
				p.step(top, "", "")
			}
			if diff := cmp.Diff(traced, inOrder); diff != "" {
				t.Errorf("steps were lost or moved (-traced +tree):\n%s", diff)
			}
			// The top of the first case is inside brackets that are not part of it.
			want := strings.TrimPrefix(tt.want, "\n")
			if tt.name == "brackets" {
				want = strings.Replace(want, tt.source, tt.source[1:len(tt.source)-1], 1)
			}
			if diff := cmp.Diff(want, text.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrintReply(t *testing.T) {
	reply := &engine.ExplainReply{
		Outcome: "PENDING", Reason: "it would wait for further votes",
		RootQuorum: engine.ExplainedQuorum{Threshold: 2, UserIDs: []string{"1", "2"}, Approved: []string{"1"}},
		Policies: []engine.ExplainedPolicy{
			{PolicyName: "P", Effect: "EFFECT_ALLOW", Outcome: "OUTCOME_REQUIRES_CONSENSUS", Consensus: steps(t, policy.Consensus, "approvers.count() >= 3")},
			{PolicyID: "id", Effect: "EFFECT_DENY", Outcome: "OUTCOME_ERROR", Reason: "it cannot be read"},
		},
		CanApprove: []engine.ExplainedVoter{{UserID: "1", UserName: "Ada"}, {UserID: "2", UserName: "Ben"}},
	}
	const want = `PENDING: it would wait for further votes
root quorum: 1 of 2 needed votes
policy P (EFFECT_ALLOW): OUTCOME_REQUIRES_CONSENSUS
  consensus
    approvers.count() >= 3 -> false
      approvers.count() -> 2
        approvers -> [User, User]
policy id (EFFECT_DENY): OUTCOME_ERROR
  it cannot be read
can approve: Ada (1), Ben (2)
`
	var got strings.Builder
	if err := PrintReply(&got, reply); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// The report names what failed, shows why in the words of the file, and which
// clauses were seen.
func TestPrintReport(t *testing.T) {
	report := run(t, one("ALLOW", "  condition: wallet.id == '${wallet.Main}' || solana.tx.transfers.count() > 1\n  consensus: approvers.any(u, u.id == '${user.Ada}') && approvers.any(u, u.alias == 'Ben')\n",
		paying, "submitter: Ada\n  expect: ALLOW\n- name: d\n  "+tagging+"  submitter: Cleo\n  expect: DENY"))
	report.File.Path = "f.yaml"
	const want = `f.yaml
  FAIL  c (line 26)
        expected ALLOW, got DENY: You don't have sufficient permissions to take this action. Ask a root user of the organization to do it, or to allow it by a policy.
        root quorum: 0 of 2 needed votes
        policy P (EFFECT_ALLOW): OUTCOME_ERROR
          condition, at offset 55: solana.tx: the request has none
          condition
            wallet.id == '${wallet.Main}' || solana.tx.transfers.count() > 1 -> no value: the request has none
              wallet.id == '${wallet.Main}' -> true
                wallet.id -> '${wallet.Main}'
              solana.tx.transfers.count() > 1 -> no value: the request has none
                solana.tx.transfers.count() -> no value: the request has none
                  solana.tx.transfers -> no value: the request has none
                    solana.tx -> no value: the request has none
          consensus
            approvers.any(u, u.id == '${user.Ada}') && approvers.any(u, u.alias == 'Ben') -> false
              approvers.any(u, u.id == '${user.Ada}') -> true
                approvers -> [User]
                [u = approvers[0]] u.id == '${user.Ada}' -> true
                  u.id -> '${user.Ada}'
              approvers.any(u, u.alias == 'Ben') -> false
                approvers -> [User]
                [u = approvers[0]] u.alias == 'Ben' -> false
                  u.alias -> 'Ada'
  ok    d
  clauses seen true and false
    policy P: condition
      true  -----  wallet.id == '${wallet.Main}'
      ----- -----  solana.tx.transfers.count() > 1   (never had a value)
    policy P: consensus
      true  false  approvers.any(u, u.id == '${user.Ada}')
      true  false  u.id == '${user.Ada}'
      ----- false  approvers.any(u, u.alias == 'Ben')
      ----- false  u.alias == 'Ben'
  1 of 2 cases passed; 58% of the clauses covered (7 of 12 outcomes)
`
	var got strings.Builder
	if err := report.Print(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestLint(t *testing.T) {
	const text = `
users: [{name: Ada, tags: [ops]}, {name: Ben}]
tags: [ops]
policies:
- policyName: Never
  effect: EFFECT_ALLOW
  condition: |
    activity.kind == 'SIGN_TRANSACTION' &&
      activity.kind == 'CREATE_WALLET'
- policyName: Many
  effect: EFFECT_ALLOW
  consensus: approvers.any(u, u.id == '${user.Ada}') && approvers.filter(u, u.tags.contains('${tag.ops}')).count() >= 2
`
	var got strings.Builder
	for _, f := range parse(t, text).Lint() {
		if err := f.Print(&got, "f.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	const want = `f.yaml:9: warning: policy Never: condition: activity.kind == 'CREATE_WALLET' can never be true here, so this policy never applies (never_true)
      activity.kind == 'CREATE_WALLET'
      ^
f.yaml:12: warning: policy Many: consensus: approvers.filter(u, u.tags.contains('00000000-0000-81b6-b85e… asks for 2, but at most 1 can ever be counted (too_many_approvals)
    approvers.any(u, u.id == '${user.Ada}') && approvers.filter(u, u.tags.contains('${tag.ops}')).count() >…
                                               ^
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("advice (-want +got):\n%s", diff)
	}
	// Without the lists unknown users and tags cannot be told.
	if all := parse(t, "policies:\n- {policyName: P, effect: EFFECT_ALLOW, consensus: \"approvers.count() >= 9 && approvers.any(u, u.id == 'x' && u.tags.contains('y'))\"}\n").Lint(); len(all) > 0 {
		t.Errorf("advice without lists: %+v", all)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, tt := range []struct {
		name, text string
		from, to   int
		want       string
	}{
		{"in the middle", "a bc d", 2, 4, "a bc d\n  ^^"},
		{"at the end", "a", 1, 1, "a\n ^"},
		{"of a second line", "a\nb c\nd", 4, 5, "b c\n  ^"},
		{"ends with its line", "ab\ncd", 1, 5, "ab\n ^"},
		{"behind a tab", "\ta b", 3, 4, "\ta b\n\t  ^"},
		{"characters of several bytes", "'é' x", 5, 6, "'é' x\n    ^"},
		{"of a long line", long + "x" + long, 200, 201, "…" + strings.Repeat("é", 30) + "x" + strings.Repeat("é", 30) + "…\n" + strings.Repeat(" ", 31) + "^"},
		{"that is long itself", long + long, 0, 400, strings.Repeat("é", 90) + "…\n" + strings.Repeat("^", 60)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := "\n    " + strings.ReplaceAll(tt.want, "\n", "\n    ")
			if diff := cmp.Diff(want, excerptOf(tt.text, tt.from, tt.to).text()); diff != "" {
				t.Errorf("excerpt (-want +got):\n%s", diff)
			}
		})
	}
}
