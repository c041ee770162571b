package ops

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// SetIPAllowlist says from which addresses requests are answered.
var SetIPAllowlist = activity.Op[SetIPAllowlistParams, SetIPAllowlistResult]{
	Spec: activity.Spec{
		Name: "set_ip_allowlist", Version: 1,
		Summary: "Replace the list of networks from which requests of the organization, or of one API key, are answered.",
		Govern:  activity.Govern{Resource: activity.ResourceOrganization, Action: activity.ActionUpdate},
	},
	Exec: setIPAllowlist,
}

// SetIPAllowlistParams are the parameters of set_ip_allowlist.
type SetIPAllowlistParams struct {
	PublicKey         string            `json:"publicKey,omitzero" check:"hex,max=130,unsampled" doc:"API key whose list it is; leave out for the organization's." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	Enabled           *bool             `json:"enabled,omitzero" doc:"Whether the organization's list, and with it those of its keys, count; false when absent. A key's list has no such switch."`
	Rules             []IPAllowlistRule `json:"rules,omitzero" check:"max=100,sampled" doc:"Networks to let in: at most 10 of IPv4 and 10 of IPv6."`
	OnEvaluationError OnEvaluationError `json:"onEvaluationError,omitzero" doc:"What becomes of a request whose address is not known; DENY when absent."`
}

// IPAllowlistRule lets a network in.
type IPAllowlistRule struct {
	CIDR  string `json:"cidr" check:"required,max=64" doc:"Network, such as 192.0.2.0/24 or 2001:db8::/48." example:"192.0.2.0/24"`
	Label string `json:"label,omitzero" check:"label" doc:"Human-readable name."`
}

// SetIPAllowlistResult is empty.
type SetIPAllowlistResult struct{}

// maxNetworks is how many networks of each family a list has at most.
const maxNetworks = 10

// Check refuses what is no network, and too many of them.
func (p *SetIPAllowlistParams) Check(problems *schema.Problems) {
	if p.PublicKey != "" && p.Enabled != nil {
		problems.Add("enabled", "is for the organization's list; that of a key counts as long as it is there")
	}
	for i, r := range p.Rules {
		if _, err := network(r.CIDR); err != nil {
			problems.Add(fmt.Sprintf("rules.%d.cidr", i), "must be a network such as 192.0.2.0/24 or 2001:db8::/48")
		}
	}
	count := map[bool]int{}
	for _, n := range p.networks() {
		count[n.Addr().Is4()]++
	}
	if max(count[true], count[false]) > maxNetworks {
		problems.Add("rules", "may have at most %d networks of IPv4 and %d of IPv6", maxNetworks, maxNetworks)
	}
}

// network reads a network, and leaves the bits behind its length out.
func network(cidr string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(cidr)
	if err != nil || n.Addr().Is4In6() { // no request is from one
		return netip.Prefix{}, fmt.Errorf("no network: %w", err)
	}
	return n.Masked(), nil
}

// networks are those of the rules, each once.
func (p *SetIPAllowlistParams) networks() []netip.Prefix {
	var all []netip.Prefix
	for _, r := range p.Rules {
		if n, err := network(r.CIDR); err == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func setIPAllowlist(_ context.Context, e activity.Env, p *SetIPAllowlistParams) (SetIPAllowlistResult, error) {
	list := &domain.IPAllowlist{Enabled: p.Enabled != nil && *p.Enabled, AllowUnknown: p.OnEvaluationError == onErrorAllow}
	for _, r := range p.Rules {
		n, err := network(r.CIDR)
		if err != nil {
			return SetIPAllowlistResult{}, err
		}
		if !slices.ContainsFunc(list.Rules, func(known domain.IPRule) bool { return known.Network == n }) {
			list.Rules = append(list.Rules, domain.IPRule{Network: n, Label: r.Label, CreatedAt: e.Now})
		}
	}
	return SetIPAllowlistResult{}, editIPAllowlist(e, p.PublicKey, list)
}
