package ops

import (
	"cmp"
	"slices"

	"latchkey/internal/schema"
)

// This file holds the superseded parameters of create_users and how they
// become the newest ones.

// CreateUsersParams are the parameters of version 1. It is also the form in
// which the interface's document echoes every version.
type CreateUsersParams struct {
	Users []UserParams `json:"users" check:"required,min=1,max=100" doc:"Users to create."`
}

// UserParams describes a new user in version 1.
type UserParams struct {
	UserName       string                `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail      string                `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	AccessType     AccessType            `json:"accessType,omitzero" doc:"Kept for older callers; every user may use all of their credentials."`
	APIKeys        []P256APIKeyParams    `json:"apiKeys" check:"required,lenient,max=100" doc:"P-256 API keys; may be empty."`
	Authenticators []AuthenticatorParams `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
	UserTags       []string              `json:"userTags" check:"required,lenient,max=100,unique,each=uuid" doc:"Ids of tags to put on the user; may be empty."`
}

// AccessType says how a user may log in.
type AccessType string

const accessAll AccessType = "ACCESS_TYPE_ALL"

// Enum lists the access types for the schema.
func (AccessType) Enum() []string {
	return []string{"ACCESS_TYPE_WEB", "ACCESS_TYPE_API", string(accessAll)}
}

// CreateUsersParamsV2 are the parameters of version 2.
type CreateUsersParamsV2 struct {
	Users []UserParamsV2 `json:"users" check:"required,min=1,max=100" doc:"Users to create."`
}

// UserParamsV2 describes a new user in version 2.
type UserParamsV2 struct {
	UserName       string                  `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail      string                  `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	APIKeys        []P256APIKeyParams      `json:"apiKeys" check:"required,lenient,max=100" doc:"P-256 API keys; may be empty."`
	Authenticators []AuthenticatorParamsV2 `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
	UserTags       []string                `json:"userTags" check:"required,lenient,max=100,unique,each=uuid" doc:"Ids of tags to put on the user; may be empty."`
}

// CreateUsersParamsV3 are the parameters of version 3.
type CreateUsersParamsV3 struct {
	Users []UserParamsV3 `json:"users" check:"required,min=1,max=100" doc:"Users to create."`
}

// UserParamsV3 describes a new user in version 3.
type UserParamsV3 struct {
	UserName        string                  `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail       string                  `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	UserPhoneNumber string                  `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number in E.164 form, such as +14155550100."`
	APIKeys         []APIKeyParamsV2        `json:"apiKeys" check:"required,lenient,max=100" doc:"API keys; may be empty."`
	Authenticators  []AuthenticatorParamsV2 `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
	OauthProviders  []OauthProviderParams   `json:"oauthProviders" check:"required,lenient,max=100" doc:"Identities at OpenID providers; may be empty."`
	UserTags        []string                `json:"userTags" check:"required,lenient,max=100,unique,each=uuid" doc:"Ids of tags to put on the user; may be empty."`
}

// Check applies the rules of the newest version.
func (p *CreateUsersParams) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *CreateUsersParamsV2) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *CreateUsersParamsV3) Check(problems *schema.Problems) { p.newest().Check(problems) }

func (p *CreateUsersParams) newest() *CreateUsersParamsV4 {
	newest := &CreateUsersParamsV4{}
	for _, u := range p.Users {
		newest.Users = append(newest.Users, UserParamsV4{
			UserName: u.UserName, UserEmail: u.UserEmail, APIKeys: onP256(u.APIKeys),
			Authenticators: eachNewest(u.Authenticators), UserTags: u.UserTags,
		})
	}
	return newest
}

func (p *CreateUsersParamsV2) newest() *CreateUsersParamsV4 {
	newest := &CreateUsersParamsV4{}
	for _, u := range p.Users {
		newest.Users = append(newest.Users, UserParamsV4{
			UserName: u.UserName, UserEmail: u.UserEmail, APIKeys: onP256(u.APIKeys),
			Authenticators: u.Authenticators, UserTags: u.UserTags,
		})
	}
	return newest
}

func (p *CreateUsersParamsV3) newest() *CreateUsersParamsV4 {
	newest := &CreateUsersParamsV4{}
	for _, u := range p.Users {
		newest.Users = append(newest.Users, UserParamsV4{
			UserName: u.UserName, UserEmail: u.UserEmail, UserPhoneNumber: u.UserPhoneNumber,
			APIKeys: u.APIKeys, Authenticators: u.Authenticators,
			OauthProviders: withTokens(u.OauthProviders), UserTags: u.UserTags,
		})
	}
	return newest
}

// documented is the request in the form in which the interface's document
// echoes it, whatever its version.
func (p *CreateUsersParamsV4) documented() *CreateUsersParams {
	form := &CreateUsersParams{}
	for _, u := range p.Users {
		user := UserParams{UserName: u.UserName, UserEmail: u.UserEmail, AccessType: accessAll, UserTags: u.UserTags}
		for _, k := range u.APIKeys {
			user.APIKeys = append(user.APIKeys, P256APIKeyParams{
				APIKeyName: k.APIKeyName, PublicKey: k.PublicKey, ExpirationSeconds: k.ExpirationSeconds,
			})
		}
		for _, a := range u.Authenticators {
			user.Authenticators = append(user.Authenticators, a.documented())
		}
		form.Users = append(form.Users, user)
	}
	return form
}

// withAccess is version 1 as it is echoed: with the access that was asked for,
// or full access where none was.
func (p *CreateUsersParams) withAccess() *CreateUsersParams {
	form := &CreateUsersParams{Users: slices.Clone(p.Users)}
	for i := range form.Users {
		form.Users[i].AccessType = cmp.Or(form.Users[i].AccessType, accessAll)
	}
	return form
}

// withIDs is the request as it is echoed when its users exist: each passkey
// names the user who has it.
func (p *CreateUsersParams) withIDs(r *CreateUsersResult) *CreateUsersParams {
	for i, id := range r.UserIDs {
		u := &p.Users[i]
		u.Authenticators = slices.Clone(u.Authenticators)
		for j := range u.Authenticators {
			u.Authenticators[j].UserID = id
		}
	}
	return p
}
