package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetAPIKeys reads API keys.
var GetAPIKeys = activity.Query[GetAPIKeysParams, GetAPIKeysReply]{
	Name:    "get_api_keys",
	Summary: "Read the API keys of one user, or of the whole organization.",
	Read:    getAPIKeys,
}

// GetAPIKeysParams are the parameters of get_api_keys.
type GetAPIKeysParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId,omitzero" check:"uuid" doc:"User whose keys to read; leave out for the keys of all users."`
}

// GetAPIKeysReply is the reply of get_api_keys.
type GetAPIKeysReply struct {
	APIKeys []record.APIKey `json:"apiKeys" check:"required" doc:"API keys."`
}

func getAPIKeys(_ context.Context, r activity.Reader, p *GetAPIKeysParams) (GetAPIKeysReply, error) {
	users, err := usersNamed(r, p.UserID)
	if err != nil {
		return GetAPIKeysReply{}, err
	}
	var reply GetAPIKeysReply
	for _, u := range users {
		reply.APIKeys = append(reply.APIKeys, record.Each(u.APIKeys, record.OfAPIKey)...)
	}
	return reply, nil
}
