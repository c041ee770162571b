package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"latchkey/client"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// right is something that a user needs to sign with a key, and how a root user gives
// it and takes it away.
type right struct {
	signer     *Caller
	signWith   string
	give, take func(root *Caller) Value
	refused    int // HTTP status of a signature without it
}

// rights are set up with the right given.
var rights = map[string]func(t *testing.T, s *Server) right{
	"a policy that allows": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		allow := allowTo(t, s, r.signer)
		r.give = func(root *Caller) Value {
			a := root.Submit(t, "create_policy", signPolicy("EFFECT_ALLOW", r.signer))
			allow = a.Get("result", "createPolicyResult", "policyId").Text()
			return a
		}
		r.take = func(root *Caller) Value { return root.Submit(t, "delete_policy", m{"policyId": allow}) }
		return r
	},
	"no policy that denies": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		allowTo(t, s, r.signer)
		var deny string
		r.give = func(root *Caller) Value { return root.Submit(t, "delete_policy", m{"policyId": deny}) }
		r.take = func(root *Caller) Value {
			a := root.Submit(t, "create_policy", signPolicy("EFFECT_DENY", r.signer))
			deny = a.Get("result", "createPolicyResult", "policyId").Text()
			return a
		}
		return r
	},
	"what a policy says": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		allow := allowTo(t, s, r.signer)
		r.give = func(root *Caller) Value {
			return root.Submit(t, "update_policy", m{"policyId": allow, "policyEffect": "EFFECT_ALLOW"})
		}
		r.take = func(root *Caller) Value {
			return root.Submit(t, "update_policy", m{"policyId": allow, "policyEffect": "EFFECT_DENY"})
		}
		return r
	},
	"a tag": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		id := s.Root.Submit(t, "create_user_tag", m{"userTagName": "signers", "userIds": []any{r.signer.UserID}}).
			Get("result", "createUserTagResult", "userTagId").Text()
		policy(t, s.Root, "signers sign", "EFFECT_ALLOW", fmt.Sprintf("approvers.any(user, user.tags.contains('%s'))", id), "true")
		r.give = func(root *Caller) Value {
			return root.Submit(t, "update_user_tag", m{"userTagId": id, "addUserIds": []any{r.signer.UserID}, "removeUserIds": []any{}})
		}
		r.take = func(root *Caller) Value {
			return root.Submit(t, "update_user_tag", m{"userTagId": id, "addUserIds": []any{}, "removeUserIds": []any{r.signer.UserID}})
		}
		return r
	},
	"an API key": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		allowTo(t, s, r.signer)
		r.refused = http.StatusUnauthorized
		give := func(key client.PrivateKey) func(root *Caller) Value {
			return func(root *Caller) Value {
				return root.Submit(t, "create_api_keys", m{"userId": r.signer.UserID, "apiKeys": []any{apiKey(key)}})
			}
		}
		give(s.Stranger(t, s.Root).Key)(s.Root) // or the last key could not be deleted
		r.give = give(r.signer.Key)
		r.take = func(root *Caller) Value {
			for _, key := range root.Query(t, "get_api_keys", m{"userId": r.signer.UserID}).Get("apiKeys").List() {
				if key.Get("credential", "publicKey").Text() == r.signer.Key.PublicKey() {
					return root.Submit(t, "delete_api_keys", m{"userId": r.signer.UserID, "apiKeyIds": []any{key.Get("apiKeyId").Text()}})
				}
			}
			t.Fatal("the signer's key is not listed")
			return Value{}
		}
		return r
	},
	"a user": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		policy(t, s.Root, "all sign", "EFFECT_ALLOW", "true", "activity.action == 'SIGN'")
		r.refused = http.StatusUnauthorized
		id := r.signer.UserID
		r.give = func(root *Caller) Value {
			a := root.Submit(t, "create_users", m{"users": []any{m{
				"userName": "signer", "apiKeys": []any{apiKey(r.signer.Key)}, "authenticators": []any{}, "oauthProviders": []any{}, "userTags": []any{},
			}}})
			id = a.Get("result", "createUsersResult", "userIds", 0).Text()
			return a
		}
		r.take = func(root *Caller) Value { return root.Submit(t, "delete_users", m{"userIds": []any{id}}) }
		return r
	},
	"a seat in the root quorum": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		seats := func(users ...any) func(root *Caller) Value {
			return func(root *Caller) Value {
				return root.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": users})
			}
		}
		r.give, r.take = seats(s.Root.UserID, r.signer.UserID), seats(s.Root.UserID)
		r.give(s.Root)
		return r
	},
	"a wallet account": func(t *testing.T, s *Server) right {
		r := signer(t, s)
		allowTo(t, s, r.signer)
		r.refused = http.StatusNotFound
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "wallet", "accounts": []any{}}).
			Get("result", "createWalletResult", "walletId").Text()
		r.give = func(root *Caller) Value {
			return root.Submit(t, "create_wallet_accounts", m{"walletId": wallet, "accounts": []any{m{
				"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
			}}})
		}
		r.take = func(root *Caller) Value {
			account := root.Query(t, "list_wallet_accounts", m{"walletId": wallet}).Get("accounts", 0, "walletAccountId").Text()
			return root.Submit(t, "delete_wallet_accounts", m{"walletAccountIds": []any{account}, "deleteWithoutExport": true})
		}
		r.signWith = r.give(s.Root).Get("result", "createWalletAccountsResult", "addresses", 0).Text()
		return r
	},
}

