package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/request/ops"
)

func TestComplete(t *testing.T) {
	catalog := ops.Catalog()
	for _, tt := range []struct {
		name string
		line string // words; the last one, after the last space, is completed
		want string
	}{
		{"a command", "ke", "keygen"},
		{"a command of a command", "policy ex", "explain"},
		{"an operation", "call get_wallet_", "get_wallet_account"},
		{"after a flag with a value", "call --data data get_wallet_", "get_wallet_account"},
		{"after a flag with its value", "call --data=data get_wallet_", "get_wallet_account"},
		{"after a flag without one", "call --dry-run get_wallet_", "get_wallet_account"},
		{"after --", "call -- get_wallet_", "get_wallet_account"},
		{"no flag after --", "call -- --dr", ""},
		{"one operation only", "call whoami get_wallet_", ""},
		{"of request", "request get_wallet_", "get_wallet_account"},
		{"of policy explain", "policy explain update_root", "update_root_quorum"},
		{"a flag", "call whoami --dr", "--dry-run"},
		{"versions", "call create_policy --type ", "ACTIVITY_TYPE_CREATE_POLICY ACTIVITY_TYPE_CREATE_POLICY_V2 ACTIVITY_TYPE_CREATE_POLICY_V3"},
		{"versions of no operation", "call --type ", ""},
		{"versions of a query", "call whoami --type ", ""},
		{"parameters of an activity", "call update_user_name --json ", `{"userId":"01900000-0000-7000-8000-000000000001","userName":"example"}`},
		{"parameters of a query", "call get_user --json ", `{"userId":"01900000-0000-7000-8000-000000000001"}`},
		{"parameters of a query without any", "call whoami --json ", ""},
		{"parameters of an unknown operation", "call who --json ", ""},
		{"a boolean of the same name", "policy explain create_user_tag --json --pol", "--policies"},
		{"values of a flag", "keygen --curve ", "p256 secp256k1 ed25519"},
		{"values of an argument", "completion z", "zsh"},
		{"a file", "policy check ", ""},
		{"an unknown command", "nonsense x", ""},
		{"hidden commands", "__", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program, err := kong.New(&commands{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range complete(program.Model, catalog, strings.Split(tt.line, " ")) {
				got = append(got, c.text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every operation can be called and is described, in each of its versions.
func TestCallEveryOperation(t *testing.T) {
	catalog := ops.Catalog()
	here := &client.Client{OrganizationID: "f9a31c64-d604-42e4-9bef-a773096afad7"}
	for _, name := range operationNames(catalog) {
		types := []string{""}
		if p := catalog.Endpoint(name); p != nil {
			for _, v := range p.Versions {
				types = append(types, v.Type)
			}
		}
		for _, typ := range types {
			t.Run(name+" "+typ, func(t *testing.T) {
				cmd := callCommand{Operation: name, Type: typ}
				op, err := cmd.find(catalog)
				if err != nil {
					t.Fatal(err)
				}
				parameters, _, summary := op.schemas()
				if err := op.check(parameters.Example()); err != nil {
					t.Errorf("the example is refused: %v", err)
				}
				body, err := op.body(here, parameters.Example())
				if err != nil || !strings.Contains(string(body), `"organizationId":"`) || typ != "" && !strings.Contains(string(body), `"type":"`+typ+`"`) {
					t.Errorf("%s, %v", body, err)
				}
				if err := op.check([]byte(`{"noSuchMember":1}`)); err == nil {
					t.Error("an unknown member is accepted")
				}
				var text bytes.Buffer
				if err := op.describe(&text); err != nil || !strings.Contains(text.String(), summary) || !strings.Contains(text.String(), "Example") {
					t.Errorf("%s, %v", text.String(), err)
				}
			})
		}
	}
}
