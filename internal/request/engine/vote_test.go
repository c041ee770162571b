package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"latchkey/client"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
)

const (
	completed = "ACTIVITY_STATUS_COMPLETED"
	waits     = "ACTIVITY_STATUS_CONSENSUS_NEEDED"
	failed    = "ACTIVITY_STATUS_FAILED"
	rejected  = "ACTIVITY_STATUS_REJECTED"
)

func wantStatus(t testing.TB, a Value, want string) {
	t.Helper()
	if got := a.Get("status").Text(); got != want {
		t.Errorf("status %s, want %s: %v", got, want, a)
	}
}

func fingerprint(a Value) m { return m{"fingerprint": a.Get("fingerprint").Text()} }

// board makes an organization whose root quorum is two of three.
func board(t *testing.T, s *Server) (ada, bob, eve *Caller) {
	t.Helper()
	ada = s.NewUser(t, s.Root, "Ada", client.P256)
	bob = s.NewUser(t, s.Root, "Bob", client.Ed25519)
	eve = s.NewUser(t, s.Root, "Eve", client.Secp256k1)
	s.Root.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{s.Root.UserID, ada.UserID, bob.UserID}})
	return ada, bob, eve
}

func policy(t *testing.T, root *Caller, name, effect, consensus, condition string) string {
	t.Helper()
	a := root.Submit(t, "create_policy", m{
		"policyName": name, "effect": effect, "consensus": consensus, "condition": condition, "notes": "",
	})
	wantStatus(t, a, completed)
	return a.Get("result", "createPolicyResult", "policyId").Text()
}

// TestRootQuorum leads one activity through two of three votes.
func TestRootQuorum(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada, bob, eve := board(t, s)
		a := s.Root.Submit(t, "create_wallet", m{"walletName": "Treasury", "accounts": []any{}})
		wantStatus(t, a, waits)
		if a.Get("canApprove").Any != false || a.Get("canReject").Any != true || len(a.Get("votes").List()) != 1 {
			t.Errorf("as its submitter sees it: %v", a)
		}
		if n := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 0 {
			t.Fatalf("%d wallets before the second vote", n)
		}
		seen := bob.Query(t, "get_activity", m{"activityId": a.Get("id").Text()}).Get("activity")
		if seen.Get("canApprove").Any != true {
			t.Errorf("Bob may approve: %v", seen)
		}
		if seen := eve.Query(t, "get_activity", m{"activityId": a.Get("id").Text()}).Get("activity"); seen.Get("canApprove").Any != false || seen.Get("canReject").Any != false {
			t.Errorf("Eve may not vote: %v", seen)
		}
		if got := len(ada.Query(t, "list_activities", m{"filterByStatus": []any{waits}}).Get("activities").List()); got != 1 {
			t.Errorf("%d activities wait", got)
		}

		// A user without a vote, the same vote twice, an unknown fingerprint.
		eve.Refused(t, http.StatusForbidden, "approve_activity", fingerprint(a))
		eve.Refused(t, http.StatusForbidden, "reject_activity", fingerprint(a))
		wantStatus(t, s.Root.Submit(t, "approve_activity", fingerprint(a)), waits)
		wantStatus(t, s.Root.Submit(t, "approve_activity", fingerprint(a)), waits)
		ada.Refused(t, http.StatusNotFound, "approve_activity", m{"fingerprint": "sha256:" + strings.Repeat("0", 64)})

		approval := ada.Body(t, "approve_activity", fingerprint(a))
		done := ada.MustPost(t, "approve_activity", approval).Get("activity")
		wantStatus(t, done, completed)
		if done.Get("id").Text() != a.Get("id").Text() || done.Get("result", "createWalletResult", "walletId").Text() == "" {
			t.Errorf("the approver gets the activity: %v", done)
		}
		votes := done.Get("votes").List()
		if len(votes) != 2 || votes[1].Get("message").Text() != string(approval) || votes[1].Get("userId").Text() != ada.UserID ||
			votes[1].Get("publicKey").Text() != ada.Key.PublicKey() {
			t.Errorf("votes: %v", votes)
		}
		if n := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 1 {
			t.Errorf("%d wallets", n)
		}
		// The same vote again is answered as it was; a new one comes too late.
		if again := ada.MustPost(t, "approve_activity", approval).Get("activity"); again.Get("status").Text() != completed {
			t.Errorf("again: %v", again)
		}
		if late := bob.Refused(t, http.StatusBadRequest, "approve_activity", fingerprint(a)); !strings.Contains(late.Get("message").Text(), "already completed") {
			t.Errorf("late: %v", late)
		}
		bob.Refused(t, http.StatusBadRequest, "reject_activity", fingerprint(a))
	})
}

