package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// ListSuborgs finds sub-organizations by what is in them.
var ListSuborgs = activity.Query[SuborgFilter, ListSuborgsReply]{
	Name:    "list_suborgs",
	Summary: "List the ids of sub-organizations, all of them or by a name, a credential, a contact or an address.",
	Access:  activity.Access{AuthProxy: activity.AuthProxyAtHome},
	Tokens:  (*SuborgFilter).tokens,
	Read: func(_ context.Context, r activity.Reader, p *SuborgFilter) (ListSuborgsReply, error) {
		return listSuborgs(r, p, false)
	},
}
