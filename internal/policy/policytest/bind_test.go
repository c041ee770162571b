package policytest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bindable = `
tags: [treasury]
users: [{name: ada}, {name: known, id: 0192f3c4-5b6a-7c8d-9e0f-000000000009}]
wallets: [{name: hot, accounts: [{name: main}, {name: given, address: 0x70997970c51812dc3a010c7d01b50e0d17dc79c8}]}]
policies:
- policyName: P
  effect: EFFECT_ALLOW
  consensus: approvers.any(u, u.id in ['${user.ada}', '${user.known}'] || u.tags.contains('${tag.treasury}'))
  condition: |
    wallet.id == '${wallet.hot}' && wallet_account.address in ['${account.main}', '${account.given}'] && wallet.label != '$${x}'
`

func directory(names ...string) *Directory {
	d := NewDirectory(func(string) (map[string][]string, error) {
		return map[string][]string{"main": {"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"}}, nil
	})
	for _, n := range names {
		kind, rest, _ := strings.Cut(n, ".")
		name, id, _ := strings.Cut(rest, "=")
		d.Add(kind, name, id)
	}
	return d
}

// Names get the ids of the organization; ids and addresses of the file stay.
func TestBind(t *testing.T) {
	d := directory("user.ada=A", "user.Known by another name=0192f3c4-5b6a-7c8d-9e0f-000000000009", "tag.treasury=T", "wallet.hot=W", "tag.other=O")
	policies, names, err := parse(t, bindable).Bind(d)
	if err != nil {
		t.Fatal(err)
	}
	want := []BoundPolicy{{
		Name: "P", Effect: "EFFECT_ALLOW",
		Consensus: "approvers.any(u, u.id in ['A', '0192f3c4-5b6a-7c8d-9e0f-000000000009'] || u.tags.contains('T'))",
		Condition: "wallet.id == 'W' && wallet_account.address in ['0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'] && wallet.label != '${x}'\n",
	}}
	if diff := cmp.Diff(want, policies); diff != "" {
		t.Error(diff)
	}
	shown := []Resolved{
		{"${account.given}", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
		{"${account.main}", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"},
		{"${tag.treasury}", "T"},
		{"${user.ada}", "A"},
		{"${user.known}", "0192f3c4-5b6a-7c8d-9e0f-000000000009"},
		{"${wallet.hot}", "W"},
	}
	if diff := cmp.Diff(shown, names); diff != "" {
		t.Error(diff)
	}
}

// A name that means none or several records, and an id that the organization does
// not have, are mistakes with their line.
func TestBindMistakes(t *testing.T) {
	all := []string{"user.ada=A", "user.k=0192f3c4-5b6a-7c8d-9e0f-000000000009", "tag.treasury=T", "wallet.hot=W"}
	for name, c := range map[string]struct {
		without string
		with    []string
		want    string
	}{
		"an unknown name":  {"user.ada=A", []string{"user.Ada=A"}, `f.yaml:8: policy P: consensus: ${user.ada}: the organization has no user "ada"; the nearest is "Ada"`},
		"nothing near":     {"tag.treasury=T", nil, `f.yaml:8: policy P: consensus: ${tag.treasury}: the organization has no tag "treasury"`},
		"two of a name":    {"", []string{"user.ada=B"}, `f.yaml:8: policy P: consensus: ${user.ada}: the organization has 2 of the kind user with the name "ada" (A, B); give the one that is meant its id in the file`},
		"an unknown id":    {"user.k=0192f3c4-5b6a-7c8d-9e0f-000000000009", nil, `${user.known}: the organization has no user with the id 0192f3c4-5b6a-7c8d-9e0f-000000000009 that the file gives it`},
		"a wallet is gone": {"wallet.hot=W", nil, `f.yaml:10: policy P: condition: ${wallet.hot}: the organization has no wallet "hot"`},
	} {
		var names []string
		for _, n := range all {
			if n != c.without {
				names = append(names, n)
			}
		}
		_, _, err := parse(t, bindable).Bind(directory(append(names, c.with...)...))
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	failing := directory(all...)
	failing.accounts = func(string) (map[string][]string, error) { return nil, errors.New("no answer") }
	if _, _, err := parse(t, bindable).Bind(failing); err == nil || err.Error() != "no answer" {
		t.Errorf("accounts that cannot be read: %v", err)
	}
}
