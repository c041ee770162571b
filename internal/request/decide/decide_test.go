package decide

import (
	"slices"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// world is an organization whose users have one key each, called after them.
type world struct {
	org      domain.Organization
	users    []*domain.User
	policies []*domain.Policy
}

func newWorld(threshold int32, members ...string) *world {
	w := &world{org: domain.Organization{RootQuorum: domain.Quorum{Threshold: threshold, UserIDs: members}}}
	for _, name := range []string{"root", "second", "third", "ada", "bob", "eve"} {
		w.users = append(w.users, &domain.User{ID: name, Name: name, APIKeys: []domain.APIKey{{ID: "key of " + name}}})
	}
	return w
}

func (w *world) tag(tag string, names ...string) *world {
	for _, u := range w.users {
		if slices.Contains(names, u.ID) {
			u.TagIDs = append(u.TagIDs, tag)
		}
	}
	return w
}

func (w *world) policy(effect domain.Effect, consensus, condition string) *world {
	id := string(rune('A' + len(w.policies)))
	w.policies = append(w.policies, &domain.Policy{ID: id, Name: id, Effect: effect, Consensus: consensus, Condition: condition})
	return w
}

func (w *world) allow(consensus string) *world { return w.policy(domain.EffectAllow, consensus, "") }

func (w *world) deny(consensus string) *world { return w.policy(domain.EffectDeny, consensus, "") }

// on is the case of an activity that these users have approved.
func (w *world) on(own string, approvers ...string) *Input {
	a := &domain.Activity{}
	for _, name := range approvers {
		a.Votes = append(a.Votes, domain.Vote{
			UserID: name, Selection: domain.VoteApproved, CredentialID: "key of " + name, CreatedAt: noon,
		})
	}
	user := func(id string) (*domain.User, error) {
		for _, u := range w.users {
			if u.ID == id {
				return u, nil
			}
		}
		return nil, nil
	}
	return &Input{
		Organization: &w.org, Rules: NewRules(w.policies, w.users), Activity: a, Now: noon, OwnUser: own, User: user,
		Users: func() ([]*domain.User, error) { return w.users, nil },
		Facts: func() (*fact.Request, error) {
			return &fact.Request{Activity: fact.Activity{Type: "ACTIVITY_TYPE_CREATE_WALLET", Resource: "WALLET", Action: "CREATE"}}, nil
		},
	}
}

func TestDecide(t *testing.T) {
	const (
		adaAndBob = "approvers.any(u, u.id == 'ada') && approvers.any(u, u.id == 'bob')"
		anyAda    = "approvers.any(u, u.id == 'ada')"
		anyRoot   = "approvers.any(u, u.id == 'root')"
		twoAdmins = "approvers.filter(u, u.tags.contains('admin')).count() >= 2"
		oneAdmin  = "approvers.filter(u, u.tags.contains('admin')).count() >= 1"
	)
	for _, c := range []struct {
		name string
		c    *Input
		want Outcome
	}{
		{"the only root user", newWorld(1, "root").on("", "root"), Allow},
		{"one of several root users", newWorld(1, "root", "second").on("", "second"), Allow},
		{"root user below the threshold waits", newWorld(2, "root", "second").on("", "root"), Pending},
		{"both root users", newWorld(2, "root", "second").on("", "root", "second"), Allow},
		{"one root user twice is one", newWorld(2, "root", "second").on("", "root", "root"), Pending},
		{"threshold zero is closed", newWorld(0, "root").on("", "ada"), Deny},
		{"threshold zero never allows", newWorld(0, "root").on("", "root"), Pending},
		{"ordinary user", newWorld(1, "root").on("", "ada"), Deny},
		{"ordinary user on their own credentials", newWorld(1, "root").on("ada", "ada"), Allow},
		{"ordinary user on another", newWorld(1, "root").on("bob", "ada"), Deny},
		{"root user below the threshold on their own credentials", newWorld(2, "root", "second").on("root", "root"), Allow},
		{"own credentials against a deny", newWorld(1, "root").deny(anyAda).on("ada", "ada"), Deny},
		{"own credentials that must wait", newWorld(1, "root").allow(adaAndBob).on("ada", "ada"), Pending},

		{"both are named: one waits", newWorld(1, "root").allow(adaAndBob).on("", "ada"), Pending},
		{"both are named: both", newWorld(1, "root").allow(adaAndBob).on("", "ada", "bob"), Allow},
		{"both are named: another user", newWorld(1, "root").allow(adaAndBob).on("", "eve"), Deny},
		{"an admin is needed, another asks", newWorld(1, "root").tag("admin", "ada").allow(oneAdmin).on("", "eve"), Deny},
		{"agent and admin: the agent asks", newWorld(1, "root").tag("admin", "bob").tag("agent", "ada").
			allow("approvers.any(u, u.tags.contains('agent')) && "+oneAdmin).on("", "ada"), Pending},
		{"any two users", newWorld(1, "root").allow("approvers.count() >= 2").on("", "eve"), Pending},
		{"two admins: the first", newWorld(1, "root").tag("admin", "ada", "bob").allow(twoAdmins).on("", "ada"), Pending},
		{"two admins: another", newWorld(1, "root").tag("admin", "ada", "bob").allow(twoAdmins).on("", "eve"), Deny},
		{"two admins, but there is one", newWorld(1, "root").tag("admin", "ada").allow(twoAdmins).on("", "ada"), Deny},
		{"a count of zero approvers still needs the submitter", newWorld(1, "root").allow("approvers.count() >= 0").on("", "eve"), Allow},

		{"a deny closes the policy path", newWorld(1, "root").allow(anyAda).deny(anyAda).on("", "ada"), Deny},
		{"a deny about another user", newWorld(1, "root").allow(anyAda).deny("approvers.any(u, u.id == 'bob')").on("", "ada"), Allow},
		{"a deny does not bind the quorum", newWorld(1, "root").deny(anyRoot).on("", "root"), Allow},
		{"a deny leaves the root path open", newWorld(2, "root", "second").deny(anyRoot).on("", "root"), Pending},
		{"a policy allows a root member alone", newWorld(2, "root", "second").allow(anyRoot).on("", "root"), Allow},
		{"a root vote beside a consensus", newWorld(2, "root", "second").allow(adaAndBob).on("", "ada", "root"), Pending},
		{"the consensus goes on beside a root vote", newWorld(2, "root", "second").allow(adaAndBob).on("", "ada", "root", "bob"), Allow},
		{"a policy that does not compile allows nothing", newWorld(1, "root").allow("this is none").on("", "ada"), Deny},
		{"a deny that does not compile denies", newWorld(1, "root").allow(anyAda).deny("this is none").on("", "ada"), Deny},
		{"an absent root does not apply", newWorld(1, "root").policy(domain.EffectDeny, "", "eth.tx.value > 1").allow(anyAda).on("", "ada"), Allow},
		{"an allow of everything is none", newWorld(1, "root").policy(domain.EffectAllow, "", "").on("", "ada"), Deny},
		{"a condition that holds", newWorld(1, "root").policy(domain.EffectAllow, anyAda, "activity.resource == 'WALLET'").on("", "ada"), Allow},
		{"a condition that does not", newWorld(1, "root").policy(domain.EffectAllow, anyAda, "activity.resource == 'USER'").on("", "ada"), Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.c.Decide()
			if err != nil {
				t.Fatal(err)
			}
			if d.Outcome != c.want {
				t.Errorf("outcome %d, want %d: %+v", d.Outcome, c.want, d.Evaluations)
			}
			if len(d.Evaluations) != 0 && len(d.Evaluations) != len(c.c.Rules.policies)+len(c.c.Rules.broken) {
				t.Errorf("%d evaluations", len(d.Evaluations))
			}
		})
	}
}

