package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DisableAuthProxy ends what [EnableAuthProxy] began.
var DisableAuthProxy = activity.Op[DisableAuthProxyParams, DisableAuthProxyResult]{
	Spec: activity.Spec{
		Name: "disable_auth_proxy", Version: 1,
		Summary: "Refuse all requests to the auth proxy. Its configuration and the id of it stay for when it is enabled again.",
		Govern:  activity.Govern{Resource: activity.ResourceAuthProxy, Action: activity.ActionDelete},
	},
	Exec: disableAuthProxy,
}

// DisableAuthProxyParams are the parameters of disable_auth_proxy: none.
type DisableAuthProxyParams struct{}

// DisableAuthProxyResult is empty.
type DisableAuthProxyResult struct{}

func disableAuthProxy(_ context.Context, e activity.Env, _ *DisableAuthProxyParams) (DisableAuthProxyResult, error) {
	if _, err := authProxyOf(e); err != nil {
		return DisableAuthProxyResult{}, err
	}
	_, err := editOrganization(e, func(o *domain.Organization) {
		o.AuthProxy.Enabled, o.AuthProxy.UpdatedAt = false, e.Now
		o.Features = slices.DeleteFunc(o.Features, func(f domain.Feature) bool { return f.Name == domain.FeatureAuthProxy })
	})
	return DisableAuthProxyResult{}, err
}
