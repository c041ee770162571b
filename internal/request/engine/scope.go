package engine

import (
	"fmt"

	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
)

// withinScope refuses what the session of the caller may not do: every part of
// the intent must fulfil the condition of its profile. A condition that cannot be
// evaluated refuses. Callers without a profile may do what others decide on.
func (t *attempt) withinScope(intent *activity.Intent) error {
	scope := t.who.scope
	if scope == nil {
		return nil
	}
	expr, err := policy.Compile(policy.Condition, scope.Scope)
	if err != nil {
		return outOfScope(scope.ProfileID, err)
	}
	facts, err := intent.Describe(t.tx)
	if err != nil {
		return err
	}
	budget := policy.NewBudget(t.ctx)
	for _, part := range facts.Parts() {
		holds, err := expr.Eval(&policy.Env{Request: part, Now: t.Now(), Budget: budget})
		if given := budget.Err(); given != nil {
			return given // the request was given up
		}
		if err != nil || !holds {
			return outOfScope(scope.ProfileID, err)
		}
	}
	return nil
}

func outOfScope(profileID string, err error) error {
	why := ""
	if err != nil {
		why = fmt.Sprintf(" (%v)", err)
	}
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"request not authorized: the scope of the session profile %s does not include this activity%s; log in with another profile", profileID, why)
}
