package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// SetOrganizationFeature switches a feature on, or gives it another value.
var SetOrganizationFeature = activity.Op[SetOrganizationFeatureParams, OrganizationFeaturesResult]{
	Spec: activity.Spec{
		Name: "set_organization_feature", Version: 1,
		Summary: "Switch a feature of the organization on, or change its value. Only the root quorum may.",
		Govern:  activity.Govern{By: decide.RootQuorum},
	},
	Exec: setOrganizationFeature,
}

// SetOrganizationFeatureParams are the parameters of set_organization_feature.
type SetOrganizationFeatureParams struct {
	Name  domain.FeatureName `json:"name" check:"required,enum=FEATURE_NAME_EMAIL_AUTH|FEATURE_NAME_EMAIL_RECOVERY|FEATURE_NAME_OTP_EMAIL_AUTH|FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY|FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS|FEATURE_NAME_SMS_AUTH|FEATURE_NAME_WEBAUTHN_ORIGINS|FEATURE_NAME_WEBHOOK" doc:"Feature to set."`
	Value string             `json:"value" check:"max=4096" doc:"Its value: origins separated by commas for FEATURE_NAME_WEBAUTHN_ORIGINS, a URL for FEATURE_NAME_WEBHOOK, empty or true for the others." example:"true"`
}

// Check refuses a value that the feature cannot have.
func (p *SetOrganizationFeatureParams) Check(problems *schema.Problems) {
	if problem := featureProblem(p.Name, p.Value); problem != "" {
		problems.Add("value", "%s", problem)
	}
}

func setOrganizationFeature(_ context.Context, e activity.Env, p *SetOrganizationFeatureParams) (OrganizationFeaturesResult, error) {
	if p.Name == domain.FeatureWebhook {
		if err := checkURL(e, "value", p.Value); err != nil {
			return OrganizationFeaturesResult{}, err
		}
		if err := setFeatureEndpoint(e, p.Value); err != nil {
			return OrganizationFeaturesResult{}, err
		}
	}
	org, err := editOrganization(e, func(o *domain.Organization) {
		feature := domain.Feature{Name: p.Name, Value: p.Value}
		if i := slices.IndexFunc(o.Features, func(f domain.Feature) bool { return f.Name == p.Name }); i >= 0 {
			o.Features[i] = feature
		} else {
			o.Features = append(o.Features, feature)
		}
	})
	return featuresOf(org, err)
}
