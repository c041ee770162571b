package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteUserTags deletes tags and takes them off their users.
var DeleteUserTags = activity.Op[DeleteUserTagsParams, DeleteUserTagsResult]{
	Spec: activity.Spec{
		Name: "delete_user_tags", Version: 1,
		Summary: "Delete user tags and take them off the users who have them.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionDelete},
	},
	Facts: func(f activity.Facts, p *DeleteUserTagsParams) error { return tagFacts(f, nil, p.UserTagIDs) },
	Exec:  deleteUserTags,
}

// DeleteUserTagsParams are the parameters of delete_user_tags.
type DeleteUserTagsParams struct {
	UserTagIDs []string `json:"userTagIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Tags to delete."`
}

// DeleteUserTagsResult is the result of delete_user_tags.
type DeleteUserTagsResult struct {
	UserTagIDs []string `json:"userTagIds" check:"required,each=uuid" doc:"Tags that were deleted."`
	UserIDs    []string `json:"userIds" check:"required,each=uuid" doc:"Users who had one of them."`
}

func deleteUserTags(_ context.Context, e activity.Env, p *DeleteUserTagsParams) (DeleteUserTagsResult, error) {
	for _, tag := range p.UserTagIDs {
		if err := requireTag(e.Tx, tag, domain.TagUser); err != nil {
			return DeleteUserTagsResult{}, err
		}
		if err := e.Tx.Tags().Delete(tag); err != nil {
			return DeleteUserTagsResult{}, err
		}
	}
	result := DeleteUserTagsResult{UserTagIDs: p.UserTagIDs}
	users, err := e.Tx.Users().List("", 0)
	if err != nil {
		return DeleteUserTagsResult{}, err
	}
	deleted := func(tag string) bool { return slices.Contains(p.UserTagIDs, tag) }
	for _, u := range users {
		if !slices.ContainsFunc(u.TagIDs, deleted) {
			continue
		}
		if err := e.Tx.Users().Edit(u.ID, func(u *domain.User) error {
			u.TagIDs, u.UpdatedAt = slices.DeleteFunc(u.TagIDs, deleted), e.Now
			return nil
		}); err != nil {
			return DeleteUserTagsResult{}, err
		}
		result.UserIDs = append(result.UserIDs, u.ID)
	}
	return result, nil
}
