package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// Whoami returns the user and the organization of the caller.
var Whoami = activity.Query[InOrganization, WhoamiReply]{
	Name:    "whoami",
	Summary: "Tell who signed the request, and in which organization.",
	Access:  activity.Access{FindsChild: true, AboutCaller: true, ByRecovery: true},
	Read:    whoami,
}

// WhoamiReply is the reply of whoami.
type WhoamiReply struct {
	OrganizationID   string `json:"organizationId" check:"required,uuid" doc:"Organization of the caller."`
	OrganizationName string `json:"organizationName" check:"required" doc:"Name of the organization."`
	UserID           string `json:"userId" check:"required,uuid" doc:"Id of the caller."`
	Username         string `json:"username" check:"required" doc:"Name of the caller."`
}

func whoami(_ context.Context, r activity.Reader, _ *InOrganization) (WhoamiReply, error) {
	org, err := r.Tx.Organization()
	if err != nil {
		return WhoamiReply{}, err
	}
	user, err := r.Tx.Users().Get(r.UserID)
	if err != nil {
		return WhoamiReply{}, err
	}
	return WhoamiReply{OrganizationID: org.ID, OrganizationName: org.Name, UserID: user.ID, Username: user.Name}, nil
}