// TestVotesThatDoNotCount takes a vote's ground away in every way.
func TestVotesThatDoNotCount(t *testing.T) {
	for name, spoil := range map[string]func(w *world, v *domain.Vote){
		"too old":     func(_ *world, v *domain.Vote) { v.CreatedAt = noon.Add(-24 * time.Hour) },
		"a rejection": func(_ *world, v *domain.Vote) { v.Selection = domain.VoteRejected },
		"of a user who is gone": func(w *world, _ *domain.Vote) {
			w.users = slices.DeleteFunc(w.users, func(u *domain.User) bool { return u.ID == "second" })
		},
		"credential deleted":    func(w *world, _ *domain.Vote) { w.users[1].APIKeys = nil },
		"credential of another": func(w *world, v *domain.Vote) { v.CredentialID = "key of root" },
		"without a say":         func(_ *world, v *domain.Vote) { v.Powerless = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(2, "root", "second")
			c := w.on("", "root", "second")
			if d, err := c.Decide(); err != nil || d.Outcome != Allow {
				t.Fatalf("before: %v %v", d, err)
			}
			c = w.on("", "root", "second")
			spoil(w, &c.Activity.Votes[1])
			d, err := c.Decide()
			if err != nil || d.Outcome != Pending {
				t.Errorf("after: %v %v", d, err)
			}
			if c.Counts("second") || !c.Counts("root") {
				t.Error("Counts does not agree")
			}
		})
	}
	// Users may manage their own credentials while they have the one that they
	// asked with.
	w := newWorld(2, "root", "second")
	c := w.on("ada", "ada", "root")
	if d, err := c.Decide(); err != nil || d.Outcome != Allow {
		t.Errorf("own credentials: %v %v", d, err)
	}
	w.users[3].APIKeys = nil
	if d, err := w.on("ada", "ada", "root").Decide(); err != nil || d.Outcome != Pending {
		t.Errorf("own credentials, without the credential: %v %v", d, err)
	}
	// A little before its end it counts, and a newer vote revives an old one.
	c = newWorld(2, "root", "second").on("", "root", "second", "second")
	c.Activity.Votes[0].CreatedAt = noon.Add(-24*time.Hour + time.Second)
	c.Activity.Votes[1].CreatedAt = noon.Add(-30 * time.Hour)
	if d, err := c.Decide(); err != nil || d.Outcome != Allow {
		t.Errorf("%v %v", d, err)
	}
}

