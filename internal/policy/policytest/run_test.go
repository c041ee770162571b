package policytest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/fault"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
)

// Transactions of half an ether to a payee, and of 250 tokens.
const (
	halfEther = "0x02ef0180843b9aca0084773594008252089470997970c51812dc3a010c7d01b50e0d17dc79c88806f05b59d3b2000080c0"
	tokens    = "0x02f86c0180843b9aca00847735940082ea609490f79bf6eb2c4f870365e785982e1f101e93b90680b844a9059cbb" +
		"00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8" + "00000000000000000000000000000000000000000000000000000000000000fa" + "c0"
)

// world is an organization with a bit of everything.
const world = `
tags: [signer]
privateKeyTags: [hot]
users:
- {name: Ada, tags: [signer], email: ada@example.com}
- {name: Ben, credentials: [{type: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR}]}
- {name: Cleo}
- {name: Root}
- {name: Deputy}
rootQuorum: {threshold: 2, members: [Root, Deputy]}
wallets:
- {name: Main, imported: true, accounts: [{name: main, path: m/44'/60'/0'/0/7}]}
privateKeys:
- {name: Hot, tags: [hot], addresses: [{format: ADDRESS_FORMAT_ETHEREUM}]}
interfaces:
- address: 0x90F79bf6EB2c4f870365E785982E1f101E93b906
  type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM
  json:
  - {type: function, name: transfer, inputs: [{name: to, type: address}, {name: amount, type: uint256}]}
`

const (
	tagging = "operation: create_user_tag\n  parameters: {userTagName: t, userIds: []}\n"
	paying  = "operation: sign_transaction\n  parameters: {type: TRANSACTION_TYPE_ETHEREUM, signWith: '${account.main}', unsignedTransaction: '" + halfEther + "'}\n"
)

// one is a file with one policy and one case.
func one(effect, rest, request, outcome string) string {
	return world + "policies:\n- policyName: P\n  effect: EFFECT_" + effect + "\n" + rest +
		"cases:\n- name: c\n  " + request + "  " + outcome + "\n"
}

func run(t *testing.T, text string) *Report {
	t.Helper()
	report, err := parse(t, text).Run(t.Context())
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return report
}

