package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// RemoveIPAllowlist removes a list of networks.
var RemoveIPAllowlist = activity.Op[RemoveIPAllowlistParams, RemoveIPAllowlistResult]{
	Spec: activity.Spec{
		Name: "remove_ip_allowlist", Version: 1,
		Summary: "Remove the list of networks of the organization, or of one API key.",
		Govern:  activity.Govern{Resource: activity.ResourceOrganization, Action: activity.ActionUpdate},
	},
	Exec: removeIPAllowlist,
}

// RemoveIPAllowlistParams are the parameters of remove_ip_allowlist.
type RemoveIPAllowlistParams struct {
	PublicKey string `json:"publicKey,omitzero" check:"hex,max=130,unsampled" doc:"API key whose list it is; leave out for the organization's." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
}

// RemoveIPAllowlistResult is empty.
type RemoveIPAllowlistResult struct{}

func removeIPAllowlist(_ context.Context, e activity.Env, p *RemoveIPAllowlistParams) (RemoveIPAllowlistResult, error) {
	return RemoveIPAllowlistResult{}, editIPAllowlist(e, p.PublicKey, nil)
}