// TestRejection ends an activity for good.
func TestRejection(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada, bob, _ := board(t, s)
		a := s.Root.Submit(t, "create_wallet", m{"walletName": "Treasury", "accounts": []any{}})
		gone := ada.Submit(t, "reject_activity", fingerprint(a))
		wantStatus(t, gone, rejected)
		if got := gone.Get("votes", 1, "selection").Text(); got != "VOTE_SELECTION_REJECTED" {
			t.Errorf("selection %s", got)
		}
		bob.Refused(t, http.StatusBadRequest, "approve_activity", fingerprint(a))
		if n := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 0 {
			t.Errorf("%d wallets", n)
		}
	})
}

// TestSameBytesApprove lets a second member submit the very same request.
func TestSameBytesApprove(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada, _, eve := board(t, s)
		body := s.Root.Body(t, "create_wallet", m{"walletName": "Treasury", "accounts": []any{}})
		wantStatus(t, s.Root.MustPost(t, "create_wallet", body).Get("activity"), waits)
		wantStatus(t, s.Root.MustPost(t, "create_wallet", body).Get("activity"), waits)
		eve.RefusedBody(t, http.StatusForbidden, "create_wallet", body)
		done := ada.MustPost(t, "create_wallet", body).Get("activity")
		wantStatus(t, done, completed)
		if message := done.Get("votes", 1, "message").Text(); message != string(body) {
			t.Errorf("the second vote is over %q", message)
		}
		wantStatus(t, s.Root.MustPost(t, "create_wallet", body).Get("activity"), completed)
	})
}

// TestSameApprovalOfTwoUsers counts two votes when two users approve with the
// same bytes, as a back end may prepare them.
func TestSameApprovalOfTwoUsers(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.Ed25519)
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 3, "userIds": []any{s.Root.UserID, ada.UserID, bob.UserID}})
		a := s.Root.Submit(t, "create_wallet", m{"walletName": "Treasury", "accounts": []any{}})
		approval := ada.Body(t, "approve_activity", fingerprint(a))
		wantStatus(t, ada.MustPost(t, "approve_activity", approval).Get("activity"), waits)
		wantStatus(t, ada.MustPost(t, "approve_activity", approval).Get("activity"), waits)
		done := bob.MustPost(t, "approve_activity", approval).Get("activity")
		wantStatus(t, done, completed)
		for i, who := range []*Caller{s.Root, ada, bob} {
			if got := done.Get("votes", i, "userId").Text(); got != who.UserID {
				t.Errorf("vote %d is of %s, want %s", i, got, who.UserID)
			}
		}
	})
}

// TestSameBytesAboutTheSubmitter refuses bytes that another user has sent, where
// the reply is about its submitter alone: it would be that user's session.
func TestSameBytesAboutTheSubmitter(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		key, err := client.GenerateKey(client.P256)
		if err != nil {
			t.Fatal(err)
		}
		for operation, parameters := range map[string]m{
			"create_read_only_session": {},
			"stamp_login":              {"publicKey": key.PublicKey()},
		} {
			body := s.Root.Body(t, operation, parameters)
			first := s.Root.MustPost(t, operation, body)
			refusal := ada.RefusedBody(t, http.StatusConflict, operation, body)
			if message := refusal.Get("message").Text(); !strings.Contains(message, "another user") || !strings.Contains(message, "timestampMs") {
				t.Errorf("%s: %s", operation, message)
			}
			if again := s.Root.MustPost(t, operation, body); again.Get("activity", "id").Text() != first.Get("activity", "id").Text() {
				t.Errorf("%s: the submitter does not get the same activity again", operation)
			}
		}
	})
}