// What a case expects is compared with what the engine decides.
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // failures
	}{
		{"allowed", one("ALLOW", "  condition: activity.kind == 'CREATE_USER_TAG'\n", tagging, "submitter: Cleo\n  expect: ALLOW"), nil},
		{"of an older version", one("ALLOW", "  condition: activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'\n", "type: ACTIVITY_TYPE_SIGN_TRANSACTION\n  parameters: {privateKeyId: '${privateKey.Hot}', type: TRANSACTION_TYPE_ETHEREUM, unsignedTransaction: '"+halfEther+"'}\n", "submitter: Cleo\n  expect: ALLOW"), nil},
		{"no policy allows it", one("ALLOW", "  condition: activity.kind == 'CREATE_WALLET'\n", tagging, "submitter: Cleo\n  expect: DENY\n  deniedBy: []"), nil},
		{"denied", one("DENY", "  condition: activity.kind == 'CREATE_USER_TAG'\n", tagging, "submitter: Cleo\n  expect: DENY\n  deniedBy: [P]"), nil},
		{
			"not as expected", one("ALLOW", "  condition: activity.kind == 'CREATE_WALLET'\n", tagging, "submitter: Cleo\n  expect: PENDING\n  deniedBy: [P]\n  canApprove: [Ada, Ben]"),
			[]string{"expected PENDING, got DENY: *", "expected deniedBy P, got none", "expected canApprove Ada, Ben, got none"},
		},
		{"waiting for a tag", one("ALLOW", "  consensus: approvers.any(u, u.tags.contains('${tag.signer}')) && approvers.count() >= 2 && approvers.any(u, u.alias == 'Cleo')\n", tagging, "submitter: Cleo\n  expect: PENDING\n  canApprove: [Ada, Ben, Root, Deputy]"), nil},
		{"with the second vote", one("ALLOW", "  consensus: approvers.any(u, u.email == 'ada@example.com') && approvers.count() >= 2\n", tagging, "submitter: Cleo\n  approvers: [Ada, Cleo]\n  expect: ALLOW"), nil},
		{"the first vote is the submitter's", one("ALLOW", "  consensus: approvers[0].alias == 'Cleo'\n", tagging, "submitter: Cleo\n  approvers: [Ada]\n  expect: ALLOW"), nil},
		{"by a passkey", one("ALLOW", "  consensus: credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')\n", tagging, "submitter: Ben\n  expect: ALLOW"), nil},
		{"not by a passkey", one("ALLOW", "  consensus: credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')\n", tagging, "submitter: Cleo\n  expect: DENY"), nil},
		{"an error denies", one("DENY", "  condition: activity.kind[100] == 'x'\n", tagging, "submitter: Cleo\n  expect: DENY\n  deniedBy: [P]"), nil},
		{"absence does not deny", one("DENY", "  condition: eth.tx.value > 0\n", tagging, "submitter: Cleo\n  expect: DENY\n  deniedBy: []"), nil},
		{"the root quorum", one("DENY", "  condition: activity.kind == 'CREATE_USER_TAG'\n", tagging, "submitter: Root\n  approvers: [Deputy]\n  expect: ALLOW\n  deniedBy: []"), nil},
		{"half the root quorum", one("DENY", "  condition: activity.kind == 'CREATE_USER_TAG'\n", tagging, "submitter: Root\n  expect: PENDING\n  canApprove: [Deputy]\n  deniedBy: [P]"), nil},
		{"for the root quorum only", one("ALLOW", "  condition: activity.kind != 'X'\n", "operation: update_root_quorum\n  parameters: {threshold: 1, userIds: ['${user.Cleo}']}\n", "submitter: Cleo\n  expect: DENY"), nil},
		{"for the submitter", one("DENY", "  condition: activity.kind != 'X'\n", "operation: create_read_only_session\n", "submitter: Cleo\n  expect: ALLOW\n  deniedBy: []"), nil},
		{"own credentials", one("DENY", "  condition: activity.kind == 'X'\n", "operation: delete_api_keys\n  parameters: {userId: '${user.Cleo}', apiKeyIds: ['${user.Ada}']}\n", "submitter: Cleo\n  expect: ALLOW"), nil},
		{"a transaction", one("ALLOW", "  condition: eth.tx.value == 500000000000000000 && eth.tx.from == '${account.main}' && wallet.id == '${wallet.Main}' && wallet.imported\n", paying, "submitter: Cleo\n  expect: ALLOW"), nil},
		{"a contract", one("ALLOW", "  condition: eth.tx.contract_call_args['amount'] <= 250 && eth.tx.function_name == 'transfer'\n", strings.ReplaceAll(paying, halfEther, tokens), "submitter: Cleo\n  expect: ALLOW"), nil},
		{"a private key", one("ALLOW", "  condition: private_key.tags.contains('${privateKeyTag.hot}') && private_key.id == '${privateKey.Hot}'\n", strings.ReplaceAll(paying, "${account.main}", "${privateKey.Hot}"), "submitter: Cleo\n  expect: ALLOW"), nil},
		{"a path", one("ALLOW", "  condition: wallet_account.path_indexes[4] == 7 && wallet_account.path_hardened[2]\n", "operation: export_wallet_account\n  parameters: {address: '${account.main}', targetPublicKey: '04'}\n", "submitter: Cleo\n  expect: ALLOW"), nil},
		{"at a time", one("ALLOW", "  condition: activity.kind != 'X'\n  time: time.now < Timestamp('2026-06-01T00:00:00Z')\n", tagging, "submitter: Cleo\n  time: 2026-05-31T23:59:59Z\n  expect: ALLOW"), nil},
		{"at another time", one("ALLOW", "  condition: activity.kind != 'X'\n  time: time.now < Timestamp('2026-06-01T00:00:00Z')\n", tagging, "submitter: Cleo\n  time: 2026-06-01T01:00:00+01:00\n  expect: DENY"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := run(t, tt.text)
			failures := report.Results[0].Failures
			if !matches(strings.Join(tt.want, "\n"), strings.Join(failures, "\n")) {
				t.Errorf("failures %q, want %q", failures, tt.want)
			}
			if failed := report.Failed(); failed != min(1, len(tt.want)) {
				t.Errorf("%d cases failed", failed)
			}
		})
	}
}

