package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListSecrets reads what is known of secrets: never their content.
var ListSecrets = activity.Query[ListSecretsParams, ListSecretsReply]{
	Name:    "list_secrets",
	Summary: "Read the names and properties of secrets, a page at a time.",
	Read:    listSecrets,
}

// ListSecretsParams are the parameters of list_secrets.
type ListSecretsParams struct {
	OrganizationID    string     `json:"organizationId" check:"required" doc:"Organization to read."`
	PaginationOptions Pagination `json:"paginationOptions,omitzero" doc:"Which page."`
}

// ListSecretsReply is the reply of list_secrets.
type ListSecretsReply struct {
	Secrets []Secret `json:"secrets" check:"required" doc:"Secrets, the newest first."`
}

func listSecrets(_ context.Context, r activity.Reader, p *ListSecretsParams) (ListSecretsReply, error) {
	page, err := newestFirst(p.PaginationOptions, func(s *domain.Secret) string { return s.ID }, r.Tx.Secrets().List)
	return ListSecretsReply{Secrets: record.Each(page, secretRecord)}, err
}
