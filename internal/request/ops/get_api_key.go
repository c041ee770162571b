package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetAPIKey reads one API key.
var GetAPIKey = activity.Query[GetAPIKeyParams, GetAPIKeyReply]{
	Name:    "get_api_key",
	Summary: "Read one API key.",
	Read:    getAPIKey,
}

// GetAPIKeyParams are the parameters of get_api_key.
type GetAPIKeyParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	APIKeyID       string `json:"apiKeyId" check:"required,uuid" doc:"Key to read."`
}

// GetAPIKeyReply is the reply of get_api_key.
type GetAPIKeyReply struct {
	APIKey record.APIKey `json:"apiKey" check:"required" doc:"The key."`
}

func getAPIKey(_ context.Context, r activity.Reader, p *GetAPIKeyParams) (GetAPIKeyReply, error) {
	key, err := findCredential(r, "API key", p.APIKeyID,
		func(u *domain.User) []domain.APIKey { return u.APIKeys }, func(k domain.APIKey) string { return k.ID })
	return GetAPIKeyReply{APIKey: record.OfAPIKey(key)}, err
}
