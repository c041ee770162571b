package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// GetActivity reads one activity.
var GetActivity = activity.Query[GetActivityParams, activity.Reply]{
	Name:    "get_activity",
	Summary: "Read one activity with its votes and its result.",
	// A login by a token that waits for a factor names the parent: the client does
	// not know yet where its user belongs.
	Access: activity.Access{ByAttestation: true, FindsChild: true},
	Read:   getActivity,
}

func getActivity(_ context.Context, r activity.Reader, p *GetActivityParams) (activity.Reply, error) {
	found, err := findActivity(r, p.ActivityID)
	if err != nil {
		return activity.Reply{}, err
	}
	view, err := r.Activity(found)
	return activity.Reply{Activity: view}, err
}
