package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeletePrivateKeys deletes private keys.
var DeletePrivateKeys = activity.Op[DeletePrivateKeysParams, DeletePrivateKeysResult]{
	Spec: activity.Spec{
		Name: "delete_private_keys", Version: 1,
		Summary: "Delete private keys for good, all of them or none.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionDelete},
	},
	Exec: deletePrivateKeys,
}

// DeletePrivateKeysParams are the parameters of delete_private_keys.
type DeletePrivateKeysParams struct {
	PrivateKeyIDs       []string `json:"privateKeyIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Keys to delete."`
	DeleteWithoutExport bool     `json:"deleteWithoutExport,omitzero" doc:"Delete also keys that were never exported."`
}

// DeletePrivateKeysResult is the result of delete_private_keys.
type DeletePrivateKeysResult struct {
	PrivateKeyIDs []string `json:"privateKeyIds" check:"required,each=uuid" doc:"Keys that were deleted."`
}

func deletePrivateKeys(_ context.Context, e activity.Env, p *DeletePrivateKeysParams) (DeletePrivateKeysResult, error) {
	for _, id := range p.PrivateKeyIDs {
		key, err := e.Tx.PrivateKeys().Get(id)
		if err != nil {
			return DeletePrivateKeysResult{}, err
		}
		if !key.Exported && !p.DeleteWithoutExport {
			return DeletePrivateKeysResult{}, notExported("private key", id)
		}
		if err := e.Vault.Destroy(id); err != nil {
			return DeletePrivateKeysResult{}, err
		}
		if err := e.Tx.PrivateKeys().Delete(id); err != nil {
			return DeletePrivateKeysResult{}, err
		}
	}
	return DeletePrivateKeysResult{PrivateKeyIDs: p.PrivateKeyIDs}, nil
}
