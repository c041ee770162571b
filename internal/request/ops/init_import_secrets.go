package ops

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/request/activity"
)

// InitImportSecrets makes one-time keys to which a client encrypts secrets.
var InitImportSecrets = activity.Op[InitImportSecretsParams, InitImportSecretsResult]{
	Spec: activity.Spec{
		Name: "init_import_secrets", Version: 1,
		Summary: "Get one-time keys to encrypt secrets to, in order to import them.",
		Govern:  activity.Govern{Resource: activity.ResourceSecret, Action: activity.ActionImport},
	},
	Exec: initImportSecrets,
}

// InitImportSecretsParams are the parameters of init_import_secrets.
type InitImportSecretsParams struct {
	EncryptionSuite EncryptionSuite `json:"encryptionSuite" check:"required" doc:"How the secrets will be encrypted."`
	NumSecrets      int32           `json:"numSecrets" check:"required,min=1,max=100" doc:"How many secrets will be imported."`
}

// InitImportSecretsResult is the result of init_import_secrets.
type InitImportSecretsResult struct {
	EnclaveTargetMessages []string `json:"enclaveTargetMessages" check:"required" doc:"Signed keys to encrypt to, each good for an hour and one secret of the caller's."`
}

func initImportSecrets(_ context.Context, e activity.Env, p *InitImportSecretsParams) (InitImportSecretsResult, error) {
	if err := dropOldSecretTargets(e, maxSecrets-int(p.NumSecrets)); err != nil {
		return InitImportSecretsResult{}, err
	}
	var result InitImportSecretsResult
	for range p.NumSecrets {
		handle := e.NewID() // the public half is not known yet
		public, err := e.Vault.NewImportTarget(secretTargetID(e.UserID, handle))
		if err != nil {
			return InitImportSecretsResult{}, err
		}
		target := &domain.ImportTarget{
			ID: secretTargetID(e.UserID, handle), UserID: e.UserID, Kind: domain.ImportSecret,
			PublicKey: hex.EncodeToString(public), CreatedAt: e.Now,
		}
		if err := e.Tx.ImportTargets().Insert(target); err != nil {
			return InitImportSecretsResult{}, err
		}
		text, err := bundle.Target(e.ServerKeys, public, e.Tx.Org(), e.UserID)
		if err != nil {
			return InitImportSecretsResult{}, err
		}
		result.EnclaveTargetMessages = append(result.EnclaveTargetMessages, text)
	}
	return result, nil
}

func secretTargetID(userID, handle string) string {
	return importTargetID(userID, domain.ImportSecret) + " " + handle
}

// secretTargets are the user's keys that were not used, oldest first.
func secretTargets(e activity.Env) ([]*domain.ImportTarget, error) {
	prefix := importTargetID(e.UserID, domain.ImportSecret) + " "
	targets, err := e.Tx.ImportTargets().List(prefix, maxSecrets)
	end := slices.IndexFunc(targets, func(t *domain.ImportTarget) bool { return !strings.HasPrefix(t.ID, prefix) })
	if end >= 0 {
		targets = targets[:end]
	}
	return targets, err
}

// dropOldSecretTargets leaves at most so many keys that were not used, the newest:
// no one imports more at a time.
func dropOldSecretTargets(e activity.Env, most int) error {
	targets, err := secretTargets(e)
	if err != nil {
		return err
	}
	for _, t := range targets[:max(0, len(targets)-most)] {
		if err := dropImportTarget(e, t.ID); err != nil {
			return err
		}
	}
	return nil
}
