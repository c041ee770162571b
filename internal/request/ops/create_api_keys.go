package ops

import (
	"context"
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// The versions of create_api_keys. Both answer with the first one's result.
var (
	CreateAPIKeys = activity.Older(createAPIKeysSpec(1), CreateAPIKeysV2,
		func(p *CreateAPIKeysParams) *CreateAPIKeysParamsV2 {
			return &CreateAPIKeysParamsV2{APIKeys: onP256(p.APIKeys), UserID: p.UserID}
		})
	CreateAPIKeysV2 = activity.Op[CreateAPIKeysParamsV2, CreateAPIKeysResult]{
		Spec:    createAPIKeysSpec(2),
		OwnUser: func(p *CreateAPIKeysParamsV2) string { return p.UserID },
		Facts: func(f activity.Facts, p *CreateAPIKeysParamsV2) error {
			f.Activity.Params.UserID = &p.UserID
			return nil
		},
		Adds: func(p *CreateAPIKeysParamsV2) decide.Added { return addedKeys(p.APIKeys) },
		Exec: createAPIKeys,
	}
)

func createAPIKeysSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_api_keys", Version: version, ResultKey: "createApiKeysResult",
		Summary: "Add API keys to a user.",
		Govern:  activity.Govern{Resource: activity.ResourceCredential, Action: activity.ActionCreate},
	}
}

// CreateAPIKeysParamsV2 are the parameters of create_api_keys.
type CreateAPIKeysParamsV2 struct {
	APIKeys []APIKeyParamsV2 `json:"apiKeys" check:"required,min=1,max=100" doc:"Keys to add."`
	UserID  string           `json:"userId" check:"required,uuid" doc:"User who gets the keys."`
}

// CreateAPIKeysParams are the parameters of version 1.
type CreateAPIKeysParams struct {
	APIKeys []P256APIKeyParams `json:"apiKeys" check:"required,min=1,max=100" doc:"P-256 keys to add."`
	UserID  string             `json:"userId" check:"required,uuid" doc:"User who gets the keys."`
}

// CreateAPIKeysResult is the result of create_api_keys.
type CreateAPIKeysResult struct {
	APIKeyIDs []string `json:"apiKeyIds" check:"required,each=uuid" doc:"Ids of the new keys, in the order of the request."`
}

// Check refuses a key that is given twice.
func (p *CreateAPIKeysParamsV2) Check(problems *schema.Problems) {
	seen := map[string]bool{}
	for i, k := range p.APIKeys {
		if seen[k.PublicKey] {
			problems.Add(fmt.Sprintf("apiKeys.%d.publicKey", i), "is given twice in this request")
		}
		seen[k.PublicKey] = true
	}
}

// Check applies the rules of the newest version.
func (p *CreateAPIKeysParams) Check(problems *schema.Problems) {
	(&CreateAPIKeysParamsV2{APIKeys: onP256(p.APIKeys)}).Check(problems)
}

func createAPIKeys(_ context.Context, e activity.Env, p *CreateAPIKeysParamsV2) (CreateAPIKeysResult, error) {
	var result CreateAPIKeysResult
	err := e.Tx.Users().Edit(p.UserID, func(u *domain.User) error {
		for _, k := range p.APIKeys {
			id, err := addAPIKey(e, u, k)
			if err != nil {
				return err
			}
			result.APIKeyIDs = append(result.APIKeyIDs, id)
		}
		return nil
	})
	return result, err
}