// A transaction that no server would decide on is a mistake of the file. The
// others are still looked at.
func TestRunRefuses(t *testing.T) {
	broken := strings.ReplaceAll(paying, halfEther, "0x02c0")
	f := parse(t, world+"policies:\n- {policyName: P, effect: EFFECT_ALLOW, condition: eth.tx.value > 0}\n"+
		"cases:\n- name: a\n  "+broken+"  submitter: Ada\n  expect: DENY\n- name: b\n  "+paying+"  submitter: Ada\n  expect: ALLOW\n"+
		"- name: c\n  "+broken+"  submitter: Ada\n  expect: DENY\n")
	_, err := f.Run(t.Context())
	var wrong *Error
	if !errors.As(err, &wrong) || len(wrong.Mistakes) != 2 {
		t.Fatalf("Run: %v", err)
	}
	for i, at := range []int{0, 2} {
		m := wrong.Mistakes[i]
		if m.Line != f.Cases[at].Line || !strings.HasPrefix(m.Message, fmt.Sprintf("cases.%d.parameters: failed to parse transaction: ", at)) {
			t.Errorf("mistake %d: %+v", i, m)
		}
	}
}

// A run leaves no files behind.
func TestRunCleansUp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	run(t, one("ALLOW", "  condition: activity.kind == 'CREATE_USER_TAG'\n", tagging, "submitter: Cleo\n  expect: ALLOW"))
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Rehearse itself refuses what Explain refuses; files are checked before.
func TestRehearseRefuses(t *testing.T) {
	f := parse(t, world+"policies: []\n")
	db, err := sqlite.Open(t.Context(), t.TempDir()+"/store.db", sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Store(t, db)
	defer s.Close()
	if err := s.CreateOrganization(t.Context(), organization, f.insert); err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Store: s, Catalog: ops.Catalog(), Now: func() time.Time { return epoch }})
	ada := f.users[0].ID
	for _, tt := range []struct {
		name, user, organization string
		asked                    engine.ExplainRequest
		code                     fault.Code // 0: no fault
		field                    string
	}{
		{"no type", ada, organization, engine.ExplainRequest{}, fault.InvalidArgument, "type"},
		{"a vote", ada, organization, engine.ExplainRequest{Type: "ACTIVITY_TYPE_APPROVE_ACTIVITY"}, fault.InvalidArgument, "type"},
		{"no time", ada, organization, engine.ExplainRequest{Type: "ACTIVITY_TYPE_CREATE_USER_TAG", Time: "noon"}, fault.InvalidArgument, "time"},
		{"no parameters", ada, organization, engine.ExplainRequest{Type: "ACTIVITY_TYPE_CREATE_USER_TAG", Parameters: []byte("{}")}, fault.InvalidArgument, "userTagName"},
		{
			"an unknown user", organization, organization,
			engine.ExplainRequest{Type: "ACTIVITY_TYPE_CREATE_USER_TAG", Parameters: []byte(`{"userTagName":"t","userIds":[]}`)},
			fault.NotFound, "",
		},
		{
			"an unknown voter", ada, organization,
			engine.ExplainRequest{Type: "ACTIVITY_TYPE_CREATE_USER_TAG", Parameters: []byte(`{"userTagName":"t","userIds":[]}`), Approvers: []string{organization}},
			fault.NotFound, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, decision, err := e.DryRun(t.Context(), tt.organization, tt.user, &tt.asked, nil)
			refusal, ok := fault.As(err)
			if !ok || refusal.Code != tt.code || reply != nil || decision != nil {
				t.Fatalf("Rehearse: %v, %v, %v", reply, decision, err)
			}
			if tt.field != "" && (len(refusal.Fields) == 0 || refusal.Fields[0].Path != tt.field) {
				t.Errorf("fields %+v, want %s", refusal.Fields, tt.field)
			}
		})
	}
	if _, _, err := e.DryRun(t.Context(), ada, ada, &engine.ExplainRequest{
		Type: "ACTIVITY_TYPE_CREATE_USER_TAG", Parameters: []byte(`{"userTagName":"t","userIds":[]}`),
	}, nil); !errors.Is(err, store.ErrNoOrganization) {
		t.Errorf("an organization that does not exist: %v", err)
	}
}

