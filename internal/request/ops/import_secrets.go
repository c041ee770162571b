package ops

import (
	"context"
	"fmt"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// ImportSecrets stores secrets that their owner encrypted to the server, all or
// none.
var ImportSecrets = activity.Op[ImportSecretsParams, SecretIDsResult]{
	Spec: activity.Spec{
		Name: "import_secrets", Version: 1,
		Summary: "Store secrets, encrypted to keys of init_import_secrets, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourceSecret, Action: activity.ActionImport},
	},
	Exec: importSecrets,
}

// ImportSecretsParams are the parameters of import_secrets.
type ImportSecretsParams struct {
	Secrets []ImportSecretParams `json:"secrets" check:"required,min=1,max=100" doc:"Secrets to store."`
}

// ImportSecretParams describes a new secret.
type ImportSecretParams struct {
	Name             string          `json:"name,omitzero" check:"label" doc:"Human-readable name; several secrets may have the same."`
	SecretPayload    string          `json:"secretPayload" check:"required,max=140000" doc:"Encrypted secret, of at most 65536 bytes."`
	TargetPublicKey  string          `json:"targetPublicKey" check:"required,hex,max=130" doc:"Key of init_import_secrets that it is encrypted to." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	EncryptionSuite  EncryptionSuite `json:"encryptionSuite" check:"required" doc:"How the secret is encrypted."`
	StaticProperties []KeyValue      `json:"staticProperties,omitzero" check:"max=50,sampled" doc:"Texts to bind to the secret for good; policies see them."`
}

// Check refuses a property that is given twice.
func (p *ImportSecretParams) Check(problems *schema.Problems) {
	checkKeys(problems, "staticProperties", p.StaticProperties)
}

// Check refuses a key that is used twice.
func (p *ImportSecretsParams) Check(problems *schema.Problems) {
	seen := map[string]bool{}
	for i, s := range p.Secrets {
		if key := strings.ToLower(s.TargetPublicKey); seen[key] {
			problems.Add(fmt.Sprintf("secrets.%d.targetPublicKey", i), "is given twice in this request; each key is good for one secret")
		} else {
			seen[key] = true
		}
	}
}

func importSecrets(_ context.Context, e activity.Env, p *ImportSecretsParams) (SecretIDsResult, error) {
	if err := checkLimit(e.Limits.Secrets, "secrets", func(n int) (int, error) {
		list, err := e.Tx.Secrets().List("", n)
		return len(list) + len(p.Secrets) - 1, err
	}); err != nil {
		return SecretIDsResult{}, err
	}
	var result SecretIDsResult
	for i, s := range p.Secrets {
		target, err := secretTarget(e, i, s.TargetPublicKey)
		if err != nil {
			return SecretIDsResult{}, err
		}
		secret := &domain.Secret{
			ID: e.NewID(), Name: s.Name, CreatedAt: e.Now,
			StaticProperties: record.Each(s.StaticProperties, func(p KeyValue) domain.Property { return domain.Property(p) }),
		}
		if err := e.Vault.ImportSecret(secret.ID, target, []byte(s.SecretPayload)); err != nil {
			return SecretIDsResult{}, inSecret(i, err)
		}
		if err := e.Tx.Secrets().Insert(secret); err != nil {
			return SecretIDsResult{}, err
		}
		result.SecretIDs = append(result.SecretIDs, secret.ID)
	}
	return result, nil
}

// secretTarget returns the id of the caller's key, and removes its record, so that
// it can be used once.
func secretTarget(e activity.Env, i int, publicKey string) (string, error) {
	targets, err := secretTargets(e)
	if err != nil {
		return "", err
	}
	for _, t := range targets {
		if t.PublicKey == strings.ToLower(publicKey) && !t.Expired(e.Now) {
			return t.ID, e.Tx.ImportTargets().Delete(t.ID)
		}
	}
	return "", inSecret(i, fault.Invalid("targetPublicKey is no key of the caller's to import a secret with: "+
		"begin with init_import_secrets; each key is good for one secret within an hour"))
}

// inSecret says which secret of a request is refused.
func inSecret(i int, err error) error {
	if refusal, ok := fault.As(err); ok && refusal.Code == fault.InvalidArgument {
		return fault.Invalid("secrets.%d: %s", i, refusal.Message)
	}
	return err
}
