package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/webhook/target"
)

// This file holds what the operations on the organization itself have in
// common.

// editOrganization changes the organization. It refuses a change after which
// too few root users have a lasting way to log in: it could never be undone.
// Other users may lose theirs by the decision of the root quorum.
func editOrganization(e activity.Env, change func(*domain.Organization)) (*domain.Organization, error) {
	var edited *domain.Organization
	err := e.Tx.Organizations().Edit(e.Tx.Org(), func(o *domain.Organization) error {
		could, err := rootsCanLogIn(e, o)
		if err != nil {
			return err
		}
		change(o)
		o.UpdatedAt = e.Now
		edited = o
		can, err := rootsCanLogIn(e, o)
		if err == nil && could && !can {
			err = fault.Invalid("user missing valid credential: fewer root users than the quorum's threshold of %d "+
				"would have a lasting way to log in, and that could never be changed again", o.RootQuorum.Threshold)
		}
		return err
	})
	return edited, err
}

// rootsCanLogIn reports whether as many members of the root quorum as it needs
// have a lasting way to log in.
func rootsCanLogIn(e activity.Env, o *domain.Organization) (bool, error) {
	var able []string
	for _, id := range o.RootQuorum.UserIDs {
		user, err := e.Tx.Users().Lookup(id)
		if err != nil {
			return false, err
		}
		if user != nil && user.CanLogIn(o) {
			able = append(able, id)
		}
	}
	return o.RootQuorum.Reached(able...), nil
}

// featureProblem says what is wrong with the value of a feature, "" if nothing
// is.
func featureProblem(name domain.FeatureName, value string) string {
	switch name {
	case domain.FeatureOrigins:
		return originsProblem(value)
	case domain.FeatureWebhook:
		if _, err := target.Parse(value); err != nil {
			return err.Error()
		}
		return ""
	default:
		// A caller who sets "false" would expect it to be off, and it would be on.
		if value != "" && value != "true" {
			return "must be empty or true: the feature is a switch, which remove_organization_feature turns off"
		}
		return ""
	}
}

// OrganizationFeaturesResult is the result of the operations on features.
type OrganizationFeaturesResult struct {
	Features []Feature `json:"features" check:"required" doc:"Features that are on now."`
}

func featuresOf(o *domain.Organization, err error) (OrganizationFeaturesResult, error) {
	if err != nil {
		return OrganizationFeaturesResult{}, err
	}
	return OrganizationFeaturesResult{
		Features: record.Each(o.Features, func(f domain.Feature) Feature { return Feature(f) }),
	}, nil
}

// Feature is a switch that is on.
type Feature struct {
	Name  domain.FeatureName `json:"name" check:"required" doc:"Name of the feature."`
	Value string             `json:"value" check:"required,allowempty" doc:"Its setting."`
}
