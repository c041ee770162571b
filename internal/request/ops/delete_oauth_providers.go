package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteOauthProviders takes identities at OpenID providers from a user.
var DeleteOauthProviders = activity.Op[DeleteOauthProvidersParams, DeleteOauthProvidersResult]{
	Spec: activity.Spec{
		Name: "delete_oauth_providers", Version: 1,
		Summary: "Delete identities at OpenID providers from a user, who can then no longer log in with them.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionDelete},
	},
	OwnUser: func(p *DeleteOauthProvidersParams) string { return p.UserID },
	Exec:    deleteOauthProviders,
}

// DeleteOauthProvidersParams are the parameters of delete_oauth_providers.
type DeleteOauthProvidersParams struct {
	UserID      string   `json:"userId" check:"required,uuid" doc:"User whose identities are deleted."`
	ProviderIDs []string `json:"providerIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Identities to delete."`
}

// DeleteOauthProvidersResult is the result of delete_oauth_providers.
type DeleteOauthProvidersResult struct {
	ProviderIDs []string `json:"providerIds" check:"required,each=uuid" doc:"Identities that were deleted."`
}

func deleteOauthProviders(_ context.Context, e activity.Env, p *DeleteOauthProvidersParams) (DeleteOauthProvidersResult, error) {
	err := editUser(e, p.UserID, func(u *domain.User) error {
		return deleteCredentials(u, &u.OAuthProviders, "OAuth provider", func(o domain.OAuthProvider) string { return o.ID }, p.ProviderIDs)
	})
	return DeleteOauthProvidersResult{ProviderIDs: p.ProviderIDs}, err
}
