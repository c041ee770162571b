package policytest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noFiles is a folder without files.
func noFiles(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("f.yaml", []byte(text), noFiles)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

const (
	// withUsers is a file with users, of three lines.
	withUsers = "policies: []\ntags: [admin, ops]\nusers: [{name: Ada, tags: [admin]}, {name: Ben}]\n"
	// open is a policy that allows anything to Ada, of four lines.
	open = "users: [{name: Ada}]\npolicies:\n- {policyName: P, effect: EFFECT_ALLOW,\n   consensus: \"approvers.any(u, u.id == '${user.Ada}')\"}\n"
)

// mistakeCase is a file, and every mistake with its line and what would be right.
type mistakeCase struct {
	name, text string
	want       string // lines, without the name of the file
}

func checkMistakes(t *testing.T, cases []mistakeCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(tt.text), noFiles)
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("Parse: %v, want mistakes", err)
			}
			got := strings.ReplaceAll(wrong.Error(), "f.yaml:", "")
			if !matches(tt.want, got) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestDocumentMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"an empty file", "", "1: the file must hold a mapping with the key policies"},
		{"a list", "- a\n", "1: the file must hold a mapping with the key policies"},
		{"not YAML", "policies:\n\t- a\n", "2: not valid YAML: found character that cannot start any token"},
		{"an anchor", "policies: &a []\n", "1: an anchor (&name) is not allowed"},
		{"a number as key", "policies: []\n1: b\n", "2: unknown key (not a plain name); known here: users, tags, privateKeyTags, rootQuorum, wallets, privateKeys, interfaces, velocityControls, policies, cases"},
		{"a tag of YAML", "policies: !mine []\n", "1: a tag (!name) is not allowed; put text that begins with ! in quotes"},
		{"a tag on a text", "policies: []\nusers: [{name: !mine Ada}]\n", "2: a tag (!name) is not allowed; put text that begins with ! in quotes"},
		{"a number in hex", "policies: []\nrootQuorum: {threshold: 0x2, members: [a]}\n", `2: "0x2" reads as a number in another notation; put it in quotes if it is text`},
		{"yes for true", "policies: []\nwallets: [{name: W, imported: True}]\n", `2: write true or false, not "True"`},
		{"a key twice", "policies: []\nusers: []\npolicies: []\n", "3: policies is given twice: first on line 1"},
		{"an unknown key", "policies: []\nuser: []\n", `2: unknown key "user"; the nearest known key is "users"`},
		{"a part of a key", "policies:\n- {name: P, effect: EFFECT_DENY}\n", `2: unknown key "name"; the nearest known key is "policyName"`},
		{"a key of another mapping", "policies: []\nmembers: [a]\n", `2: unknown key "members"; the nearest known key is "rootQuorum.members"`},
		{"a key twice in JSON", "{\n\"policies\": [],\n\"policies\": []}", "3: policies is given twice: first on line 2"},
		{"a tag of YAML in what is almost JSON", "{\"policies\": !mine []}", "1: a tag (!name) is not allowed; put text that begins with ! in quotes"},
		{"no policies", "users: []\n", "1: policies: is required"},
		{"policies that are no list", "policies: {a: b}\n", "1: policies: must be an array, not an object"},
	})
}

func TestPolicyMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"a policy without a name", "policies:\n- {effect: EFFECT_DENY}\n", "2: policies.0.policyName: is required"},
		{"an effect that is none", "policies:\n- {policyName: P, effect: ALLOW}\n", "2: policies.0.effect: must be one of EFFECT_ALLOW, EFFECT_DENY"},
		{"two policies of one name", "policies:\n- {policyName: P, effect: EFFECT_DENY}\n- {policyName: P, effect: EFFECT_DENY}\n", `3: policies.1.policyName: there are two policies of the name "P"`},
		{"a policy for every user", "policies:\n- {policyName: P, effect: EFFECT_ALLOW}\n", "2: policy P: a policy that allows needs a condition or a consensus; without both it would allow everything to every user"},
		{
			"a condition that does not compile",
			"policies:\n- policyName: P\n  effect: EFFECT_DENY\n  condition: eth.tx.valu > 5\n",
			"4: policy P: condition: field does not exist: valu\n    eth.tx.valu > 5\n           ^^^^\n    did you mean value?",
		},
		{
			"the line of a block, behind a placeholder",
			"users: [{name: Ada}]\npolicies:\n- policyName: P\n  effect: EFFECT_DENY\n  consensus: |\n    approvers.count() > 1 &&\n    approvers.any(u, u.id == '${user.Ada}' && u.nam == 'x')\n",
			"7: policy P: consensus: field does not exist: nam\n    approvers.any(u, u.id == '${user.Ada}' && u.nam == 'x')\n                                                ^^^\n    known are id, email, alias, tags",
		},
		{
			"all three expressions at once",
			"policies:\n- {policyName: P, effect: EFFECT_DENY, condition: a, consensus: b, time: c}\n",
			"2: policy P: condition: unknown name a\n    a\n    ^\n    *\n2: policy P: consensus: unknown name b\n    b\n    ^\n    *\n2: policy P: time: unknown name c\n    c\n    ^\n    *",
		},
		{
			"a placeholder without its end", "policies:\n- {policyName: P, effect: EFFECT_DENY, condition: \"wallet.id == '${wallet.W'\"}\n",
			"2: policy P: condition: ${ has no closing }; write $${ for the two characters themselves\n    wallet.id == '${wallet.W'\n                  ^^",
		},
		{
			"a placeholder of an unknown kind", "policies:\n- {policyName: P, effect: EFFECT_DENY, condition: \"wallet.id == '${purse.W}'\"}\n",
			"2: policy P: condition: ${purse.W}: a placeholder is a kind and a name, such as ${user.Ada}; the kinds are user, tag, privateKeyTag, wallet, account, privateKey\n    wallet.id == '${purse.W}'\n                  ^^^^^^^^^^",
		},
		{
			"a placeholder for what is not there", "wallets: [{name: Main}]\npolicies:\n- {policyName: P, effect: EFFECT_DENY, condition: \"wallet.id == '${wallet.Mian}'\"}\n",
			"3: policy P: condition: ${wallet.Mian}: there is no wallet \"Mian\"; the nearest is \"Main\"\n    wallet.id == '${wallet.Mian}'\n                  ^^^^^^^^^^^^^^",
		},
		{
			"a placeholder in a file without such things", "policies:\n- {policyName: P, effect: EFFECT_DENY, condition: \"wallet.id == '${wallet.Mian}'\"}\n",
			"2: policy P: condition: ${wallet.Mian}: there is no wallet \"Mian\"; the file has none at all\n    wallet.id == '${wallet.Mian}'\n                  ^^^^^^^^^^^^^^",
		},
	})
}

func TestUserMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"a user without a name", "policies: []\nusers:\n- {email: a@example.com}\n", "3: users.0.name: is required"},
		{"two users of one name", "policies: []\nusers:\n- {name: Ada}\n- {name: Ada}\n", `4: users.1.name: there are two of the name "Ada"`},
		{"an id that is none", "policies: []\nusers:\n- {name: Ada, id: x}\n", "3: users.0.id: must be a UUID (8-4-4-4-12 hexadecimal digits)"},
		{
			"one id twice", "policies: []\ntags: [{name: T, id: 0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f}]\nusers:\n- {name: Ada, id: 0192F3C4-5B6A-7C8D-9E0F-1A2B3C4D5E6F}\n",
			"4: users.0.id: the id 0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f is given twice in the file",
		},
		{"an unknown tag", "policies: []\ntags: [admin, ops]\nusers:\n- {name: Ada, tags: [ops, amdin]}\n", `4: users.0.tags.1: there is no tag "amdin"; the nearest is "admin"`},
		{"a tag that was not declared", "policies: []\nusers:\n- {name: Ada, tags: [ops]}\n", `3: users.0.tags.0: there is no tag "ops"; the file has none at all`},
		{"a tag twice", "policies: []\ntags: [ops, {name: ops}]\n", `2: tags.1.name: there are two of the name "ops"`},
		{"a tag that is a number", "policies: []\ntags: [5]\n", "2: tags.0.name: must be a string, not a number"},
		{"a credential of no type", "policies: []\nusers:\n- {name: Ada, credentials: [{}]}\n", "3: users.0.credentials.0.type: is required"},
		{
			"a key that is no point", "policies: []\nusers:\n- {name: Ada, credentials: [{type: CREDENTIAL_TYPE_API_KEY_P256, publicKey: '02'}]}\n",
			"3: users.0.credentials.0.publicKey: public key is 1 bytes long: a compressed key is 33 bytes (66 hex digits that begin with 02 or 03)",
		},
		{
			"a credential id of a key", "policies: []\nusers:\n- {name: Ada, credentials: [{type: CREDENTIAL_TYPE_API_KEY_P256, credentialId: a}]}\n",
			"3: users.0.credentials.0.credentialId: only passkeys have one",
		},
		{
			"a passkey's key that is no base64url", "policies: []\nusers:\n- {name: Ada, credentials: [{type: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR, publicKey: '='}]}\n",
			"3: users.0.credentials.0.publicKey: must be the base64url of the passkey's public key, without padding",
		},
		{
			"one passkey for two", "policies: []\nusers:\n- {name: Ada, credentials: [{type: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR, credentialId: a}]}\n- {name: Ben, credentials: [{type: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR, credentialId: a}]}\n",
			"4: users.1.credentials.0.credentialId: the passkey is given twice in the file",
		},
		{"a quorum of unknown users", withUsers + "rootQuorum: {threshold: 1, members: [Adda]}\n", `4: rootQuorum.members.0: there is no user "Adda"; the nearest is "Ada"`},
		{"a quorum of no one", withUsers + "rootQuorum: {threshold: 1, members: []}\n", "4: rootQuorum.members: must have at least 1 element"},
		{"a quorum that is always reached", withUsers + "rootQuorum: {threshold: 0, members: [Ada]}\n", "4: rootQuorum.threshold: must be at least 1"},
		{"a quorum that is never reached", withUsers + "rootQuorum: {threshold: 3, members: [Ada, Ben]}\n", "4: rootQuorum.threshold: is 3, but there are only 2 members"},
	})
}

func TestWalletMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"two wallets of one name", "policies: []\nwallets:\n- {name: W}\n- {name: W}\n", `4: wallets.1.name: there are two of the name "W"`},
		{"an address that is none", "policies: []\nwallets:\n- {name: W, accounts: [{address: abc}]}\n", "3: wallets.0.accounts.0.address: must be 0x and 40 hex digits; for an address of another kind, name its format"},
		{
			"an address with a typo", "policies: []\nwallets:\n- {name: W, accounts: [{address: 0x70997970C51812dc3A010C7d01b50e0d17dc79c8}]}\n",
			"3: wallets.0.accounts.0.address: fails its EIP-55 checksum, so it probably has a typo; if it has none, write 0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
		},
		{
			"an address twice", "policies: []\nwallets:\n- {name: W, accounts: [{address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}]}\nprivateKeys:\n- {name: K, addresses: [{address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8}]}\n",
			"5: privateKeys.0.addresses.0.address: the address 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 is given twice in the file",
		},
		{
			"the address of another key", "policies: []\nwallets:\n- {name: W, accounts: [{address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, publicKey: 0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798}]}\n",
			"3: wallets.0.accounts.0.address: is not the address of publicKey, which is 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf",
		},
		{"a format of another curve", "policies: []\nwallets:\n- {name: W, accounts: [{curve: CURVE_ED25519}]}\n", "3: wallets.0.accounts.0.format: ADDRESS_FORMAT_ETHEREUM needs a key on [CURVE_SECP256K1], and this one is on CURVE_ED25519"},
		{"a public key that is none", "policies: []\nwallets:\n- {name: W, accounts: [{publicKey: '05'}]}\n", "3: wallets.0.accounts.0.publicKey: public key is 1 bytes long: a compressed key is 33 bytes (66 hex digits that begin with 02 or 03)"},
		{"a path that is none", "policies: []\nwallets:\n- {name: W, accounts: [{path: 44/60}]}\n", "3: wallets.0.accounts.0.path: *"},
		{"a path twice", "policies: []\nwallets:\n- {name: W, accounts: [{path: m/1}, {path: m/1}]}\n", "3: wallets.0.accounts.1.path: the path m/1 is given twice in the file"},
		{"two accounts of one name", "policies: []\nwallets:\n- {name: W, accounts: [{name: a}]}\n- {name: V, accounts: [{name: a}]}\n", `4: wallets.1.accounts.0.name: there are two of the name "a"`},
		{"two private keys of one name", "policies: []\nprivateKeys:\n- {name: K}\n- {name: K}\n", `4: privateKeys.1.name: there are two of the name "K"`},
		{"an unknown tag of a private key", "policies: []\ntags: [cold]\nprivateKeys:\n- {name: K, tags: [cold]}\n", `4: privateKeys.0.tags.0: there is no privateKeyTag "cold"; the file has none at all`},
		{
			"a second address of a key that is not known", "policies: []\nprivateKeys:\n- {name: K, addresses: [{address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}, {format: ADDRESS_FORMAT_TRON}]}\n",
			"3: privateKeys.0.addresses.1.address: is required, or the publicKey that it follows from",
		},
	})
}

func TestInterfaceMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"an interface without text", "policies: []\ninterfaces:\n- {address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM}\n", "3: interfaces.0: give the ABI or IDL either as file or as json"},
		{"an interface with two", "policies: []\ninterfaces:\n- {address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, file: a, json: []}\n", "3: interfaces.0: give the ABI or IDL either as file or as json"},
		{"an interface of no type", "policies: []\ninterfaces:\n- {address: a, type: ETHEREUM, json: []}\n", "3: interfaces.0.type: must be one of SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, SMART_CONTRACT_INTERFACE_TYPE_SOLANA"},
		{"a file that is missing", "policies: []\ninterfaces:\n- {address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, file: abi.json}\n", "3: interfaces.0.file: open abi.json: file does not exist"},
		{"an ABI that is none", "policies: []\ninterfaces:\n- {address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, json: '{}'}\n", "3: interfaces.0: provided ABI is invalid: *"},
		{"an IDL that is none", "policies: []\ninterfaces:\n- {address: a, type: SMART_CONTRACT_INTERFACE_TYPE_SOLANA, json: []}\n", "3: interfaces.0: *"},
	})
}