// TestSpoiltRequest sends another user's bytes first, without the right to: that
// user still gets what they may do.
func TestSpoiltRequest(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		body := s.Root.Body(t, "create_wallet", m{"walletName": "Mine", "accounts": []any{}})
		ada.RefusedBody(t, http.StatusForbidden, "create_wallet", body)
		bob.RefusedBody(t, http.StatusForbidden, "create_wallet", body)
		done := s.Root.MustPost(t, "create_wallet", body).Get("activity")
		wantStatus(t, done, completed)
		votes := done.Get("votes").List()
		if len(votes) != 2 || votes[0].Get("userId").Text() != ada.UserID || votes[1].Get("userId").Text() != s.Root.UserID {
			t.Errorf("votes: %v", votes)
		}
		// Now it is done, for every user who asks.
		wantStatus(t, ada.MustPost(t, "create_wallet", body).Get("activity"), completed)
		if n := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 1 {
			t.Errorf("%d wallets", n)
		}
	})
}

// TestConsensusOfPolicy lets a policy ask for two, who are not of the root
// quorum.
func TestConsensusOfPolicy(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		consensus := fmt.Sprintf("approvers.any(u, u.id == '%s') && approvers.any(u, u.id == '%s')", ada.UserID, bob.UserID)
		id := policy(t, s.Root, "two", "EFFECT_ALLOW", consensus, "activity.resource == 'WALLET'")

		eve.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "Eve's", "accounts": []any{}})
		ada.Refused(t, http.StatusForbidden, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
		a := ada.Submit(t, "create_wallet", m{"walletName": "Ours", "accounts": []any{}})
		wantStatus(t, a, waits)
		eve.Refused(t, http.StatusForbidden, "approve_activity", fingerprint(a))
		done := bob.Submit(t, "approve_activity", fingerprint(a))
		wantStatus(t, done, completed)

		evaluations := eve.Query(t, "get_policy_evaluations", m{"activityId": a.Get("id").Text()}).Get("policyEvaluations").List()
		var outcomes []string
		for _, e := range evaluations {
			outcomes = append(outcomes, e.Get("policyEvaluations", 0, "policyId").Text(), e.Get("policyEvaluations", 0, "outcome").Text())
		}
		if want := []string{id, "OUTCOME_REQUIRES_CONSENSUS", id, "OUTCOME_ALLOW"}; !slices.Equal(outcomes, want) {
			t.Errorf("evaluations: %v", outcomes)
		}
		// A root user completes what a policy leaves waiting.
		a = ada.Submit(t, "create_wallet", m{"walletName": "Root's", "accounts": []any{}})
		wantStatus(t, s.Root.Submit(t, "approve_activity", fingerprint(a)), completed)
		// A DENY refuses at once, by name.
		denying := policy(t, s.Root, "not her", "EFFECT_DENY", fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID), "")
		refusal := ada.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "Denied", "accounts": []any{}})
		if refusal.Get("message").Text() != "policy engine denied request explicitly" ||
			!strings.Contains(refusal.Get("details", 1, "message").Text(), denying) {
			t.Errorf("refusal: %v", refusal)
		}
	})
}

// TestGroundTakenAway changes what a vote rests on between the votes.
func TestGroundTakenAway(t *testing.T) {
	const two = "approvers.filter(u, u.alias == 'Ada' || u.alias == 'Bob').count() >= 2"
	changes := map[string]func(t *testing.T, s *Server, root, ada *Caller, policyID string){
		"the credential is deleted": func(t *testing.T, s *Server, root, ada *Caller, _ string) {
			key := root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
			spare := s.Stranger(t, ada)
			root.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{m{
				"apiKeyName": "spare", "publicKey": spare.Key.PublicKey(), "curveType": client.P256.CurveType(),
			}}})
			root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		},
		"the user is deleted": func(t *testing.T, s *Server, root, ada *Caller, _ string) {
			root.Submit(t, "delete_users", m{"userIds": []any{ada.UserID}})
		},
		"the user is renamed": func(t *testing.T, s *Server, root, ada *Caller, _ string) {
			root.Submit(t, "update_user_name", m{"userId": ada.UserID, "userName": "Another name"})
		},
		"the policy asks for more": func(t *testing.T, s *Server, root, _ *Caller, id string) {
			root.Submit(t, "update_policy", m{"policyId": id, "policyConsensus": strings.Replace(two, ">= 2", ">= 3", 1)})
		},
		"the policy is deleted": func(t *testing.T, s *Server, root, _ *Caller, id string) {
			root.Submit(t, "delete_policy", m{"policyId": id})
		},
		"a DENY is added": func(t *testing.T, s *Server, root, ada *Caller, _ string) {
			policy(t, root, "no", "EFFECT_DENY", fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID), "")
		},
	}
	Each(t, func(t *testing.T, s *Server) {
		for name, change := range changes {
			t.Run(name, func(t *testing.T) {
				root := s.CreateOrganization(t, name)
				ada := s.NewUser(t, root, "Ada", client.P256)
				bob := s.NewUser(t, root, "Bob", client.P256)
				id := policy(t, root, "two", "EFFECT_ALLOW", two, "activity.resource == 'WALLET'")
				a := ada.Submit(t, "create_wallet", m{"walletName": "Ours", "accounts": []any{}})
				wantStatus(t, a, waits)
				change(t, s, root, ada, id)
				reply := bob.Post(t, "approve_activity", bob.Body(t, "approve_activity", fingerprint(a)))
				if reply.Status == http.StatusOK && reply.JSON(t).Get("activity", "status").Text() == completed {
					t.Errorf("it was executed on a vote that no longer counts: %s", reply.Body)
				}
				if n := len(root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 0 {
					t.Errorf("%d wallets", n)
				}
			})
		}
	})
}

