package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// RemoveOrganizationFeature switches a feature off.
var RemoveOrganizationFeature = activity.Op[RemoveOrganizationFeatureParams, OrganizationFeaturesResult]{
	Spec: activity.Spec{
		Name: "remove_organization_feature", Version: 1,
		Summary: "Switch a feature of the organization off. Only the root quorum may. Removing a feature that is off already succeeds.",
		Govern:  activity.Govern{By: decide.RootQuorum},
	},
	// A session that could unlock itself would not be locked.
	Adds: func(p *RemoveOrganizationFeatureParams) decide.Added {
		return decide.Added{Forever: p.Name == domain.FeatureSessionsAddNoCredentials}
	},
	Exec: removeOrganizationFeature,
}

// RemoveOrganizationFeatureParams are the parameters of
// remove_organization_feature.
type RemoveOrganizationFeatureParams struct {
	Name domain.FeatureName `json:"name" check:"required,enum=FEATURE_NAME_EMAIL_AUTH|FEATURE_NAME_EMAIL_RECOVERY|FEATURE_NAME_OTP_EMAIL_AUTH|FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY|FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS|FEATURE_NAME_SMS_AUTH|FEATURE_NAME_WEBAUTHN_ORIGINS|FEATURE_NAME_WEBHOOK" doc:"Feature to remove."`
}

func removeOrganizationFeature(_ context.Context, e activity.Env, p *RemoveOrganizationFeatureParams) (OrganizationFeaturesResult, error) {
	org, err := e.Tx.Organization()
	if err != nil || !org.HasFeature(p.Name) {
		return featuresOf(org, err)
	}
	if p.Name == domain.FeatureWebhook {
		if err := setFeatureEndpoint(e, ""); err != nil {
			return OrganizationFeaturesResult{}, err
		}
	}
	return featuresOf(editOrganization(e, func(o *domain.Organization) {
		o.Features = slices.DeleteFunc(o.Features, func(f domain.Feature) bool { return f.Name == p.Name })
	}))
}
