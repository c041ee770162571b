package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetVelocityControl reads one limit over time.
var GetVelocityControl = activity.Query[GetVelocityControlParams, GetVelocityControlReply]{
	Name:    "get_velocity_control",
	Summary: "Read a limit over time; what it has counted is at /latchkey/v1/controls.",
	Read:    getVelocityControl,
}

// GetVelocityControlParams are the parameters of get_velocity_control.
type GetVelocityControlParams struct {
	OrganizationID    string `json:"organizationId" check:"required" doc:"Organization to read."`
	VelocityControlID string `json:"velocityControlId" check:"required,uuid" doc:"Control to read."`
}

// GetVelocityControlReply is the reply of get_velocity_control.
type GetVelocityControlReply struct {
	VelocityControl VelocityControl `json:"velocityControl" check:"required" doc:"The control."`
}

// VelocityControl is a limit over time as clients read it.
type VelocityControl struct {
	VelocityControlID string                     `json:"velocityControlId" check:"required,uuid" doc:"Id of the control."`
	OrganizationID    string                     `json:"organizationId" check:"required,uuid" doc:"Its organization."`
	Name              string                     `json:"name" check:"required" doc:"Human-readable name."`
	Identifier        string                     `json:"identifier" check:"required" doc:"What policies read: controls.<identifier>."`
	DataSource        domain.VelocityDataSource  `json:"dataSource" check:"required" doc:"What is counted."`
	Aggregation       domain.VelocityAggregation `json:"aggregation" check:"required" doc:"How it is counted, and compared with what."`
	CreatedAt         record.Timestamp           `json:"createdAt" check:"required" doc:"When the control was created; it counts from then on."`
	UpdatedAt         record.Timestamp           `json:"updatedAt" check:"required" doc:"The same: it never changes."`
}

func velocityControlRecord(org string) func(*domain.VelocityControl) VelocityControl {
	return func(c *domain.VelocityControl) VelocityControl {
		return VelocityControl{
			VelocityControlID: c.ID, OrganizationID: org, Name: c.Name, Identifier: c.Identifier,
			DataSource: c.DataSource, Aggregation: c.Aggregate, CreatedAt: record.Time(c.CreatedAt), UpdatedAt: record.Time(c.CreatedAt),
		}
	}
}

func getVelocityControl(_ context.Context, r activity.Reader, p *GetVelocityControlParams) (GetVelocityControlReply, error) {
	found, err := r.Tx.VelocityControls().Get(p.VelocityControlID)
	if err != nil {
		return GetVelocityControlReply{}, err
	}
	return GetVelocityControlReply{VelocityControl: velocityControlRecord(r.Tx.Org())(found)}, nil
}
