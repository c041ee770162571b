package domain

import (
	"net/netip"
	"slices"
	"time"
)

// IPAllowlist says from which addresses requests are answered: those of an
// organization, or those that an API key stamps.
type IPAllowlist struct {
	// Enabled counts for an organization only. One that is not enabled restricts
	// nothing, and the lists of its keys do not either.
	Enabled bool `json:"enabled,omitzero"`
	// AllowUnknown lets requests in whose address is not known.
	AllowUnknown bool     `json:"allowUnknown,omitzero"`
	Rules        []IPRule `json:"rules"`
}

// IPRule lets a network in.
type IPRule struct {
	Network   netip.Prefix `json:"network"`
	Label     string       `json:"label,omitzero"`
	CreatedAt time.Time    `json:"createdAt"`
}

// Admits reports whether a request from an address is answered, by a credential
// with a list of its own or none. Sub-organizations have no lists. A list of a
// credential that is empty leaves it to the organization's.
func (o *Organization) Admits(own *IPAllowlist, from netip.Addr) bool {
	if o.ParentID != "" || o.IPAllowlist == nil || !o.IPAllowlist.Enabled {
		return true
	}
	list := o.IPAllowlist
	if own != nil && len(own.Rules) > 0 {
		list = own
	}
	if !from.IsValid() {
		return list.AllowUnknown
	}
	return slices.ContainsFunc(list.Rules, func(r IPRule) bool { return r.Network.Contains(from) })
}

// IPAllowlistOf is the list of the user's API key with this credential key; nil:
// it has none, or is no API key.
func (u *User) IPAllowlistOf(credential string) *IPAllowlist {
	for i := range u.APIKeys {
		if APIKeyCredential(u.APIKeys[i].PublicKey) == credential {
			return u.APIKeys[i].IPAllowlist
		}
	}
	return nil
}