func TestMayVote(t *testing.T) {
	w := newWorld(2, "root", "second").
		allow("approvers.any(u, u.id == 'ada') && approvers.any(u, u.id == 'bob')").
		policy(domain.EffectAllow, "approvers.any(u, u.id == 'ada') && approvers.any(u, u.id == 'eve')", "activity.resource == 'USER'")
	for name, want := range map[string]bool{"root": true, "second": true, "bob": true, "ada": true, "eve": false, "third": false} {
		c := w.on("", "ada")
		user, _ := c.User(name)
		if may, err := c.MayVote(user); err != nil || may != want {
			t.Errorf("%s may vote: %v %v", name, may, err)
		}
		c = w.on("", "root")
		c.By = RootQuorum
		if may, err := c.MayVote(user); err != nil || may != (name == "root" || name == "second") {
			t.Errorf("%s may vote where only root decides: %v %v", name, may, err)
		}
	}
}

func TestRefusal(t *testing.T) {
	w := newWorld(1, "root").allow("approvers.any(u, u.id == 'bob')").deny("approvers.any(u, u.id == 'ada')")
	d, err := w.on("", "ada").Decide()
	if err != nil {
		t.Fatal(err)
	}
	body := d.Refusal().Body()
	if body.Code != 7 || body.Message != "policy engine denied request explicitly" {
		t.Errorf("%+v", body)
	}
	detail := body.Details[len(body.Details)-1].(permissionDetail)
	if detail.Message != "The following policies denied this action: B" || len(detail.Evaluations) != 2 ||
		detail.Evaluations[0].Outcome != "OUTCOME_DENY_IMPLICIT" || detail.Evaluations[1].Outcome != "OUTCOME_DENY_EXPLICIT" {
		t.Errorf("%+v", detail)
	}
	d, err = newWorld(1, "root").on("", "ada").Decide()
	if err != nil || d.Refusal().Status() != 403 {
		t.Errorf("%v %v", d, err)
	}
}
