package activity_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
)

type signParams struct {
	Payload string `json:"payload" check:"required" doc:"What to sign."`
}

type signResult struct {
	Session string `json:"session" doc:"Nothing."`
}

// key is an unsealer of a fixed master key.
type key [32]byte

func (key) Name() string { return "test" }

func (k key) Unseal(use func(*[32]byte) error) error { return use((*[32]byte)(&k)) }

// An intent runs only with a ruling on itself, in the organization and for the
// activity that were decided on, and its session ends with it.
func TestExecNeedsItsRuling(t *testing.T) {
	driver, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Store(t, driver)
	defer s.Close()
	for _, org := range []string{"one", "two"} {
		if err := s.CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
			return tx.Organizations().Insert(&domain.Organization{ID: org, Name: org})
		}); err != nil {
			t.Fatal(err)
		}
	}
	v, issuer, err := vault.Open(key{1})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	decider := decide.New(issuer)

	var session *vault.Session
	op := activity.Op[signParams, signResult]{
		Spec: activity.Spec{Name: "sign", Version: 1, Summary: "Sign.", Govern: activity.Govern{By: decide.RootQuorum}},
		Exec: func(_ context.Context, e activity.Env, _ *signParams) (signResult, error) {
			session = e.Vault
			_, err := e.Vault.CreateKey(e.ActivityID, curve.KeyP256)
			return signResult{}, err
		},
	}.Compile()
	endpoint := activity.NewCatalog([]*activity.CompiledOp{op}, nil).Endpoint("sign")
	parse := func(payload string) *activity.Intent {
		intent, err := endpoint.Parse(op, []byte(`{"payload":"`+payload+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		return intent
	}
	intent := parse("100")
	rule := func(members ...string) *decide.Ruling {
		user := &domain.User{ID: "root", APIKeys: []domain.APIKey{{ID: "key"}}}
		ruling, err := decider.Rule(&decide.Input{
			Organization: &domain.Organization{RootQuorum: domain.Quorum{Threshold: 1, UserIDs: members}},
			Activity: &domain.Activity{ID: "activity", OrganizationID: "one", Votes: []domain.Vote{
				{UserID: "root", CredentialID: "key", Selection: domain.VoteApproved, CreatedAt: time.Now()},
			}},
			Intent: intent.Digest(), Now: time.Now(), By: decide.RootQuorum,
			User: func(string) (*domain.User, error) { return user, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return ruling
	}
	used := rule("root")
	for _, tc := range []struct {
		name     string
		ruling   *decide.Ruling
		intent   *activity.Intent
		org      string
		activity string
		want     string // empty: executed
	}{
		{"what was ruled on", used, intent, "one", "activity", ""},
		{"the same ruling again", used, intent, "one", "activity", "used before"},
		{"another amount", rule("root"), parse("101"), "one", "activity", "another intent"},
		{"another organization", rule("root"), intent, "two", "activity", `for organization "one"`},
		{"another activity", rule("root"), intent, "one", "other", `for activity "activity"`},
		{"a ruling that denies", rule("other"), intent, "one", "activity", "not authorized"},
		{"no ruling", nil, intent, "one", "activity", "not authorized"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			session = nil
			err := s.Update(t.Context(), tc.org, func(tx *store.Tx) error {
				_, err := tc.intent.Exec(t.Context(), tc.ruling, activity.Env{Tx: tx, ActivityID: tc.activity})
				return err
			})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Exec: %v, want %q", err, tc.want)
			}
			if (session == nil) != (tc.want != "") {
				t.Errorf("executed: %t", session != nil)
			}
			if session != nil {
				if _, err := session.SignDigest("activity", curve.KeyP256, [32]byte{}); err == nil || !strings.Contains(err.Error(), "has ended") {
					t.Errorf("the session after the executor has returned: %v", err)
				}
			}
		})
	}
}