func TestCaseMistakes(t *testing.T) {
	checkMistakes(t, []mistakeCase{
		{"a case of an unknown user", open + "cases:\n- {name: c, operation: create_wallet, submitter: Adda, expect: DENY}\n", "6: cases.0.submitter: there is no user \"Adda\"; the nearest is \"Ada\"\n6: cases.0.parameters.walletName: is required\n6: cases.0.parameters.accounts: is required"},
		{"a case that expects nothing", open + "cases:\n- {name: c, operation: create_wallet, submitter: Ada}\n", "6: cases.0.expect: is required"},
		{"an outcome that is none", open + "cases:\n- {name: c, operation: create_wallet, submitter: Ada, expect: allowed}\n", "6: cases.0.expect: must be one of ALLOW, DENY, PENDING"},
		{"a case without an operation", open + "cases:\n- {name: c, submitter: Ada, expect: DENY}\n", "6: cases.0: give either the operation or the type of an activity"},
		{"a case with both", open + "cases:\n- {name: c, operation: a, type: b, submitter: Ada, expect: DENY}\n", "6: cases.0: give either the operation or the type of an activity"},
		{"an unknown operation", open + "cases:\n- {name: c, operation: sign_transacton, submitter: Ada, expect: DENY}\n", `6: cases.0.operation: there is no activity "sign_transacton"; the nearest is "sign_transaction"`},
		{"an unknown type", open + "cases:\n- {name: c, type: ACTIVITY_TYPE_CREATE_USER_TAGS, submitter: Ada, expect: DENY}\n", `6: cases.0.type: there is no activity "ACTIVITY_TYPE_CREATE_USER_TAGS"; the nearest is "ACTIVITY_TYPE_CREATE_USER_TAG"`},
		{"a query", open + "cases:\n- {name: c, operation: whoami, submitter: Ada, expect: DENY}\n", "6: cases.0.operation: whoami is a query: every member may ask it, and no policy is asked"},
		{"a vote", open + "cases:\n- {name: c, operation: approve_activity, submitter: Ada, expect: DENY}\n", "6: cases.0.operation: approve_activity is a vote on another activity; name the voters in approvers"},
		{
			"parameters that a server would refuse", open + "cases:\n- name: c\n  operation: create_user_tag\n  parameters:\n    userTagNam: x\n    userIds:\n    - y\n  submitter: Ada\n  expect: DENY\n",
			"9: cases.0.parameters.userTagNam: unknown field; did you mean \"userTagName\"?\n9: cases.0.parameters.userTagName: is required\n11: cases.0.parameters.userIds.0: must be a UUID (8-4-4-4-12 hexadecimal digits)",
		},
		{"parameters that are no object", open + "cases:\n- {name: c, operation: create_user_tag, parameters: [], submitter: Ada, expect: DENY}\n", "6: cases.0.parameters: must be an object, not an array"},
		{
			"a placeholder in parameters", open + "cases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: '${user.Bob}', userIds: []}, submitter: Ada, expect: DENY}\n",
			`6: cases.0.parameters: ${user.Bob}: there is no user "Bob"; the nearest is "Ada"`,
		},
		{
			"unknown users and policies", open + "cases:\n- name: c\n  operation: create_user_tag\n  parameters: {userTagName: t, userIds: []}\n  submitter: Ada\n  approvers: [X]\n  canApprove: [Y]\n  deniedBy: [Z]\n  expect: DENY\n",
			"10: cases.0.approvers.0: there is no user \"X\"; the nearest is \"Ada\"\n11: cases.0.canApprove.0: there is no user \"Y\"; the nearest is \"Ada\"\n12: cases.0.deniedBy.0: there is no policy \"Z\"",
		},
		{
			"two cases of one name", open + "cases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, expect: DENY}\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, expect: DENY}\n",
			`7: cases.1.name: there are two cases of the name "c"`,
		},
		{
			"a time that is none", open + "cases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, time: 2026-11-15, expect: DENY}\n",
			"6: cases.0.time: must be a time as in RFC 3339, such as 2026-11-15T12:00:00Z",
		},
		{
			"a case that leaves the time open", "users: [{name: Ada}]\npolicies:\n- {policyName: Office hours, effect: EFFECT_DENY, time: \"CronSpan('0 9 * * 1-5', '8h', 'UTC')\"}\ncases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, expect: DENY}\n",
			`5: cases.0: time is needed, because policy "Office hours" reads it`,
		},
		{
			"an account that leaves its key open", "users: [{name: Ada}]\npolicies:\n- {policyName: Own, effect: EFFECT_DENY, condition: 'eth.tx.from == eth.tx.to'}\nwallets:\n- name: W\n  accounts:\n  - {name: a}\n  - {address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}\n  - {address: 7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV, format: ADDRESS_FORMAT_SOLANA}\nprivateKeys:\n- {name: K, addresses: [{address: 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC}]}\ncases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, expect: DENY}\n",
			"8: wallets.0.accounts.1: publicKey is needed, because policy \"Own\" reads eth.tx.from, which follows from it\n11: privateKeys.0: publicKey is needed, because policy \"Own\" reads eth.tx.from, which follows from it",
		},
		{
			"an account that leaves its path open", "users: [{name: Ada}]\npolicies:\n- {policyName: First, effect: EFFECT_DENY, condition: 'wallet_account.path_indexes[0] == 44'}\nwallets:\n- {name: W, accounts: [{path: m/44'}, {name: a}]}\ncases:\n- {name: c, operation: create_user_tag, parameters: {userTagName: t, userIds: []}, submitter: Ada, expect: DENY}\n",
			`5: wallets.0.accounts.1: path is needed, because policy "First" reads it`,
		},
	})
}