// signer is a user without rights, and a key to sign with.
func signer(t *testing.T, s *Server) right {
	return right{signer: s.NewUser(t, s.Root, "signer", client.P256), signWith: signingKey(t, s), refused: http.StatusForbidden}
}

func apiKey(key client.PrivateKey) m {
	return m{"apiKeyName": key.PublicKey()[:8], "publicKey": key.PublicKey(), "curveType": key.Curve().CurveType()}
}

func signPolicy(effect string, by *Caller) m {
	return m{
		"policyName": effect, "effect": effect, "notes": "",
		"consensus": fmt.Sprintf("approvers.any(user, user.id == '%s')", by.UserID), "condition": "activity.action == 'SIGN'",
	}
}

func allowTo(t *testing.T, s *Server, signer *Caller) string {
	return s.Root.Submit(t, "create_policy", signPolicy("EFFECT_ALLOW", signer)).Get("result", "createPolicyResult", "policyId").Text()
}

// TestRightsAreLinearizable gives and takes away what a user needs to sign, while that
// user signs: what all of them saw could have happened one after the other. So
// nothing is signed once the reply says that a right is gone, on whatever node. And
// the log has the same order.
func TestRightsAreLinearizable(t *testing.T) {
	eachNodes(t, func(t *testing.T, nodes ...*Server) {
		for name, setUp := range rights {
			t.Run(name, func(t *testing.T) {
				s := *nodes[0]
				s.Root = s.CreateOrganization(t, "Test organization")
				rightComesAndGoes(t, setUp(t, &s), &s, nodes)
			})
		}
	})
}

// change is what a root user does to a right: it is given or taken.
type change struct{ given bool }

func rightComesAndGoes(t *testing.T, r right, s *Server, nodes []*Server) {
	const changes, signers = 8, 3 // on each node
	payload := rawPayload(r.signWith)
	var mu sync.Mutex
	var history []porcupine.Operation
	order := map[string]*change{} // by activity; nil: a signature
	start := time.Now()
	note := func(client int, input, output any, called time.Duration, activity string) {
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{
			ClientId: client, Input: input, Call: called.Nanoseconds(), Output: output, Return: time.Since(start).Nanoseconds(),
		})
		if c, ok := input.(change); ok {
			order[activity] = &c
		} else if activity != "" {
			order[activity] = nil
		}
	}
	var asked atomic.Int64
	var over atomic.Bool
	var wait sync.WaitGroup
	for i := range signers * len(nodes) {
		caller := nodes[i%len(nodes)].As(r.signer)
		wait.Go(func() {
			for !over.Load() && !t.Failed() {
				called := time.Since(start)
				reply := caller.Post(t, "sign_raw_payload", caller.Body(t, "sign_raw_payload", payload))
				switch reply.Status {
				case http.StatusOK:
					note(i, nil, true, called, reply.JSON(t).Get("activity", "id").Text())
				case r.refused:
					note(i, nil, false, called, "")
				default:
					t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
				}
				asked.Add(1)
			}
		})
	}
	for i := range changes {
		target := asked.Load() + 4*signers
		until(t, "signatures are asked for", func() bool { return t.Failed() || asked.Load() >= target })
		root, do := nodes[i%len(nodes)].As(s.Root), r.take
		if i%2 == 1 {
			do = r.give
		}
		called := time.Since(start)
		note(signers*len(nodes), change{i%2 == 1}, nil, called, do(root).Get("id").Text())
	}
	over.Store(true)
	wait.Wait()
	if !porcupine.CheckOperations(rightModel, history) {
		t.Errorf("this cannot have happened one after the other: %+v", history)
	}
	checkOrder(t, s, order)
}

// rightModel has as its state whether the right is given.
var rightModel = porcupine.Model{
	Init: func() any { return true },
	Step: func(state, input, output any) (bool, any) {
		if c, ok := input.(change); ok {
			return true, c.given
		}
		return state == output, state
	},
}

// checkOrder checks that the log has every activity that was acknowledged, and that
// each signature rests on a state of the organization in which the right was given. (The
// order of entries whose commits overlapped says less: on PostgreSQL it can be either.)
func checkOrder(t *testing.T, s *Server, order map[string]*change) {
	t.Helper()
	type entry struct {
		state int64
		what  *change
	}
	var entries []entry
	log := s.Store.ReadLog(store.Place{})
	for more := true; more; {
		var list []store.LogEntry
		var err error
		if list, more, err = log.Next(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			e := &list[i]
			if what, known := order[e.Activity]; known && bytes.Contains(e.Record(1), []byte(completed)) {
				entries = append(entries, entry{e.Version(), what})
				delete(order, e.Activity)
			}
		}
	}
	if len(order) > 0 {
		t.Errorf("%d activities were acknowledged and are not in the log", len(order))
	}
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case a.state != b.state:
			return cmp.Compare(a.state, b.state)
		case a.what != nil: // it made the state
			return -1
		case b.what != nil:
			return 1
		}
		return 0
	})
	given := true
	for _, e := range entries {
		if e.what != nil {
			given = e.what.given
		} else if !given {
			t.Errorf("a signature rests on state %d, in which the right was gone", e.state)
		}
	}
}
