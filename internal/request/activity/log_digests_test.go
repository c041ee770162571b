package activity

import (
	"crypto/sha256"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
)

// TestDecisionDigest: the text that is written by hand is that of the general encoder.
func TestDecisionDigest(t *testing.T) {
	if members := [...]int{reflect.TypeFor[decided]().NumField(), reflect.TypeFor[VoteEvaluation]().NumField(), reflect.TypeFor[PolicyEvaluation]().NumField()}; members != [...]int{2, 7, 3} {
		t.Errorf("what clients read has %v members: appendDecision must write them", members)
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := &domain.Activity{ID: "activity", OrganizationID: `org "anization"`, Refused: r.IntN(3) == 0}
		for range r.IntN(4) {
			v := domain.Vote{ID: "vote é", CreatedAt: time.Unix(r.Int64N(4e9), r.Int64N(1e9))}
			for range r.IntN(4) {
				e := domain.Evaluation{PolicyID: "policy", Outcome: "OUTCOME_ERROR", Denies: r.IntN(2) == 0}
				if r.IntN(9) == 0 {
					e.Reason = "a reason"
				}
				v.Evaluations = append(v.Evaluations, e)
			}
			if r.IntN(9) == 0 {
				v.Controls = []domain.ControlEvaluation{{ControlID: "control", Used: "1", Entry: 7}}
			}
			a.Votes = append(a.Votes, v)
		}
		want, err := json.Marshal(&decided{outcome(a), Evaluations(a)})
		if err == nil {
			err = (*jsontext.Value)(&want).Canonicalize()
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := decisionDigest(a)
		if err != nil || got != hexOf(sha256.Sum256(want)) {
			text, _ := appendDecision(nil, a)
			t.Fatalf("seed %d: %v\ngot  %s\nwant %s", seed, err, text, want)
		}
	}
}