// TestTagsOfAnotherOrganization gives two organizations a tag of one name: a
// policy means the one of its own.
func TestTagsOfAnotherOrganization(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		other := s.CreateOrganization(t, "Other")
		theirs := other.Submit(t, "create_user_tag", m{"userTagName": "admin", "userIds": []any{other.UserID}}).Get("result", "createUserTagResult", "userTagId").Text()
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		ours := s.Root.Submit(t, "create_user_tag", m{"userTagName": "admin", "userIds": []any{ada.UserID}}).Get("result", "createUserTagResult", "userTagId").Text()
		tagged := func(tag string) string { return fmt.Sprintf("approvers.any(u, u.tags.contains('%s'))", tag) }
		id := policy(t, s.Root, "theirs", "EFFECT_ALLOW", tagged(theirs), "activity.resource == 'WALLET'")
		wallet := m{"walletName": "Hers", "accounts": []any{}}
		ada.Refused(t, http.StatusForbidden, "create_wallet", wallet)
		s.Root.Submit(t, "update_policy", m{"policyId": id, "policyConsensus": tagged("admin")}) // names are no ids
		ada.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "Hers, still", "accounts": []any{}})
		s.Root.Submit(t, "update_policy", m{"policyId": id, "policyConsensus": tagged(ours)})
		wantStatus(t, ada.Submit(t, "create_wallet", m{"walletName": "Hers, now", "accounts": []any{}}), completed)
	})
}

// TestApprovalsAtOnce sends the last vote fifty times at the same moment, from
// two people, with different bytes: it is executed once.
func TestApprovalsAtOnce(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada, bob, _ := board(t, s)
		approveAtOnce(t, s.Root, []*Caller{ada, bob})
	})
	t.Run("two nodes", func(t *testing.T) {
		url := pgtest.URL(t)
		one := Start(t, url, config.Default())
		two := Start(t, url, config.Default())
		ada, bob, _ := board(t, one)
		approveAtOnce(t, one.Root, []*Caller{ada, bob, two.As(ada), two.As(bob)})
	})
}

func approveAtOnce(t *testing.T, root *Caller, approvers []*Caller) {
	t.Helper()
	a := root.Submit(t, "create_wallet", m{"walletName": "Once", "accounts": []any{}})
	var wait sync.WaitGroup
	replies := make([]Reply, 50)
	for i := range replies {
		c := approvers[i%len(approvers)]
		body := append(c.Body(t, "approve_activity", fingerprint(a)), strings.Repeat(" ", i)...)
		wait.Go(func() { replies[i] = c.Post(t, "approve_activity", body) })
	}
	wait.Wait()
	wallets := map[string]bool{}
	for _, r := range replies {
		switch r.Status {
		case http.StatusOK:
			if id := r.JSON(t).Get("activity", "result", "createWalletResult", "walletId").Text(); id != "" {
				wallets[id] = true
			}
		case http.StatusBadRequest: // it was finished already
		default:
			t.Errorf("HTTP %d: %s", r.Status, r.Body)
		}
	}
	if n := len(root.Query(t, "list_wallets", nil).Get("wallets").List()); n != 1 || len(wallets) != 1 {
		t.Errorf("%d wallets, %v", n, wallets)
	}
	votes := root.Query(t, "get_activity", m{"activityId": a.Get("id").Text()}).Get("activity", "votes").List()
	if len(votes) != 2 {
		t.Errorf("%d votes", len(votes))
	}
}

