package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// CreatePrivateKeyTag makes a tag and puts it on private keys.
var CreatePrivateKeyTag = activity.Op[CreatePrivateKeyTagParams, CreatePrivateKeyTagResult]{
	Spec: activity.Spec{
		Name: "create_private_key_tag", Version: 1,
		Summary: "Create a private key tag and add it to private keys.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionCreate},
	},
	Facts: newTagFacts[CreatePrivateKeyTagParams],
	Exec:  createPrivateKeyTag,
}

// CreatePrivateKeyTagParams are the parameters of create_private_key_tag.
type CreatePrivateKeyTagParams struct {
	PrivateKeyTagName string   `json:"privateKeyTagName" check:"required,label" doc:"Name of the tag, unique in the organization."`
	PrivateKeyIDs     []string `json:"privateKeyIds" check:"required,max=1000,unique,each=uuid" doc:"Keys to add the tag to; may be empty."`
}

// CreatePrivateKeyTagResult is the result of create_private_key_tag.
type CreatePrivateKeyTagResult struct {
	PrivateKeyTagID string   `json:"privateKeyTagId" check:"required,uuid" doc:"Id of the new tag."`
	PrivateKeyIDs   []string `json:"privateKeyIds" check:"required,each=uuid" doc:"Keys that have the tag."`
}

func createPrivateKeyTag(_ context.Context, e activity.Env, p *CreatePrivateKeyTagParams) (CreatePrivateKeyTagResult, error) {
	tag, err := newTag(e, domain.TagPrivateKey, p.PrivateKeyTagName)
	if err != nil {
		return CreatePrivateKeyTagResult{}, err
	}
	if err := tagKeys(e, p.PrivateKeyIDs, tag.ID, true); err != nil {
		return CreatePrivateKeyTagResult{}, err
	}
	return CreatePrivateKeyTagResult{PrivateKeyTagID: tag.ID, PrivateKeyIDs: p.PrivateKeyIDs}, nil
}
