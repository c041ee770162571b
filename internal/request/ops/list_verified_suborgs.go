package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// ListVerifiedSuborgs is [ListSuborgs] for contacts that a user has proved.
var ListVerifiedSuborgs = activity.Query[SuborgFilter, ListSuborgsReply]{
	Name:    "list_verified_suborgs",
	Summary: "List the ids of sub-organizations in which a user has proved an e-mail address or a phone number.",
	Access:  activity.Access{AuthProxy: activity.AuthProxyAtHome},
	Tokens:  (*SuborgFilter).tokens,
	Read: func(_ context.Context, r activity.Reader, p *SuborgFilter) (ListSuborgsReply, error) {
		return listSuborgs(r, p, true)
	},
}
