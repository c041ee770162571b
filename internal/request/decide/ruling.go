package decide

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
)

// Decider makes rulings. It alone has the vault's [vault.Issuer].
type Decider struct {
	issuer *vault.Issuer
}

// New makes the decider of a vault.
func New(i *vault.Issuer) *Decider { return &Decider{issuer: i} }

// Ruling is what was decided on one activity, for one intent. Only [Decider.Rule]
// makes one that allows anything: nothing else can open a vault session, and
// without one no operation is executed.
type Ruling struct {
	decision      *Decision
	authorization *vault.Authorization // nil unless it is allowed
}

// Rule decides on a recorded activity. What is only supposed, as in an
// explanation, is decided by [Input.Decide], which allows nothing.
func (d *Decider) Rule(in *Input) (*Ruling, error) {
	decision, err := in.Decide()
	if err != nil {
		return nil, err
	}
	r := &Ruling{decision: decision}
	if decision.Outcome == Allow {
		r.authorization = d.issuer.Authorize(vault.Scope{
			Organization: in.Activity.OrganizationID, Activity: in.Activity.ID, Intent: in.Intent,
		})
	}
	return r, nil
}

// Outcome is what was decided.
func (r *Ruling) Outcome() Outcome { return r.decision.Outcome }

// Demands are the multi-factor policies of those who approved the activity.
func (r *Ruling) Demands() []domain.MFADemand { return r.decision.Demands }

// Evaluations are what the policies said, where they were asked.
func (r *Ruling) Evaluations() []domain.Evaluation { return r.decision.Evaluations }

// Refusal is the error that a denied activity fails with.
func (r *Ruling) Refusal() *fault.Error { return r.decision.Refusal() }

// Begin opens the vault session of an allowed activity, once. It refuses a
// scope that differs in any part from what was decided on.
func (r *Ruling) Begin(asked vault.Scope, s vault.CiphertextStore) (*vault.Session, error) {
	if r == nil {
		r = &Ruling{}
	}
	return r.authorization.Begin(asked, s)
}
