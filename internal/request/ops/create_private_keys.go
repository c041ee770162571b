package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// The versions of create_private_keys; they differ in what they answer.
var (
	CreatePrivateKeys = activity.Op[CreatePrivateKeysParams, CreatePrivateKeysResult]{
		Spec:  createPrivateKeysSpec(1),
		Facts: createPrivateKeysFacts,
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
		Spec:  createPrivateKeysSpec(2),
		Facts: createPrivateKeysFacts,
		Exec:  createPrivateKeys,
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

// CreatePrivateKeysResult is the result of version 1.
type CreatePrivateKeysResult struct {
	PrivateKeyIDs []string `json:"privateKeyIds" check:"required,each=uuid" doc:"Ids of the new keys, in the order of the request."`
}

// CreatePrivateKeysResultV2 is the result of version 2.
type CreatePrivateKeysResultV2 struct {
	PrivateKeys []CreatedPrivateKey `json:"privateKeys" check:"required" doc:"The new keys, in the order of the request."`
}

func createPrivateKeysFacts(f activity.Facts, p *CreatePrivateKeysParams) error {
	var given []string
	for _, k := range p.PrivateKeys {
		given = append(given, k.PrivateKeyTags...)
	}
	return tagFacts(f, given, nil)
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
		result.PrivateKeys = append(result.PrivateKeys, createdPrivateKey(key))
	}
	return result, nil
}
