package ops

import (
	"context"
	"fmt"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/suggest"
	"latchkey/internal/velocity"
)

// CreateVelocityControl creates a limit over time.
var CreateVelocityControl = activity.Op[CreateVelocityControlParams, CreateVelocityControlResult]{
	Spec: activity.Spec{
		Name: "create_velocity_control", Version: 1,
		Summary: "Create a limit over time, which policies read as controls.<identifier>.",
		Govern:  activity.Govern{Resource: activity.ResourceVelocityControl, Action: activity.ActionCreate},
	},
	Exec: createVelocityControl,
}

// CreateVelocityControlParams are the parameters of create_velocity_control.
type CreateVelocityControlParams struct {
	Name        string                     `json:"name" check:"required,label" doc:"Human-readable name."`
	Identifier  string                     `json:"identifier" check:"required,max=64" doc:"What policies read: controls.<identifier>; unique in the organization." example:"daily_signatures"`
	DataSource  domain.VelocityDataSource  `json:"dataSource" check:"required" doc:"What is counted."`
	Aggregation domain.VelocityAggregation `json:"aggregation" check:"required" doc:"How it is counted, and compared with what."`
}

// Check refuses what no control can mean.
func (p *CreateVelocityControlParams) Check(problems *schema.Problems) {
	velocity.CheckIdentifier(p.Identifier, problems)
	velocity.Check(&p.DataSource, &p.Aggregation, problems)
}

// CreateVelocityControlResult is the result of create_velocity_control.
type CreateVelocityControlResult struct {
	VelocityControlID string           `json:"velocityControlId" check:"required,uuid" doc:"Id of the new control."`
	Findings          []ControlFinding `json:"findings,omitzero" doc:"Probable mistakes in the control."`
}

// ControlFinding is advice on a control that is probably not what its author
// meant.
type ControlFinding struct {
	Code    string `json:"code" check:"required" doc:"What kind of finding it is."`
	Message string `json:"message" check:"required" doc:"What is probably wrong."`
}

func createVelocityControl(_ context.Context, e activity.Env, p *CreateVelocityControlParams) (CreateVelocityControlResult, error) {
	if err := checkLimit(e.Limits.VelocityControls, "velocity controls", func(n int) (int, error) {
		list, err := e.Tx.VelocityControls().List("", n)
		return len(list), err
	}); err != nil {
		return CreateVelocityControlResult{}, err
	}
	added := &domain.VelocityControl{
		ID: e.NewID(), Name: p.Name, Identifier: p.Identifier, DataSource: p.DataSource, Aggregate: p.Aggregation, CreatedAt: e.Now,
	}
	findings := ControlFindings(e.Catalog, &p.DataSource)
	return CreateVelocityControlResult{VelocityControlID: added.ID, Findings: findings}, e.Tx.VelocityControls().Insert(added)
}

// ControlFindings says which types of activities a control names that are not
// served: it counts none of them.
func ControlFindings(c *activity.Catalog, d *domain.VelocityDataSource) (findings []ControlFinding) {
	var kinds, types []string
	for _, path := range c.Endpoints {
		kinds = append(kinds, path.Newest().Kind())
		for _, op := range path.Versions {
			types = append(types, op.Type)
		}
	}
	for _, named := range velocity.Types(d) {
		if slices.Contains(types, named) || slices.Contains(kinds, velocity.KindOf(named)) {
			continue
		}
		message := fmt.Sprintf("no activity is of type %s on this server, so that the control counts none", named)
		if near := suggest.Name(named, 4, types); near != "" {
			message += "; did you mean " + near + "?"
		}
		findings = append(findings, ControlFinding{Code: "UNKNOWN_ACTIVITY_TYPE", Message: message})
	}
	return findings
}
