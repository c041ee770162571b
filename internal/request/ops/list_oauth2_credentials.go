package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListOauth2Credentials reads all OAuth 2.0 credentials. The auth proxy finds the
// one by it that a page means.
var ListOauth2Credentials = activity.Query[InOrganization, ListOAuth2CredentialsReply]{
	Name:    "list_oauth2_credentials",
	Summary: "Read the OAuth 2.0 credentials of an organization.",
	Access:  activity.Access{AuthProxy: activity.AuthProxyAtHome},
	Read:    listOauth2Credentials,
}

// ListOAuth2CredentialsReply is the reply of list_oauth2_credentials.
type ListOAuth2CredentialsReply struct {
	Oauth2Credentials []OAuth2Credential `json:"oauth2Credentials" check:"required" doc:"Credentials in the order of creation."`
}

func listOauth2Credentials(_ context.Context, r activity.Reader, _ *InOrganization) (ListOAuth2CredentialsReply, error) {
	all, err := r.Tx.OAuth2Credentials().List("", 0)
	return ListOAuth2CredentialsReply{Oauth2Credentials: record.Each(all, func(c *domain.OAuth2Credential) OAuth2Credential {
		return oauth2CredentialRecord(r.Tx.Org(), c)
	})}, err
}
