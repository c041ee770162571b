package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeleteSecrets deletes secrets, all or none.
var DeleteSecrets = activity.Op[DeleteSecretsParams, SecretIDsResult]{
	Spec: activity.Spec{
		Name: "delete_secrets", Version: 1,
		Summary: "Delete secrets for good, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourceSecret, Action: activity.ActionDelete},
	},
	Exec: deleteSecrets,
}

// DeleteSecretsParams are the parameters of delete_secrets.
type DeleteSecretsParams struct {
	SecretIDs []string `json:"secretIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Secrets to delete."`
}

func deleteSecrets(_ context.Context, e activity.Env, p *DeleteSecretsParams) (SecretIDsResult, error) {
	for _, id := range p.SecretIDs {
		if err := e.Tx.Secrets().Delete(id); err != nil {
			return SecretIDsResult{}, err
		}
		if err := e.Vault.Destroy(id); err != nil {
			return SecretIDsResult{}, err
		}
	}
	return SecretIDsResult{SecretIDs: p.SecretIDs}, nil
}
