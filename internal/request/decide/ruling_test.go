package decide

import (
	"errors"
	"strings"
	"testing"

	"latchkey/internal/keys/vault"
)

// key is an unsealer of a fixed master key.
type key [32]byte

func (key) Name() string { return "test" }

func (k key) Unseal(use func(*[32]byte) error) error { return use((*[32]byte)(&k)) }

// nothing is a ciphertext store without content.
type nothing struct{}

func (nothing) Sealed(string) ([]byte, error) { return nil, nil }
func (nothing) Derived(_ string, build func() ([]byte, error)) ([]byte, error) {
	return build()
}
func (nothing) Seal(string, []byte) error { return nil }
func (nothing) Delete(string) error       { return nil }
func (nothing) Gone(name string) error    { return errors.New(name) }

func newDecider(t *testing.T) *Decider {
	t.Helper()
	v, issuer, err := vault.Open(key{1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return New(issuer)
}

var scope = vault.Scope{Organization: "org", Activity: "activity", Intent: [32]byte{7}}

// identified gives the input an activity and an intent, as the engine does.
func identified(in *Input) *Input {
	in.Activity.OrganizationID, in.Activity.ID, in.Intent = scope.Organization, scope.Activity, scope.Intent
	return in
}

// Only an allowed activity opens a vault session, and exactly that one.
func TestRuling(t *testing.T) {
	d := newDecider(t)
	const twoUsers = "approvers.count() >= 2"
	for _, tc := range []struct {
		name  string
		in    *Input
		want  Outcome
		asked func(*vault.Scope)
		error string // empty: a session is opened
	}{
		{"allowed", identified(newWorld(1, "root").on("", "root")), Allow, nil, ""},
		{"denied", identified(newWorld(1, "root").on("", "ada")), Deny, nil, "not authorized"},
		{"pending", identified(newWorld(1, "root").allow(twoUsers).on("", "ada")), Pending, nil, "not authorized"},
		{"another organization", identified(newWorld(1, "root").on("", "root")), Allow, func(s *vault.Scope) { s.Organization = "other" }, "for organization"},
		{"another activity", identified(newWorld(1, "root").on("", "root")), Allow, func(s *vault.Scope) { s.Activity = "other" }, "for activity"},
		{"another intent", identified(newWorld(1, "root").on("", "root")), Allow, func(s *vault.Scope) { s.Intent[0]++ }, "another intent"},
		{"supposed: no activity", newWorld(1, "root").on("", "root"), Allow, func(s *vault.Scope) { *s = vault.Scope{} }, "must name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ruling, err := d.Rule(tc.in)
			if err != nil || ruling.Outcome() != tc.want {
				t.Fatalf("ruling %v, %v, want outcome %v", ruling, err, tc.want)
			}
			asked := scope
			if tc.asked != nil {
				tc.asked(&asked)
			}
			_, err = ruling.Begin(asked, nothing{})
			if (err == nil) != (tc.error == "") || err != nil && !strings.Contains(err.Error(), tc.error) {
				t.Errorf("Begin: %v, want %q", err, tc.error)
			}
			if _, err := ruling.Begin(scope, nothing{}); tc.error == "" && err == nil {
				t.Error("the ruling was used twice")
			}
		})
	}
	if _, err := (*Ruling)(nil).Begin(scope, nothing{}); err == nil {
		t.Error("no ruling opens a session")
	}
	if _, err := (&Ruling{decision: &Decision{Outcome: Allow}}).Begin(scope, nothing{}); err == nil {
		t.Error("an outcome without an authorization opens a session")
	}
}

// What users do with their own credentials is decided by that alone.
func TestSelf(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   *Input
		want Outcome
	}{
		{"a user on their own credentials", newWorld(1, "root").on("ada", "ada"), Allow},
		{"policies are not asked", newWorld(1, "root").deny("").on("ada", "ada"), Allow},
		{"a user on another", newWorld(1, "root").on("bob", "ada"), Deny},
		{"the root quorum on another", newWorld(1, "root").on("bob", "root"), Deny},
		{"about no user", newWorld(1, "root").on("", "ada"), Deny},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.in.By = Self
			decision, err := tc.in.Decide()
			if err != nil || decision.Outcome != tc.want {
				t.Errorf("%v, %v, want %v", decision, err, tc.want)
			}
		})
	}
	vote := newWorld(1, "root").on("", "root")
	vote.By = Vote
	if decision, err := vote.Decide(); err != nil || decision.Outcome != Deny {
		t.Errorf("a vote by itself: %v, %v", decision, err)
	}
}
