package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteAPIKeys takes API keys from a user.
var DeleteAPIKeys = activity.Op[DeleteAPIKeysParams, DeleteAPIKeysResult]{
	Spec: activity.Spec{
		Name: "delete_api_keys", Version: 1,
		Summary: "Delete API keys of a user. They stop working for every request that starts after the reply.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionDelete},
	},
	OwnUser: func(p *DeleteAPIKeysParams) string { return p.UserID },
	Facts: func(f activity.Facts, p *DeleteAPIKeysParams) error {
		f.Activity.Params.UserID, f.Activity.Params.APIKeyIDs = &p.UserID, p.APIKeyIDs
		return nil
	},
	Exec: deleteAPIKeys,
}

// DeleteAPIKeysParams are the parameters of delete_api_keys.
type DeleteAPIKeysParams struct {
	UserID    string   `json:"userId" check:"required,uuid" doc:"User whose keys are deleted."`
	APIKeyIDs []string `json:"apiKeyIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Keys to delete."`
}

// DeleteAPIKeysResult is the result of delete_api_keys.
type DeleteAPIKeysResult struct {
	APIKeyIDs []string `json:"apiKeyIds" check:"required,each=uuid" doc:"Keys that were deleted."`
}

func deleteAPIKeys(_ context.Context, e activity.Env, p *DeleteAPIKeysParams) (DeleteAPIKeysResult, error) {
	err := editUser(e, p.UserID, func(u *domain.User) error {
		return deleteCredentials(u, &u.APIKeys, "API key", func(k domain.APIKey) string { return k.ID }, p.APIKeyIDs)
	})
	return DeleteAPIKeysResult{APIKeyIDs: p.APIKeyIDs}, err
}
