package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetPrivateKey reads one private key's public side.
var GetPrivateKey = activity.Query[GetPrivateKeyParams, GetPrivateKeyReply]{
	Name:    "get_private_key",
	Summary: "Read one private key's public side.",
	Read:    getPrivateKey,
}

// GetPrivateKeyParams are the parameters of get_private_key.
type GetPrivateKeyParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	PrivateKeyID   string `json:"privateKeyId" check:"required,uuid" doc:"Key to read."`
}

// GetPrivateKeyReply is the reply of get_private_key.
type GetPrivateKeyReply struct {
	PrivateKey record.PrivateKey `json:"privateKey" check:"required" doc:"The key."`
}

func getPrivateKey(_ context.Context, r activity.Reader, p *GetPrivateKeyParams) (GetPrivateKeyReply, error) {
	key, err := r.Tx.PrivateKeys().Get(p.PrivateKeyID)
	if err != nil {
		return GetPrivateKeyReply{}, err
	}
	return GetPrivateKeyReply{PrivateKey: record.OfPrivateKey(key)}, nil
}
