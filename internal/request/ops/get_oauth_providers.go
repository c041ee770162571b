package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetOauthProviders reads identities at OpenID providers.
var GetOauthProviders = activity.Query[GetOauthProvidersParams, GetOauthProvidersReply]{
	Name:    "get_oauth_providers",
	Summary: "Read the identities at OpenID providers of one user, or of the whole organization.",
	Read:    getOauthProviders,
}

// GetOauthProvidersParams are the parameters of get_oauth_providers.
type GetOauthProvidersParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId,omitzero" check:"uuid" doc:"User whose identities to read; leave out for those of all users."`
}

// GetOauthProvidersReply is the reply of get_oauth_providers.
type GetOauthProvidersReply struct {
	OauthProviders []record.OauthProvider `json:"oauthProviders" check:"required" doc:"Identities."`
}

func getOauthProviders(_ context.Context, r activity.Reader, p *GetOauthProvidersParams) (GetOauthProvidersReply, error) {
	users, err := usersNamed(r, p.UserID)
	if err != nil {
		return GetOauthProvidersReply{}, err
	}
	var reply GetOauthProvidersReply
	for _, u := range users {
		reply.OauthProviders = append(reply.OauthProviders, record.Each(u.OAuthProviders, record.OfOauthProvider)...)
	}
	return reply, nil
}
