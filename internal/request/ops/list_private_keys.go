package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListPrivateKeys reads all private keys' public sides.
var ListPrivateKeys = activity.Query[InOrganization, ListPrivateKeysReply]{
	Name:    "list_private_keys",
	Summary: "Read the public side of all private keys of the organization.",
	Read:    listPrivateKeys,
}

// ListPrivateKeysReply is the reply of list_private_keys.
type ListPrivateKeysReply struct {
	PrivateKeys []record.PrivateKey `json:"privateKeys" check:"required" doc:"Keys in the order of creation."`
}

func listPrivateKeys(_ context.Context, r activity.Reader, _ *InOrganization) (ListPrivateKeysReply, error) {
	keys, err := r.Tx.PrivateKeys().List("", 0)
	return ListPrivateKeysReply{PrivateKeys: record.Each(keys, record.OfPrivateKey)}, err
}
