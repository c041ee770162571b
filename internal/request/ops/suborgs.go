package ops

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/address"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds what [ListSuborgs] and [ListVerifiedSuborgs] have in common.

// SuborgFilter are the parameters of list_suborgs and list_verified_suborgs.
type SuborgFilter struct {
	OrganizationID    string     `json:"organizationId" check:"required" doc:"Parent organization."`
	FilterType        string     `json:"filterType,omitzero" check:"enum=NAME|USERNAME|EMAIL|PHONE_NUMBER|CREDENTIAL_ID|PUBLIC_KEY|OIDC_TOKEN|OIDC_CLAIMS|WALLET_ACCOUNT_ADDRESS" doc:"What to look for; all when absent."`
	FilterValue       string     `json:"filterValue,omitzero" check:"max=16384" doc:"What it must be, exactly. OIDC_CLAIMS is JSON with iss, sub and aud."`
	PaginationOptions Pagination `json:"paginationOptions,omitzero" doc:"Which page to return."`
}

// Check refuses a filter without a type or without a value.
func (p *SuborgFilter) Check(problems *schema.Problems) {
	switch {
	case p.FilterType != "" && p.FilterValue == "":
		problems.Add("filterValue", "is required with filterType")
	case p.FilterType == "" && p.FilterValue != "":
		problems.Add("filterType", "is required with filterValue")
	case p.FilterType == "OIDC_CLAIMS":
		if claims, err := p.claims(); err != nil {
			problems.Add("filterValue", "must be JSON with the members iss, sub and aud")
		} else if strings.ContainsRune(claims.Issuer+claims.Subject+claims.Audience, 0) {
			problems.Add("filterValue", "must not contain the character U+0000 in iss, sub or aud")
		}
	}
}

func (p *SuborgFilter) tokens() []string {
	if p.FilterType != "OIDC_TOKEN" {
		return nil
	}
	return []string{p.FilterValue}
}

func (p *SuborgFilter) claims() (domain.OIDCSubject, error) {
	var i domain.OIDCSubject
	return i, json.Unmarshal([]byte(p.FilterValue), &i, json.RejectUnknownMembers(true))
}

// ListSuborgsReply is the reply of list_suborgs and list_verified_suborgs.
type ListSuborgsReply struct {
	OrganizationIDs []string `json:"organizationIds" check:"required,each=uuid" doc:"Ids, oldest first."`
}

// listSuborgs lists what matches the filter; with verified, only by contacts that
// a user has proved.
func listSuborgs(r activity.Reader, p *SuborgFilter, verified bool) (ListSuborgsReply, error) {
	key, err := p.key(r)
	if err != nil {
		return ListSuborgsReply{}, err
	}
	if verified {
		switch p.FilterType {
		case "", "EMAIL", "PHONE_NUMBER":
			key = domain.ChildByVerified(key)
		default:
			return ListSuborgsReply{}, fault.Fields("", []fault.Field{{
				Path: "filterType", Description: "must be EMAIL or PHONE_NUMBER here: nothing else is verified",
			}})
		}
	}
	page := p.PaginationOptions
	if page.Before == "" {
		ids, err := r.Children(key, page.After, page.size())
		return ListSuborgsReply{OrganizationIDs: append([]string{}, ids...)}, err
	}
	// The directory is read forwards only: the page before an id is the end of
	// everything before it.
	before := []string{}
	for after := page.After; ; {
		ids, err := r.Children(key, after, 100)
		if err != nil {
			return ListSuborgsReply{}, err
		}
		end, _ := slices.BinarySearch(ids, page.Before)
		before = append(before, ids[:end]...)
		before = before[max(0, len(before)-page.size()):]
		if end < len(ids) || len(ids) < 100 {
			return ListSuborgsReply{OrganizationIDs: before}, nil
		}
		after = ids[len(ids)-1]
	}
}

// key is the key of the matches in the parent's directory.
func (p *SuborgFilter) key(r activity.Reader) (string, error) {
	switch p.FilterType {
	case "NAME":
		return domain.ChildByName(p.FilterValue), nil
	case "USERNAME":
		return domain.ChildByUserName(p.FilterValue), nil
	case "EMAIL":
		return domain.ChildByEmail(p.FilterValue), nil
	case "PHONE_NUMBER":
		return domain.ChildByPhone(p.FilterValue), nil
	case "CREDENTIAL_ID":
		return domain.ChildByCredential(domain.PasskeyCredential(strings.TrimRight(p.FilterValue, "="))), nil
	case "PUBLIC_KEY":
		return domain.ChildByCredential(domain.APIKeyCredential(strings.ToLower(p.FilterValue))), nil
	case "OIDC_TOKEN":
		return domain.ChildByCredential(domain.OAuthCredential(r.Claims[p.FilterValue].OIDCSubject)), nil
	case "OIDC_CLAIMS":
		identity, err := p.claims()
		return domain.ChildByCredential(domain.OAuthCredential(identity)), err
	case "WALLET_ACCOUNT_ADDRESS":
		return domain.ChildByAddress(address.Key(p.FilterValue)), nil
	}
	return domain.AllChildren, nil
}
