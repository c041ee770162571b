package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// The versions of create_oauth_providers. Each answers with a result key of its
// own.
var (
	CreateOauthProviders = activity.Older(createOauthProvidersSpec(1), CreateOauthProvidersV2,
		func(p *CreateOauthProvidersParams) *CreateOauthProvidersParamsV2 {
			return &CreateOauthProvidersParamsV2{UserID: p.UserID, OauthProviders: withTokens(p.OauthProviders)}
		})
	CreateOauthProvidersV2 = activity.Op[CreateOauthProvidersParamsV2, CreateOauthProvidersResult]{
		Spec:    createOauthProvidersSpec(2),
		OwnUser: func(p *CreateOauthProvidersParamsV2) string { return p.UserID },
		Tokens:  func(p *CreateOauthProvidersParamsV2) []string { return tokens(p.OauthProviders) },
		Adds:    func(*CreateOauthProvidersParamsV2) decide.Added { return lastingAccess },
		Exec:    createOauthProviders,
	}
)

func createOauthProvidersSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_oauth_providers", Version: version,
		Summary: "Add identities at OpenID providers to a user, who can then log in with them.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionCreate},
	}
}

// CreateOauthProvidersParamsV2 are the parameters of create_oauth_providers.
type CreateOauthProvidersParamsV2 struct {
	UserID         string                  `json:"userId" check:"required,uuid" doc:"User who gets the identities."`
	OauthProviders []OauthProviderParamsV2 `json:"oauthProviders" check:"required,min=1,max=100" doc:"Identities to add."`
}

// CreateOauthProvidersParams are the parameters of version 1.
type CreateOauthProvidersParams struct {
	UserID         string                `json:"userId" check:"required,uuid" doc:"User who gets the identities."`
	OauthProviders []OauthProviderParams `json:"oauthProviders" check:"required,min=1,max=100" doc:"Identities to add."`
}

// Check refuses identities for which there is no proof.
func (p *CreateOauthProvidersParamsV2) Check(problems *schema.Problems) {
	checkClaims(problems, p.OauthProviders)
}

// CreateOauthProvidersResult is the result of create_oauth_providers.
type CreateOauthProvidersResult struct {
	ProviderIDs []string `json:"providerIds" check:"required,each=uuid" doc:"Ids of the new identities, in the order of the request."`
}

func createOauthProviders(_ context.Context, e activity.Env, p *CreateOauthProvidersParamsV2) (CreateOauthProvidersResult, error) {
	var result CreateOauthProvidersResult
	err := e.Tx.Users().Edit(p.UserID, func(u *domain.User) (err error) {
		result.ProviderIDs, err = addOauthProviders(e, u, p.OauthProviders)
		return err
	})
	return result, err
}
