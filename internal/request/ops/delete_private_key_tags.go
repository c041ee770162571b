package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// DeletePrivateKeyTags deletes tags and takes them off their keys.
var DeletePrivateKeyTags = activity.Op[DeletePrivateKeyTagsParams, DeletePrivateKeyTagsResult]{
	Spec: activity.Spec{
		Name: "delete_private_key_tags", Version: 1,
		Summary: "Delete private key tags and take them off the keys that have them.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionDelete},
	},
	Facts: func(f activity.Facts, p *DeletePrivateKeyTagsParams) error {
		return tagFacts(f, nil, p.PrivateKeyTagIDs)
	},
	Exec: deletePrivateKeyTags,
}

// DeletePrivateKeyTagsParams are the parameters of delete_private_key_tags.
type DeletePrivateKeyTagsParams struct {
	PrivateKeyTagIDs []string `json:"privateKeyTagIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Tags to delete."`
}

// DeletePrivateKeyTagsResult is the result of delete_private_key_tags.
type DeletePrivateKeyTagsResult struct {
	PrivateKeyTagIDs []string `json:"privateKeyTagIds" check:"required,each=uuid" doc:"Tags that were deleted."`
	PrivateKeyIDs    []string `json:"privateKeyIds" check:"required,each=uuid" doc:"Keys that had one of them."`
}

func deletePrivateKeyTags(_ context.Context, e activity.Env, p *DeletePrivateKeyTagsParams) (DeletePrivateKeyTagsResult, error) {
	result := DeletePrivateKeyTagsResult{PrivateKeyTagIDs: p.PrivateKeyTagIDs}
	for _, tag := range p.PrivateKeyTagIDs {
		if err := requireTag(e.Tx, tag, domain.TagPrivateKey); err != nil {
			return DeletePrivateKeyTagsResult{}, err
		}
		keys, err := e.Tx.PrivateKeys().ListBy(store.ByTag, tag, "", 0)
		if err != nil {
			return DeletePrivateKeyTagsResult{}, err
		}
		for _, k := range keys {
			if err := tagKeys(e, []string{k.ID}, tag, false); err != nil {
				return DeletePrivateKeyTagsResult{}, err
			}
			if !slices.Contains(result.PrivateKeyIDs, k.ID) {
				result.PrivateKeyIDs = append(result.PrivateKeyIDs, k.ID)
			}
		}
		if err := e.Tx.Tags().Delete(tag); err != nil {
			return DeletePrivateKeyTagsResult{}, err
		}
	}
	return result, nil
}
