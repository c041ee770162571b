package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// UpdateUserTag renames a tag and changes who has it, all or nothing.
var UpdateUserTag = activity.Op[UpdateUserTagParams, UpdateUserTagResult]{
	Spec: activity.Spec{
		Name: "update_user_tag", Version: 1,
		Summary: "Rename a user tag and change who has it. All changes succeed together or none does.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionUpdate},
	},
	Facts: func(f activity.Facts, p *UpdateUserTagParams) error {
		return movedTagFacts(f, p.UserTagID, p.AddUserIDs, p.RemoveUserIDs)
	},
	Exec: updateUserTag,
}

// UpdateUserTagParams are the parameters of update_user_tag.
type UpdateUserTagParams struct {
	UserTagID      string   `json:"userTagId" check:"required,uuid" doc:"Tag to change."`
	NewUserTagName string   `json:"newUserTagName,omitzero" check:"label" doc:"New name; leave out to keep the name."`
	AddUserIDs     []string `json:"addUserIds" check:"required,max=1000,unique,each=uuid" doc:"Users to add the tag to; may be empty."`
	RemoveUserIDs  []string `json:"removeUserIds" check:"required,max=1000,unique,each=uuid" doc:"Users to remove the tag from; may be empty." example:"0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f"`
}

// Check refuses to add and remove the tag on one user at once.
func (p *UpdateUserTagParams) Check(problems *schema.Problems) {
	for _, id := range p.RemoveUserIDs {
		if slices.Contains(p.AddUserIDs, id) {
			problems.Add("removeUserIds", "holds a user who is also in addUserIds; name each user in one of them")
			return
		}
	}
}

// UpdateUserTagResult is the result of update_user_tag.
type UpdateUserTagResult struct {
	UserTagID string `json:"userTagId" check:"required,uuid" doc:"Id of the tag."`
}

func updateUserTag(_ context.Context, e activity.Env, p *UpdateUserTagParams) (UpdateUserTagResult, error) {
	if err := renameTag(e, p.UserTagID, domain.TagUser, p.NewUserTagName); err != nil {
		return UpdateUserTagResult{}, err
	}
	if err := tagUsers(e, p.AddUserIDs, p.UserTagID, true); err != nil {
		return UpdateUserTagResult{}, err
	}
	if err := tagUsers(e, p.RemoveUserIDs, p.UserTagID, false); err != nil {
		return UpdateUserTagResult{}, err
	}
	return UpdateUserTagResult{UserTagID: p.UserTagID}, nil
}
