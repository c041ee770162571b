package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListPrivateKeyTags reads all tags for private keys.
var ListPrivateKeyTags = activity.Query[InOrganization, ListPrivateKeyTagsReply]{
	Name:    "list_private_key_tags",
	Summary: "Read all private key tags of the organization.",
	Read:    listPrivateKeyTags,
}

// ListPrivateKeyTagsReply is the reply of list_private_key_tags.
type ListPrivateKeyTagsReply struct {
	PrivateKeyTags []record.Tag `json:"privateKeyTags" check:"required" doc:"Tags in the order of creation."`
}

func listPrivateKeyTags(_ context.Context, r activity.Reader, _ *InOrganization) (ListPrivateKeyTagsReply, error) {
	tags, err := tagsOf(r, domain.TagPrivateKey)
	return ListPrivateKeyTagsReply{PrivateKeyTags: tags}, err
}
