package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// UpdatePrivateKeyTag renames a tag and changes which keys have it.
var UpdatePrivateKeyTag = activity.Op[UpdatePrivateKeyTagParams, UpdatePrivateKeyTagResult]{
	Spec: activity.Spec{
		Name: "update_private_key_tag", Version: 1,
		Summary: "Rename a private key tag and change which keys have it. All changes succeed together or none does.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionUpdate},
	},
	Facts: func(f activity.Facts, p *UpdatePrivateKeyTagParams) error {
		return movedTagFacts(f, p.PrivateKeyTagID, p.AddPrivateKeyIDs, p.RemovePrivateKeyIDs)
	},
	Exec: updatePrivateKeyTag,
}

// UpdatePrivateKeyTagParams are the parameters of update_private_key_tag.
type UpdatePrivateKeyTagParams struct {
	PrivateKeyTagID      string   `json:"privateKeyTagId" check:"required,uuid" doc:"Tag to change."`
	NewPrivateKeyTagName string   `json:"newPrivateKeyTagName,omitzero" check:"label" doc:"New name; leave out to keep the name."`
	AddPrivateKeyIDs     []string `json:"addPrivateKeyIds" check:"required,max=1000,unique,each=uuid" doc:"Keys to add the tag to; may be empty."`
	RemovePrivateKeyIDs  []string `json:"removePrivateKeyIds" check:"required,max=1000,unique,each=uuid" doc:"Keys to remove the tag from; may be empty." example:"0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f"`
}

// Check refuses to add and remove the tag on one key at once.
func (p *UpdatePrivateKeyTagParams) Check(problems *schema.Problems) {
	if slices.ContainsFunc(p.RemovePrivateKeyIDs, func(id string) bool { return slices.Contains(p.AddPrivateKeyIDs, id) }) {
		problems.Add("removePrivateKeyIds", "holds a key that is also in addPrivateKeyIds; name each key in one of them")
	}
}

// UpdatePrivateKeyTagResult is the result of update_private_key_tag.
type UpdatePrivateKeyTagResult struct {
	PrivateKeyTagID string `json:"privateKeyTagId" check:"required,uuid" doc:"Id of the tag."`
}

func updatePrivateKeyTag(_ context.Context, e activity.Env, p *UpdatePrivateKeyTagParams) (UpdatePrivateKeyTagResult, error) {
	if err := renameTag(e, p.PrivateKeyTagID, domain.TagPrivateKey, p.NewPrivateKeyTagName); err != nil {
		return UpdatePrivateKeyTagResult{}, err
	}
	if err := tagKeys(e, p.AddPrivateKeyIDs, p.PrivateKeyTagID, true); err != nil {
		return UpdatePrivateKeyTagResult{}, err
	}
	if err := tagKeys(e, p.RemovePrivateKeyIDs, p.PrivateKeyTagID, false); err != nil {
		return UpdatePrivateKeyTagResult{}, err
	}
	return UpdatePrivateKeyTagResult{PrivateKeyTagID: p.PrivateKeyTagID}, nil
}
