package ops

import (
	"context"
	"fmt"

	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// ExportSecrets gives out secrets, encrypted to keys that the caller names, all or
// none. Policies judge each of them.
var ExportSecrets = activity.Op[ExportSecretsParams, ExportSecretsResult]{
	Spec: activity.Spec{
		Name: "export_secrets", Version: 1,
		Summary: "Export secrets, encrypted to keys that the caller names, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourceSecret, Action: activity.ActionExport},
	},
	Facts: func(f activity.Facts, p *ExportSecretsParams) error { return secretFacts(f, p.ids()) },
	Exec:  exportSecrets,
}

// ExportSecretsParams are the parameters of export_secrets.
type ExportSecretsParams struct {
	Secrets []ExportSecretParams `json:"secrets" check:"required,min=1,max=100" doc:"Secrets to export."`
}

// ExportSecretParams names a secret and who can open it.
type ExportSecretParams struct {
	SecretID        string          `json:"secretId" check:"required,uuid" doc:"Secret to export."`
	TargetPublicKey string          `json:"targetPublicKey" check:"required,hex,max=130" doc:"P-256 public key to encrypt to, as hex." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	EncryptionSuite EncryptionSuite `json:"encryptionSuite" check:"required" doc:"How to encrypt it."`
	RequestContext  []KeyValue      `json:"requestContext,omitzero" check:"max=50" doc:"Texts to record with the request; they change nothing."`
}

// Check refuses a name that is given twice.
func (p *ExportSecretParams) Check(problems *schema.Problems) {
	checkKeys(problems, "requestContext", p.RequestContext)
}

// Check refuses a secret that is asked for twice.
func (p *ExportSecretsParams) Check(problems *schema.Problems) {
	seen := map[string]bool{}
	for i, id := range p.ids() {
		if seen[id] {
			problems.Add(fmt.Sprintf("secrets.%d.secretId", i), "is given twice in this request")
		}
		seen[id] = true
	}
}

// ExportSecretsResult is the result of export_secrets.
type ExportSecretsResult struct {
	SecretPayloads []string `json:"secretPayloads" check:"required,each=secret" doc:"Encrypted and signed secrets, in the order of the request."`
}

func (p *ExportSecretsParams) ids() []string {
	ids := make([]string, len(p.Secrets))
	for i, s := range p.Secrets {
		ids[i] = s.SecretID
	}
	return ids
}

func exportSecrets(_ context.Context, e activity.Env, p *ExportSecretsParams) (ExportSecretsResult, error) {
	var result ExportSecretsResult
	for i, s := range p.Secrets {
		if _, err := e.Tx.Secrets().Get(s.SecretID); err != nil {
			return ExportSecretsResult{}, err
		}
		recipient, err := recipientKey(s.TargetPublicKey)
		if err != nil {
			return ExportSecretsResult{}, inSecret(i, err)
		}
		enc, ciphertext, err := e.Vault.ExportSecret(s.SecretID, recipient)
		if err != nil {
			return ExportSecretsResult{}, inSecret(i, err)
		}
		text, err := bundle.Export(e.ServerKeys, enc, ciphertext, e.Tx.Org())
		if err != nil {
			return ExportSecretsResult{}, err
		}
		result.SecretPayloads = append(result.SecretPayloads, text)
	}
	return result, nil
}
