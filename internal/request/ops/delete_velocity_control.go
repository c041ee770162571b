package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
)

// DeleteVelocityControl deletes a limit over time that no policy reads.
var DeleteVelocityControl = activity.Op[DeleteVelocityControlParams, DeleteVelocityControlResult]{
	Spec: activity.Spec{
		Name: "delete_velocity_control", Version: 1,
		Summary: "Delete a limit over time that no policy reads.",
		Govern:  activity.Govern{Resource: activity.ResourceVelocityControl, Action: activity.ActionDelete},
	},
	Exec: deleteVelocityControl,
}

// DeleteVelocityControlParams are the parameters of delete_velocity_control.
type DeleteVelocityControlParams struct {
	VelocityControlID string `json:"velocityControlId" check:"required,uuid" doc:"Control to delete."`
}

// DeleteVelocityControlResult is the result of delete_velocity_control.
type DeleteVelocityControlResult struct {
	VelocityControlID string `json:"velocityControlId" check:"required,uuid" doc:"Control that was deleted."`
}

func deleteVelocityControl(_ context.Context, e activity.Env, p *DeleteVelocityControlParams) (DeleteVelocityControlResult, error) {
	control, err := e.Tx.VelocityControls().Get(p.VelocityControlID)
	if err != nil {
		return DeleteVelocityControlResult{}, err
	}
	policies, err := e.Tx.Policies().List("", 0)
	if err != nil {
		return DeleteVelocityControlResult{}, err
	}
	for _, stored := range policies {
		if slices.Contains(controlsOf(stored), control.Identifier) {
			return DeleteVelocityControlResult{}, fault.New(fault.FailedPrecondition, fault.ReasonUnspecified,
				"the policy %q reads controls.%s; change or delete the policy first", stored.Name, control.Identifier)
		}
	}
	return DeleteVelocityControlResult(*p), e.Tx.VelocityControls().Delete(p.VelocityControlID)
}

// controlsOf lists the velocity controls that a policy reads.
func controlsOf(p *domain.Policy) []string {
	compiled, err := decide.Compile(p)
	if err != nil {
		return nil // a policy that cannot be read reads nothing
	}
	return compiled.Condition.Controls()
}

// checkControls refuses a policy that reads a velocity control which the
// organization does not have.
func checkControls(tx *store.Tx, p *domain.Policy) error {
	for _, identifier := range controlsOf(p) {
		found, err := tx.VelocityControls().Find(store.ByName, identifier)
		if err != nil {
			return err
		}
		if found == nil {
			return fault.Invalid("invalid policy condition: the organization has no velocity control with the identifier %s, which the policy %q reads; create the control first", identifier, p.Name)
		}
	}
	return nil
}
