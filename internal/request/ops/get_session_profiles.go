package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetSessionProfiles reads all session profiles.
var GetSessionProfiles = activity.Query[InOrganization, GetSessionProfilesReply]{
	Name:    "get_session_profiles",
	Summary: "Read the session profiles of the organization and of its parent.",
	Read:    getSessionProfiles,
}

// GetSessionProfilesReply is the reply of get_session_profiles.
type GetSessionProfilesReply struct {
	SessionProfiles []SessionProfileRecord `json:"sessionProfiles" check:"required" doc:"Profiles in the order of creation, the organization's own first."`
}

func getSessionProfiles(_ context.Context, r activity.Reader, _ *InOrganization) (GetSessionProfilesReply, error) {
	all, err := r.Tx.UsableSessionProfiles()
	return GetSessionProfilesReply{SessionProfiles: record.Each(all, sessionProfileRecord)}, err
}
