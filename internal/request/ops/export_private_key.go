package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// ExportPrivateKey gives out a private key, encrypted to the caller.
var ExportPrivateKey = activity.Op[ExportPrivateKeyParams, ExportPrivateKeyResult]{
	Spec: activity.Spec{
		Name: "export_private_key", Version: 1,
		Summary: "Export a private key, encrypted to a key of the caller.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionExport},
	},
	Facts: exportKeyFacts,
	Exec:  exportPrivateKey,
}

// ExportPrivateKeyParams are the parameters of export_private_key.
type ExportPrivateKeyParams struct {
	PrivateKeyID    string `json:"privateKeyId" check:"required,uuid" doc:"Key to export."`
	TargetPublicKey string `json:"targetPublicKey" check:"required,hex,max=130" doc:"P-256 public key to encrypt to, as hex." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
}

// ExportPrivateKeyResult is the result of export_private_key.
type ExportPrivateKeyResult struct {
	PrivateKeyID string `json:"privateKeyId" check:"required,uuid" doc:"Key that was exported."`
	ExportBundle string `json:"exportBundle" check:"required,secret" doc:"Encrypted and signed private key."`
}

func exportPrivateKey(_ context.Context, e activity.Env, p *ExportPrivateKeyParams) (ExportPrivateKeyResult, error) {
	err := e.Tx.PrivateKeys().Edit(p.PrivateKeyID, func(k *domain.PrivateKey) error {
		k.Exported, k.UpdatedAt = true, e.Now
		return nil
	})
	if err != nil {
		return ExportPrivateKeyResult{}, err
	}
	text, err := exportKey(e, p.PrivateKeyID, p.TargetPublicKey)
	return ExportPrivateKeyResult{PrivateKeyID: p.PrivateKeyID, ExportBundle: text}, err
}
