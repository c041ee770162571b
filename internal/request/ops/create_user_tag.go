package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// CreateUserTag makes a tag and puts it on users.
var CreateUserTag = activity.Op[CreateUserTagParams, CreateUserTagResult]{
	Spec: activity.Spec{
		Name: "create_user_tag", Version: 1,
		Summary: "Create a user tag and add it to users.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionCreate},
	},
	Facts: newTagFacts[CreateUserTagParams],
	Exec:  createUserTag,
}

// CreateUserTagParams are the parameters of create_user_tag.
type CreateUserTagParams struct {
	UserTagName string   `json:"userTagName" check:"required,label" doc:"Name of the tag, unique in the organization."`
	UserIDs     []string `json:"userIds" check:"required,max=1000,unique,each=uuid" doc:"Users to add the tag to; may be empty."`
}

// CreateUserTagResult is the result of create_user_tag.
type CreateUserTagResult struct {
	UserTagID string   `json:"userTagId" check:"required,uuid" doc:"Id of the new tag."`
	UserIDs   []string `json:"userIds" check:"required,each=uuid" doc:"Users that have the tag."`
}

func createUserTag(_ context.Context, e activity.Env, p *CreateUserTagParams) (CreateUserTagResult, error) {
	tag, err := newTag(e, domain.TagUser, p.UserTagName)
	if err != nil {
		return CreateUserTagResult{}, err
	}
	if err := tagUsers(e, p.UserIDs, tag.ID, true); err != nil {
		return CreateUserTagResult{}, err
	}
	return CreateUserTagResult{UserTagID: tag.ID, UserIDs: p.UserIDs}, nil
}
