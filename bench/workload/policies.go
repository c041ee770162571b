package workload

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// policies is how many there are for the member. One of them allows its transfers.
const policies = 20

type policy struct {
	Name      string `json:"policyName"`
	Effect    string `json:"effect"`
	Condition string `json:"condition"`
	Consensus string `json:"consensus,omitzero"`
	Notes     string `json:"notes"`
}

// memberPolicies are those of a user who may send limited amounts to a list of
// recipients: one policy each, as consoles write them, and some for all users.
func memberPolicies(userID string) []policy {
	consensus := fmt.Sprintf("approvers.any(user, user.id == '%s')", userID)
	all := []policy{
		{Name: "Never large amounts", Effect: "EFFECT_DENY", Condition: "eth.tx.value > 10000000000000000000"},
		{Name: "Never approve spenders", Effect: "EFFECT_DENY", Condition: "eth.tx.data[0..10] == '0x095ea7b3'"},
		{Name: "Never other chains", Effect: "EFFECT_DENY", Condition: "eth.tx.chain_id != 1 && eth.tx.chain_id != 137 && eth.tx.chain_id != 8453"},
		{Name: "Treasury by two", Effect: "EFFECT_ALLOW", Condition: "wallet.label == 'Treasury'", Consensus: "approvers.count() >= 2"},
	}
	for i := range policies - len(all) {
		to := recipient
		if i != 10 {
			to[0], to[1] = 0xff, byte(i)
		}
		all = append(all, policy{
			Name: fmt.Sprintf("Recipient %d", i), Effect: "EFFECT_ALLOW", Consensus: consensus,
			Condition: fmt.Sprintf("activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' && eth.tx.to == '0x%x' && eth.tx.chain_id == %d && eth.tx.value <= %d", to, chainID, 10*amount),
		})
	}
	for i := range all {
		all[i].Name += " " + userID[len(userID)-8:]
	}
	return all
}

func (o *Organization) createPolicies(userID string) *draft {
	list, err := json.Marshal(memberPolicies(userID))
	if err != nil {
		return &draft{err: err}
	}
	return o.submit("create_policies", "", fmt.Appendf(nil, `{"policies":%s}`, list), func(r *result) error {
		if len(r.PolicyIDs) != policies {
			return errResult
		}
		return nil
	})
}
