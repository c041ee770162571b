package ops

import (
	"context"
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// The versions of create_authenticators. Both answer with the first one's
// result.
var (
	CreateAuthenticators = activity.Older(createAuthenticatorsSpec(1), CreateAuthenticatorsV2,
		func(p *CreateAuthenticatorsParams) *CreateAuthenticatorsParamsV2 {
			return &CreateAuthenticatorsParamsV2{Authenticators: eachNewest(p.Authenticators), UserID: p.UserID}
		})
	CreateAuthenticatorsV2 = activity.Op[CreateAuthenticatorsParamsV2, CreateAuthenticatorsResult]{
		Spec:    createAuthenticatorsSpec(2),
		OwnUser: func(p *CreateAuthenticatorsParamsV2) string { return p.UserID },
		Adds:    func(*CreateAuthenticatorsParamsV2) decide.Added { return lastingAccess },
		Exec:    createAuthenticators,
	}
)

func createAuthenticatorsSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_authenticators", Version: version, ResultKey: "createAuthenticatorsResult",
		Summary: "Add passkeys to a user.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionCreate},
	}
}

// CreateAuthenticatorsParamsV2 are the parameters of create_authenticators.
type CreateAuthenticatorsParamsV2 struct {
	Authenticators []AuthenticatorParamsV2 `json:"authenticators" check:"required,min=1,max=100" doc:"Passkeys to add."`
	UserID         string                  `json:"userId" check:"required,uuid" doc:"User who gets the passkeys."`
}

// CreateAuthenticatorsParams are the parameters of version 1.
type CreateAuthenticatorsParams struct {
	Authenticators []AuthenticatorParams `json:"authenticators" check:"required,min=1,max=100" doc:"Passkeys to add."`
	UserID         string                `json:"userId" check:"required,uuid" doc:"User who gets the passkeys."`
}

// Check refuses a passkey that is meant for another user.
func (p *CreateAuthenticatorsParams) Check(problems *schema.Problems) {
	for i, a := range p.Authenticators {
		if a.UserID != "" && a.UserID != p.UserID {
			problems.Add(fmt.Sprintf("authenticators.%d.userId", i), "must be the userId of the request, or left out")
		}
	}
}

// CreateAuthenticatorsResult is the result of create_authenticators.
type CreateAuthenticatorsResult struct {
	AuthenticatorIDs []string `json:"authenticatorIds" check:"required,each=uuid" doc:"Ids of the new passkeys, in the order of the request."`
}

func createAuthenticators(_ context.Context, e activity.Env, p *CreateAuthenticatorsParamsV2) (CreateAuthenticatorsResult, error) {
	var result CreateAuthenticatorsResult
	err := e.Tx.Users().Edit(p.UserID, func(u *domain.User) error {
		for _, a := range p.Authenticators {
			id, err := addAuthenticator(e, u, a)
			if err != nil {
				return err
			}
			result.AuthenticatorIDs = append(result.AuthenticatorIDs, id)
		}
		return nil
	})
	return result, err
}