// matches compares line by line; * at the end of a line stands for anything.
func matches(want, got string) bool {
	wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(wanted) != len(lines) {
		return false
	}
	for i, w := range wanted {
		start, any := strings.CutSuffix(w, "*")
		if any && !strings.HasPrefix(lines[i], start) || !any && lines[i] != w {
			return false
		}
	}
	return true
}

// JSON is read as YAML, and what list_policies shows can be used as it is.
func TestListedPolicies(t *testing.T) {
	f := parse(t, `{
	"policies": [{
		"policyId": "0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f", "policyName": "Wallets \u00e9 \/ \ud83d\ude00", "effect": "EFFECT_ALLOW",
		"createdAt": {"seconds": "1", "nanos": "0"}, "updatedAt": {"seconds": "1", "nanos": "0"},
		"notes": "", "consensus": "", "condition": "activity.resource == 'WALLET'"
	}]
}`)
	if len(f.Policies) != 1 || f.Policies[0].Name != "Wallets é / 😀" || f.Policies[0].Condition != "activity.resource == 'WALLET'" {
		t.Errorf("read as %+v", f.Policies)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("f.yaml", "policies: []\ninterfaces: [{address: a, type: SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM, file: abi.json}]\n")
	write("abi.json", "[]")
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.contracts) != 1 || f.contracts[0].Text != "[]" {
		t.Errorf("the file beside was read as %+v", f.contracts)
	}
	write("f.yaml", "policies: []\n#"+strings.Repeat(" ", maxFile))
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "is larger than 4 MiB") {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
}

// What a file leaves out is made up, the same each time.
func TestMadeUp(t *testing.T) {
	const text = `
tags: [admin, {name: ops, id: 0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f}]
privateKeyTags: [cold]
users: [{name: Ada}]
wallets: [{name: W, accounts: [{name: a}, {name: s, format: ADDRESS_FORMAT_SOLANA}, {name: known, address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}]}]
privateKeys: [{name: K, curve: CURVE_P256, tags: [cold]}]
policies:
- policyName: P
  effect: EFFECT_DENY
  condition: |
    wallet.id == '${wallet.W}' || wallet_account.address in ['${account.a}', '${account.known}', '${account.s}'] ||
    private_key.id == '${privateKey.K}' || private_key.tags.contains('${privateKeyTag.cold}') || wallet.label == '$${x}'
  consensus: approvers.any(u, u.tags.contains('${tag.ops}') || u.tags.contains('${tag.admin}') || u.id == '${user.Ada}')
`
	f, again := parse(t, text), parse(t, text)
	p := f.Policies[0]
	if diff := cmp.Diff(p.Condition+p.Consensus, again.Policies[0].Condition+again.Policies[0].Consensus); diff != "" {
		t.Errorf("two readings differ: %s", diff)
	}
	if !strings.Contains(p.Condition, "'0x70997970C51812dc3A010C7d01b50e0d17dc79C8'") || !strings.Contains(p.Condition, "'${x}'") ||
		!strings.Contains(p.Consensus, "'0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f'") {
		t.Errorf("expanded to\n%s\n%s", p.Condition, p.Consensus)
	}
	// Back to the placeholders, but for the escape.
	given := strings.ReplaceAll(f.content.Policies[0].Condition, "$${", "${")
	if back := f.labels.Replace(p.Condition); back != given {
		t.Errorf("labelled\n%s\nwant\n%s", back, given)
	}
}
