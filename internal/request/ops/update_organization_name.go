package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// UpdateOrganizationName renames the organization.
var UpdateOrganizationName = activity.Op[UpdateOrganizationNameParams, UpdateOrganizationNameResult]{
	Spec: activity.Spec{
		Name: "update_organization_name", Version: 1,
		Summary: "Rename the organization. Only the root quorum may.",
		Govern:  activity.Govern{By: decide.RootQuorum},
	},
	Exec: updateOrganizationName,
}

// UpdateOrganizationNameParams are the parameters of update_organization_name.
type UpdateOrganizationNameParams struct {
	OrganizationName string `json:"organizationName" check:"required,label" doc:"New name."`
}

// UpdateOrganizationNameResult is the result of update_organization_name.
type UpdateOrganizationNameResult struct {
	OrganizationID   string `json:"organizationId" check:"required,uuid" doc:"Id of the organization."`
	OrganizationName string `json:"organizationName" check:"required" doc:"Its new name."`
}

func updateOrganizationName(_ context.Context, e activity.Env, p *UpdateOrganizationNameParams) (UpdateOrganizationNameResult, error) {
	_, err := editOrganization(e, func(o *domain.Organization) { o.Name = p.OrganizationName })
	return UpdateOrganizationNameResult{OrganizationID: e.Tx.Org(), OrganizationName: p.OrganizationName}, err
}
