package ops

import (
	"context"
	"slices"

	"latchkey/internal/activity"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// DeleteAPIKeys takes API keys from a user.
var DeleteAPIKeys = activity.Op[DeleteAPIKeysParams, DeleteAPIKeysResult]{
	Spec: activity.Spec{
		Name: "delete_api_keys", Version: 1,
		Summary: "Delete API keys of a user. They stop working for every request that starts after the reply.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionDelete},
	},
	OwnUser: func(p *DeleteAPIKeysParams) string { return p.UserID },
	Exec:    deleteAPIKeys,
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
	org, err := e.Tx.Organization()
	if err != nil {
		return DeleteAPIKeysResult{}, err
	}
	err = e.Tx.Users().Edit(p.UserID, func(u *domain.User) error {
		for _, id := range p.APIKeyIDs {
			i := slices.IndexFunc(u.APIKeys, func(k domain.APIKey) bool { return k.ID == id })
			if i < 0 {
				return fault.Missing("no API key with id %s on user %s", id, u.ID)
			}
			u.APIKeys = slices.Delete(u.APIKeys, i, i+1)
		}
		if !u.CanLogIn(org) {
			return noLogin(u)
		}
		u.UpdatedAt = e.Now
		return nil
	})
	return DeleteAPIKeysResult{APIKeyIDs: p.APIKeyIDs}, err
}
