package ops

import (
	"context"
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// The versions of create_private_keys; they differ in what they answer.
var (
	CreatePrivateKeys = activity.Op[CreatePrivateKeysParams, CreatePrivateKeysResult]{
		Spec: createPrivateKeysSpec(1),
		Exec: func(ctx context.Context, e activity.Env, p *CreatePrivateKeysParams) (CreatePrivateKeysResult, error) {
			var result CreatePrivateKeysResult
			newer, err := createPrivateKeys(ctx, e, p)
			for _, k := range newer.PrivateKeys {
				result.PrivateKeyIDs = append(result.PrivateKeyIDs, k.PrivateKeyID)
			}
			return result, err
		},
	}
	CreatePrivateKeysV2 = activity.Op[CreatePrivateKeysParams, CreatePrivateKeysResultV2]{
		Spec: createPrivateKeysSpec(2),
		Exec: createPrivateKeys,
	}
)

func createPrivateKeysSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_private_keys", Version: version,
		Summary: "Create private keys.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionCreate},
	}
}

// CreatePrivateKeysParams are the parameters of create_private_keys.
type CreatePrivateKeysParams struct {
	PrivateKeys []PrivateKeyParams `json:"privateKeys" check:"required,min=1,max=100" doc:"Keys to create."`
}

// PrivateKeyParams describes a key to create.
type PrivateKeyParams struct {
	PrivateKeyName string           `json:"privateKeyName" check:"required,label" doc:"Name, unique in the organization."`
	Curve          curve.KeyCurve   `json:"curve" check:"required" doc:"Curve of the key."`
	PrivateKeyTags []string         `json:"privateKeyTags" check:"required,max=100,unique,each=uuid" doc:"Ids of tags to put on the key; may be empty."`
	AddressFormats []address.Format `json:"addressFormats" check:"required,max=100" doc:"Addresses to make of the key; may be empty." example:"ADDRESS_FORMAT_ETHEREUM"`
}

// Check refuses a format that does not exist on the curve.
func (p *PrivateKeyParams) Check(problems *schema.Problems) {
	checkFormats(problems, p.AddressFormats, p.Curve)
}

func checkFormats(problems *schema.Problems, formats []address.Format, c curve.KeyCurve) {
	for i, f := range formats {
		checkFormat(problems, fmt.Sprintf("addressFormats.%d", i), f, c)
	}
}

// CreatePrivateKeysResult is the result of version 1.
type CreatePrivateKeysResult struct {
	PrivateKeyIDs []string `json:"privateKeyIds" check:"required,each=uuid" doc:"Ids of the new keys, in the order of the request."`
}

// CreatePrivateKeysResultV2 is the result of version 2.
type CreatePrivateKeysResultV2 struct {
	PrivateKeys []CreatedPrivateKey `json:"privateKeys" check:"required" doc:"The new keys, in the order of the request."`
}

// CreatedPrivateKey is a new key.
type CreatedPrivateKey struct {
	PrivateKeyID string           `json:"privateKeyId" check:"required,uuid" doc:"Id of the key."`
	Addresses    []record.Address `json:"addresses" check:"required" doc:"Addresses of the key."`
}

func createPrivateKeys(_ context.Context, e activity.Env, p *CreatePrivateKeysParams) (CreatePrivateKeysResultV2, error) {
	var result CreatePrivateKeysResultV2
	for _, params := range p.PrivateKeys {
		key := &domain.PrivateKey{ID: e.NewID(), Name: params.PrivateKeyName, Curve: params.Curve, TagIDs: params.PrivateKeyTags}
		public, err := e.Vault.CreateKey(key.ID, key.Curve)
		if err != nil {
			return CreatePrivateKeysResultV2{}, err
		}
		if err := newPrivateKey(e, key, public, params.AddressFormats); err != nil {
			return CreatePrivateKeysResultV2{}, err
		}
		result.PrivateKeys = append(result.PrivateKeys, created(key))
	}
	return result, nil
}

func created(k *domain.PrivateKey) CreatedPrivateKey {
	return CreatedPrivateKey{PrivateKeyID: k.ID, Addresses: record.Each(k.Addresses, record.OfAddress)}
}
