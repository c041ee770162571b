package main

import (
	"context"
	"fmt"
	"os"

	"latchkey/client"
)

// maxNamed is how many users are named who can approve an activity.
const maxNamed = 20

// showPending says that an activity waits, for whom, and how they approve it: to
// people, beside the reply.
func showPending(ctx context.Context, server *client.Client, a *client.Activity) {
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", a.Err())
	switch voters, err := canApprove(ctx, server, a); {
	case err != nil:
		fmt.Fprintf(os.Stderr, "  who can still approve it could not be found out: %v\n", err)
	case len(voters) == 0:
		fmt.Fprintln(os.Stderr, "  no user can approve it now: those who could have voted, or are gone")
	default:
		fmt.Fprintln(os.Stderr, "  these users can still approve it:")
		for _, u := range voters[:min(len(voters), maxNamed)] {
			fmt.Fprintf(os.Stderr, "    %q %s\n", u.UserName, u.UserID)
		}
		if more := len(voters) - maxNamed; more > 0 {
			fmt.Fprintf(os.Stderr, "    and %d more\n", more)
		}
	}
	fmt.Fprintf(os.Stderr, "  to approve it: latchkey call approve_activity --json '{\"fingerprint\":\"%s\"}'\n", a.Fingerprint)
}

// canApprove asks the server whose votes would count beside those that were
// given.
func canApprove(ctx context.Context, server *client.Client, a *client.Activity) ([]client.ExplainedVoter, error) {
	reply, err := server.In(a.OrganizationID).Explain(ctx, client.ExplainRequest{ActivityID: a.ID})
	if err != nil {
		return nil, readable(err)
	}
	return reply.CanApprove, nil
}
