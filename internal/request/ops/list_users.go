package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListUsers reads all users.
var ListUsers = activity.Query[InOrganization, ListUsersReply]{
	Name:    "list_users",
	Summary: "Read all users of the organization.",
	Read:    listUsers,
}

// ListUsersReply is the reply of list_users.
type ListUsersReply struct {
	Users []record.User `json:"users" check:"required" doc:"Users in the order of creation."`
}

func listUsers(_ context.Context, r activity.Reader, _ *InOrganization) (ListUsersReply, error) {
	users, err := r.Tx.Users().List("", 0)
	return ListUsersReply{Users: record.Each(users, record.OfUser)}, err
}
