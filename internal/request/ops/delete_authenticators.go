package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteAuthenticators takes passkeys from a user.
var DeleteAuthenticators = activity.Op[DeleteAuthenticatorsParams, DeleteAuthenticatorsResult]{
	Spec: activity.Spec{
		Name: "delete_authenticators", Version: 1,
		Summary: "Delete passkeys of a user. They stop working for every request that starts after the reply.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionDelete},
	},
	OwnUser: func(p *DeleteAuthenticatorsParams) string { return p.UserID },
	Exec:    deleteAuthenticators,
}

// DeleteAuthenticatorsParams are the parameters of delete_authenticators.
type DeleteAuthenticatorsParams struct {
	UserID           string   `json:"userId" check:"required,uuid" doc:"User whose passkeys are deleted."`
	AuthenticatorIDs []string `json:"authenticatorIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Passkeys to delete."`
}

// DeleteAuthenticatorsResult is the result of delete_authenticators.
type DeleteAuthenticatorsResult struct {
	AuthenticatorIDs []string `json:"authenticatorIds" check:"required,each=uuid" doc:"Passkeys that were deleted."`
}

func deleteAuthenticators(_ context.Context, e activity.Env, p *DeleteAuthenticatorsParams) (DeleteAuthenticatorsResult, error) {
	err := editUser(e, p.UserID, func(u *domain.User) error {
		return deleteCredentials(u, &u.Authenticators, "authenticator", func(a domain.Authenticator) string { return a.ID }, p.AuthenticatorIDs)
	})
	return DeleteAuthenticatorsResult{AuthenticatorIDs: p.AuthenticatorIDs}, err
}
