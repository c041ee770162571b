package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListUserTags reads all tags for users.
var ListUserTags = activity.Query[InOrganization, ListUserTagsReply]{
	Name:    "list_user_tags",
	Summary: "Read all user tags of the organization.",
	Read:    listUserTags,
}

// ListUserTagsReply is the reply of list_user_tags.
type ListUserTagsReply struct {
	UserTags []record.Tag `json:"userTags" check:"required" doc:"Tags in the order of creation."`
}

func listUserTags(_ context.Context, r activity.Reader, _ *InOrganization) (ListUserTagsReply, error) {
	tags, err := tagsOf(r, domain.TagUser)
	return ListUserTagsReply{UserTags: tags}, err
}
