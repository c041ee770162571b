package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// ImportPrivateKey imports a key that its owner encrypted to the server.
var ImportPrivateKey = activity.Op[ImportPrivateKeyParams, CreatedPrivateKey]{
	Spec: activity.Spec{
		Name: "import_private_key", Version: 1,
		Summary: "Import a private key, encrypted to the key of init_import_private_key.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionImport},
	},
	Exec: importPrivateKey,
}

// ImportPrivateKeyParams are the parameters of import_private_key.
type ImportPrivateKeyParams struct {
	UserID          string           `json:"userId" check:"required,uuid" doc:"User who imports; must be the caller."`
	PrivateKeyName  string           `json:"privateKeyName" check:"required,label" doc:"Name, unique in the organization."`
	EncryptedBundle string           `json:"encryptedBundle" check:"required,max=20000" doc:"Encrypted private key: 32 bytes."`
	Curve           curve.KeyCurve   `json:"curve" check:"required" doc:"Curve of the key."`
	AddressFormats  []address.Format `json:"addressFormats" check:"required,max=100" doc:"Addresses to make of the key; may be empty." example:"ADDRESS_FORMAT_ETHEREUM"`
}

// Check refuses a format that does not exist on the curve.
func (p *ImportPrivateKeyParams) Check(problems *schema.Problems) {
	checkFormats(problems, p.AddressFormats, p.Curve)
}

func importPrivateKey(_ context.Context, e activity.Env, p *ImportPrivateKeyParams) (CreatedPrivateKey, error) {
	target, err := importTarget(e, p.UserID, domain.ImportPrivateKey)
	if err != nil {
		return CreatedPrivateKey{}, err
	}
	key := &domain.PrivateKey{ID: e.NewID(), Name: p.PrivateKeyName, Curve: p.Curve, Imported: true}
	public, err := e.Vault.ImportKey(key.ID, target, p.Curve, []byte(p.EncryptedBundle))
	if err != nil {
		return CreatedPrivateKey{}, err
	}
	if err := newPrivateKey(e, key, public, p.AddressFormats); err != nil {
		return CreatedPrivateKey{}, err
	}
	return createdPrivateKey(key), nil
}