// A clause is covered when it was seen true and seen false.
func TestCoverage(t *testing.T) {
	const both = "cases:\n- name: tag\n  " + tagging + "  submitter: Ada\n  expect: ALLOW\n- name: pay\n  " + paying + "  submitter: Cleo\n  expect: ALLOW\n"
	type clauses []string
	for _, tt := range []struct {
		name, policy, cases string
		want                clauses // t f e: seen true, false, without a value
		percent             int
	}{
		{"one clause", "  condition: activity.kind == 'SIGN_TRANSACTION'\n", both, clauses{"tf activity.kind == 'SIGN_TRANSACTION'"}, 100},
		{
			"joined", "  condition: (activity.kind == 'SIGN_TRANSACTION' || activity.action == 'NEVER') && (activity.resource != 'X' && !(activity.kind == 'A' && activity.kind == 'B'))\n", both,
			clauses{"tf activity.kind == 'SIGN_TRANSACTION'", "f activity.action == 'NEVER'", "t activity.resource != 'X'", "t !(activity.kind == 'A' && activity.kind == 'B')"},
			62,
		},
		{"literals do not count", "  condition: true && activity.kind == 'SIGN_TRANSACTION' || false\n  consensus: (true)\n", both, clauses{"tf activity.kind == 'SIGN_TRANSACTION'"}, 100},
		{"without a value", "  condition: eth.tx.value > 0\n", both, clauses{"te eth.tx.value > 0"}, 50},
		{
			"bodies", "  consensus: approvers.filter(u, u.tags.contains('${tag.signer}') && u.email != '').count() >= 1 || approvers.all(v, v.tags.all(w, w == '${tag.signer}'))\n", both,
			clauses{
				"tf approvers.filter(u, u.tags.contains('${tag.signer}') && u.email != '').count() >= 1",
				"tf u.tags.contains('${tag.signer}') && u.email != ''",
				"t approvers.all(v, v.tags.all(w, w == '${tag.signer}'))",
				"t v.tags.all(w, w == '${tag.signer}')",
				"t w == '${tag.signer}'",
			},
			70,
		},
		{"a body that never ran", "  condition: solana.tx.transfers.any(x, x.amount > 5 && x.to == 'y')\n", both, clauses{"e solana.tx.transfers.any(x, x.amount > 5 && x.to == 'y')"}, 0},
		{"the policies are explained to the root quorum too", "  condition: activity.kind == 'CREATE_USER_TAG'\n", "cases:\n- name: c\n  " + tagging + "  submitter: Root\n  approvers: [Deputy]\n  expect: ALLOW\n", clauses{"t activity.kind == 'CREATE_USER_TAG'"}, 50},
		{"never asked", "  condition: activity.kind == 'A' && activity.kind == 'B'\n", "cases:\n- name: c\n  operation: create_read_only_session\n  submitter: Ada\n  expect: ALLOW\n", clauses{" activity.kind == 'A'", " activity.kind == 'B'"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := run(t, world+"policies:\n- policyName: P\n  effect: EFFECT_ALLOW\n"+tt.policy+tt.cases)
			var got clauses
			for _, c := range report.Coverage {
				var seen string
				for i, was := range []bool{c.True, c.False, c.Failed} {
					if was {
						seen += "tfe"[i : i+1]
					}
				}
				got = append(got, seen+" "+c.Source)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("clauses (-want +got):\n%s", diff)
			}
			if percent := report.Coverage.Percent(); percent != tt.percent {
				t.Errorf("%d%%, want %d%%", percent, tt.percent)
			}
		})
	}
	if percent := (Coverage{}).Percent(); percent != 100 {
		t.Errorf("nothing to cover is covered to %d%%", percent)
	}
}

