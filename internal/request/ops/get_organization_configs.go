package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetOrganizationConfigs reads the organization's settings.
var GetOrganizationConfigs = activity.Query[InOrganization, GetOrganizationConfigsReply]{
	Name:    "get_organization_configs",
	Summary: "Read the features and the root quorum of the organization.",
	Read:    getOrganizationConfigs,
}

// GetOrganizationConfigsReply is the reply of get_organization_configs.
type GetOrganizationConfigsReply struct {
	Configs Configs `json:"configs" check:"required" doc:"The settings."`
}

// Configs are the settings of an organization.
type Configs struct {
	Features []Feature `json:"features" check:"required" doc:"Features that are on."`
	Quorum   Quorum    `json:"quorum" check:"required" doc:"The root quorum."`
}

// Quorum is a set of users of whom some must agree.
type Quorum struct {
	Threshold int32    `json:"threshold" check:"required" doc:"How many must agree."`
	UserIDs   []string `json:"userIds" check:"required,each=uuid" doc:"Members."`
}

func getOrganizationConfigs(_ context.Context, r activity.Reader, _ *InOrganization) (GetOrganizationConfigsReply, error) {
	org, err := r.Tx.Organization()
	if err != nil {
		return GetOrganizationConfigsReply{}, err
	}
	return GetOrganizationConfigsReply{Configs: Configs{
		Features: record.Each(org.Features, func(f domain.Feature) Feature { return Feature(f) }),
		Quorum:   Quorum(org.RootQuorum),
	}}, nil
}
