package policy

import (
	"fmt"
	"testing"
	"time"

	"latchkey/internal/policy/fact"
)

const benchCondition = `activity.resource == 'PRIVATE_KEY' && activity.action == 'SIGN' && wallet.id == 'w1' && ` +
	`eth.tx.to == '0xAB5801A7D398351B8BE11C439E05C5B3259AEC9B' && eth.tx.value <= 1000000000000000000`

const benchConsensus = `approvers.any(user, user.id == 'u2') && approvers.filter(user, user.tags.contains('t1')).count() >= 1`

func benchEnv() (*Env, []Voter) {
	users := []fact.User{{ID: "u1", Tags: []string{"t0", "t1"}}, {ID: "u2", Tags: []string{"t2"}}}
	env := &Env{
		Request: &fact.Request{
			Activity: fact.Activity{Type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", Kind: "SIGN_TRANSACTION", Resource: "PRIVATE_KEY", Action: "SIGN"},
			Wallet:   &fact.Wallet{ID: "w1"},
			Ethereum: &fact.EthereumTx{To: "0xab5801a7d398351b8be11c439e05c5b3259aec9b", Value: fact.Uint(5), Data: "0x"},
		},
		Consensus: &fact.Consensus{Approvers: users, Credentials: []fact.Credential{{ID: "c1", UserID: "u1"}}},
		Now:       time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
	}
	return env, []Voter{{User: users[0]}, {User: users[1]}}
}

func BenchmarkEval(b *testing.B) {
	env, _ := benchEnv()
	condition, consensus := compiled(b, Condition, benchCondition), compiled(b, Consensus, benchConsensus)
	b.ReportAllocs()
	for b.Loop() {
		x, err1 := condition.Eval(env)
		y, err2 := consensus.Eval(env)
		if !x || !y || err1 != nil || err2 != nil {
			b.Fatal(x, y, err1, err2)
		}
	}
}

func benchPolicies(b testing.TB) []Policy {
	var all []Policy
	for i := range 100 {
		all = append(all, Policy{
			ID:        fmt.Sprint(i),
			Condition: compiled(b, Condition, fmt.Sprintf("%s && eth.tx.nonce == %d", benchCondition, i)),
			Consensus: compiled(b, Consensus, benchConsensus),
		})
	}
	return all
}

func BenchmarkDecide100(b *testing.B) {
	env, voters := benchEnv()
	policies := benchPolicies(b)
	buffer := make([]Evaluation, 0, len(policies))
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(policies, env, voters, nil, buffer); d.Outcome != Allow {
			b.Fatal(d.Outcome)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(Condition, benchCondition); err != nil {
			b.Fatal(err)
		}
	}
}

func compiled(t testing.TB, p Place, source string) *Expr {
	t.Helper()
	e, err := Compile(p, source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return e
}