// limited is a world with a limit of 300 tokens a day for each user, and of two
// tags in all.
const limited = world + `
velocityControls:
- name: Tokens
  identifier: tokens
  dataSource: {chainAssetTransfer: {definition: [{caip19: eip155:1/erc20:0x90F79bf6EB2c4f870365E785982E1f101E93b906, decimals: '2'}]}}
  aggregation: {method: VELOCITY_CONTROL_AGGREGATION_METHOD_SUM, operator: VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL, threshold: '3', window: {rolling: {duration: '86400'}}, groupBy: {user: {}}}
- name: Tags
  identifier: a_few_tags
  dataSource: {activityExecution: {}}
  aggregation: {method: VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT, operator: VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN, threshold: '2', window: {infinite: {}}, groupBy: {organization: {}}}
policies:
- {policyName: Pay, effect: EFFECT_ALLOW, condition: activity.kind == 'SIGN_TRANSACTION' && controls.tokens}
- {policyName: Tag, effect: EFFECT_ALLOW, condition: activity.kind == 'CREATE_USER_TAG' && controls.a_few_tags}
cases:
`

// A case states what velocity controls have used before it.
func TestUsedByControls(t *testing.T) {
	const paysTokens = "operation: sign_transaction\n  parameters: {type: TRANSACTION_TYPE_ETHEREUM, signWith: '${account.main}', unsignedTransaction: '" + tokens + "'}\n"
	report := run(t, limited+
		"- name: nothing used\n  "+paysTokens+"  submitter: Ada\n  expect: ALLOW\n"+
		"- name: as much as is left\n  "+paysTokens+"  submitter: Ada\n  used: {tokens: '0.5'}\n  expect: ALLOW\n"+
		"- name: a hundredth too much\n  "+paysTokens+"  submitter: Ada\n  used: {tokens: 0.51}\n  expect: DENY\n"+
		"- name: one tag\n  "+tagging+"  submitter: Ada\n  used: {tokens: 3}\n  expect: ALLOW\n"+
		"- name: two tags\n  "+tagging+"  submitter: Ben\n  used: {a_few_tags: 1}\n  expect: DENY\n")
	for _, r := range report.Results {
		if len(r.Failures) > 0 {
			t.Errorf("%s: %v", r.Case.Name, r.Failures)
		}
	}
	var shown strings.Builder
	if err := PrintReply(&shown, report.Results[2].Reply); err != nil || !strings.Contains(shown.String(), "control tokens: 0.51 used, 2.49 left; 3.01 with this request: it does not hold\n") {
		t.Errorf("%v, shown:\n%s", err, shown.String())
	}
	for text, want := range map[string]string{
		"used: {tokens: -1}":    "used.tokens: must be a decimal number",
		"used: {tokens: much}":  "used.tokens: must be a decimal number",
		"used: {tokens: [1]}":   "used.tokens: must be a decimal number",
		"used: {tokns: 1}":      `used: the file has no velocity control "tokns"`,
		"used: [tokens]":        "used: must be an object",
		"used: {tokens: '1e3'}": "used.tokens: must be a decimal number",
	} {
		_, err := Parse("f.yaml", []byte(limited+"- name: c\n  "+tagging+"  submitter: Ada\n  "+text+"\n  expect: DENY\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