// TestFailureAfterApproval lets the executor refuse what was approved: the
// approver gets the failed activity, the submitter the error.
func TestFailureAfterApproval(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada, bob, _ := board(t, s)
		wantStatus(t, ada.Submit(t, "approve_activity", fingerprint(s.Root.Submit(t, "create_user_tag", tag("taken")))), completed)
		body := s.Root.Body(t, "create_user_tag", tag("taken"))
		a := s.Root.MustPost(t, "create_user_tag", body).Get("activity")
		wantStatus(t, a, waits)
		done := bob.Submit(t, "approve_activity", fingerprint(a))
		wantStatus(t, done, failed)
		if done.Get("failure", "code").Number() != 6 {
			t.Errorf("failure: %v", done.Get("failure"))
		}
		s.Root.RefusedBody(t, http.StatusConflict, "create_user_tag", body)
	})
}

// TestVotingIsLinearizable lets many vote on few activities at once, through two
// nodes, and checks that what all of them saw could have happened one after the
// other.
func TestVotingIsLinearizable(t *testing.T) {
	eachNodes(t, func(t *testing.T, nodes ...*Server) { linearizable(t, nodes[0], nodes...) })
}

// eachNodes runs a test on two nodes that share a PostgreSQL, and on one with SQLite,
// which has no other.
func eachNodes(t *testing.T, test func(t *testing.T, nodes ...*Server)) {
	url := pgtest.URL(t)
	one := Start(t, url, config.Default())
	two := Start(t, url, config.Default())
	t.Run("two nodes", func(t *testing.T) { test(t, one, two) })
	t.Run("sqlite", func(t *testing.T) { test(t, Start(t, SQLite(t), config.Default())) })
}

// ballot is what a voter does; the state of an activity is the set of those who
// approved it, as bits, and finished.
type ballot struct{ voter int }

type tally struct {
	approved uint
	done     bool
}

func linearizable(t *testing.T, s *Server, nodes ...*Server) {
	const people, threshold = 6, 3
	callers := []*Caller{s.Root}
	ids := []any{s.Root.UserID}
	for i := range people - 1 {
		c := s.NewUser(t, s.Root, fmt.Sprint("voter ", i), client.P256)
		callers, ids = append(callers, c), append(ids, c.UserID)
	}
	s.Root.Submit(t, "update_root_quorum", m{"threshold": threshold, "userIds": ids})
	model := porcupine.Model{
		Init: func() any { return tally{approved: 1} }, // the submitter's
		Step: func(state, input, output any) (bool, any) {
			before, status := state.(tally), output.(string)
			if before.done {
				return status == "late" || status == completed && before.approved&(1<<input.(ballot).voter) != 0, before
			}
			after := tally{approved: before.approved | 1<<input.(ballot).voter}
			count := 0
			for bits := after.approved; bits > 0; bits &= bits - 1 {
				count++
			}
			after.done = count >= threshold
			if after.done {
				return status == completed, after
			}
			return status == waits, after
		},
	}
	for round := range 12 {
		a := s.Root.Submit(t, "create_user_tag", tag(fmt.Sprint("round ", round)))
		var mu sync.Mutex
		var history []porcupine.Operation
		var wait sync.WaitGroup
		start := time.Now()
		for i := range 3 * people {
			voter := i % people
			c := nodes[i%len(nodes)].As(callers[voter])
			body := append(c.Body(t, "approve_activity", fingerprint(a)), strings.Repeat(" ", i)...)
			wait.Go(func() {
				called := time.Since(start)
				reply := c.Post(t, "approve_activity", body)
				status := "late"
				if reply.Status == http.StatusOK {
					status = reply.JSON(t).Get("activity", "status").Text()
				} else if reply.Status != http.StatusBadRequest {
					t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
				}
				mu.Lock()
				defer mu.Unlock()
				history = append(history, porcupine.Operation{
					ClientId: i, Input: ballot{voter}, Call: called.Nanoseconds(), Output: status, Return: time.Since(start).Nanoseconds(),
				})
			})
		}
		wait.Wait()
		if !porcupine.CheckOperations(model, history) {
			t.Errorf("round %d cannot have happened one after the other: %+v", round, history)
		}
	}
}
