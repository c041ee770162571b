package ops

import (
	"context"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// GetIPAllowlist reads a list of networks.
var GetIPAllowlist = activity.Query[GetIPAllowlistParams, GetIPAllowlistReply]{
	Name:    "get_ip_allowlist",
	Summary: "Read the list of networks of the organization, or of one API key.",
	Read:    getIPAllowlist,
}

// GetIPAllowlistParams are the parameters of get_ip_allowlist.
type GetIPAllowlistParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	PublicKey      string `json:"publicKey,omitzero" check:"hex,max=130,unsampled" doc:"API key whose list it is; leave out for the organization's." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
}

// GetIPAllowlistReply is the reply of get_ip_allowlist.
type GetIPAllowlistReply struct {
	Allowlist IPAllowlist `json:"allowlist" check:"required" doc:"The list; without rules if there is none."`
}

// IPAllowlist is a list of networks as clients read it.
type IPAllowlist struct {
	OrganizationID    string            `json:"organizationId" check:"required,uuid" doc:"Organization that it belongs to."`
	PublicKey         string            `json:"publicKey,omitzero" doc:"API key that it is for; absent: it is the organization's."`
	Enabled           *bool             `json:"enabled,omitzero" doc:"Whether the organization's list counts; absent for that of a key."`
	Rules             []IPRule          `json:"rules" check:"required" doc:"Networks that are let in."`
	OnEvaluationError OnEvaluationError `json:"onEvaluationError" check:"required" doc:"What becomes of a request whose address is not known."`
}

// IPRule is a network as clients read it.
type IPRule struct {
	CIDR      string        `json:"cidr" check:"required" doc:"The network."`
	Label     string        `json:"label" check:"required,allowempty" doc:"Human-readable name."`
	CreatedAt schema.Uint64 `json:"createdAt" check:"required" doc:"When it was set, in milliseconds since the Unix epoch."`
}

func getIPAllowlist(_ context.Context, r activity.Reader, p *GetIPAllowlistParams) (GetIPAllowlistReply, error) {
	org, err := r.Tx.Organization()
	if err != nil {
		return GetIPAllowlistReply{}, err
	}
	reply := IPAllowlist{OrganizationID: org.ID, PublicKey: p.PublicKey, OnEvaluationError: onErrorDeny}
	list := org.IPAllowlist
	if p.PublicKey != "" {
		user, err := keyOwner(r.Tx, p.PublicKey)
		if err != nil {
			return GetIPAllowlistReply{}, err
		}
		list = user.IPAllowlistOf(domain.APIKeyCredential(strings.ToLower(p.PublicKey)))
	} else {
		enabled := list != nil && list.Enabled
		reply.Enabled = &enabled
	}
	if list != nil {
		if list.AllowUnknown {
			reply.OnEvaluationError = onErrorAllow
		}
		reply.Rules = record.Each(list.Rules, func(rule domain.IPRule) IPRule {
			return IPRule{CIDR: rule.Network.String(), Label: rule.Label, CreatedAt: schema.Uint64(rule.CreatedAt.UnixMilli())}
		})
	}
	return GetIPAllowlistReply{Allowlist: reply}, nil
}
