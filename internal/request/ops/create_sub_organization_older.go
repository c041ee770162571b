package ops

import (
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds the superseded versions of create_sub_organization and how
// they become the newest one.

// The superseded versions.
var (
	CreateSubOrganization   = activity.Older(subOrganizationSpec(1, ""), CreateSubOrganizationV8, (*SubOrganizationParams).newest)
	CreateSubOrganizationV2 = activity.Older(subOrganizationSpec(2, "createSubOrganizationResult"), CreateSubOrganizationV8, (*SubOrganizationParamsV2).newest)
	CreateSubOrganizationV3 = activity.Older(subOrganizationSpec(3, ""), CreateSubOrganizationV8, (*SubOrganizationParamsV3).newest)
	CreateSubOrganizationV4 = activity.Older(subOrganizationSpec(4, ""), CreateSubOrganizationV8, (*SubOrganizationParamsV4).newest)
	CreateSubOrganizationV5 = activity.Older(subOrganizationSpec(5, ""), CreateSubOrganizationV8, (*SubOrganizationParamsV5).newest)
	CreateSubOrganizationV6 = activity.Older(subOrganizationSpec(6, ""), CreateSubOrganizationV8, (*SubOrganizationParamsV6).newest)
	CreateSubOrganizationV7 = activity.Older(subOrganizationSpec(7, ""), CreateSubOrganizationV8, (*SubOrganizationParamsV7).newest)
)

// SubOrganizationParams are the parameters of version 1.
type SubOrganizationParams struct {
	Name              string                `json:"name" check:"required,label" doc:"Name of the organization."`
	RootAuthenticator AuthenticatorParamsV2 `json:"rootAuthenticator" check:"required" doc:"Passkey of its one root user."`
}

func (p *SubOrganizationParams) newest() *SubOrganizationParamsV8 {
	return &SubOrganizationParamsV8{
		SubOrganizationName: p.Name, RootQuorumThreshold: 1,
		RootUsers: []RootUserParamsV5{{UserName: "Root user", Authenticators: []AuthenticatorParamsV2{p.RootAuthenticator}}},
	}
}

// SubOrganizationBase is what all versions but the first have in common.
type SubOrganizationBase struct {
	SubOrganizationName string `json:"subOrganizationName" check:"required,label" doc:"Name of the organization."`
	RootQuorumThreshold int32  `json:"rootQuorumThreshold" check:"required,min=1" doc:"How many of the root users must agree."`
}

// FirstWallet is what versions 4 to 6 add.
type FirstWallet struct {
	Wallet               *CreateWalletParams `json:"wallet,omitzero" doc:"A first wallet."`
	DisableEmailRecovery bool                `json:"disableEmailRecovery,omitzero" doc:"Switch recovery by e-mail off."`
	DisableEmailAuth     bool                `json:"disableEmailAuth,omitzero" doc:"Switch logins by e-mail off."`
}

// SubOrganizationParamsV2 are the parameters of version 2.
type SubOrganizationParamsV2 struct {
	SubOrganizationBase
	RootUsers []RootUserParams `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
}

// SubOrganizationParamsV3 are the parameters of version 3.
type SubOrganizationParamsV3 struct {
	SubOrganizationBase
	RootUsers   []RootUserParams   `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	PrivateKeys []PrivateKeyParams `json:"privateKeys" check:"required,max=100" doc:"Its first private keys; may be empty."`
}

// SubOrganizationParamsV4 are the parameters of version 4.
type SubOrganizationParamsV4 struct {
	SubOrganizationBase
	RootUsers []RootUserParams `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	FirstWallet
}

// SubOrganizationParamsV5 are the parameters of version 5.
type SubOrganizationParamsV5 struct {
	SubOrganizationBase
	RootUsers []RootUserParamsV2 `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	FirstWallet
}

// SubOrganizationParamsV6 are the parameters of version 6.
type SubOrganizationParamsV6 struct {
	SubOrganizationBase
	RootUsers []RootUserParamsV3 `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	FirstWallet
}

// SubOrganizationParamsV7 are the parameters of version 7.
type SubOrganizationParamsV7 struct {
	SubOrganizationBase
	RootUsers []RootUserParamsV4 `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	FirstWallet
	DisableSMSAuth      bool             `json:"disableSmsAuth,omitzero" doc:"Switch logins by SMS off."`
	DisableOTPEmailAuth bool             `json:"disableOtpEmailAuth,omitzero" doc:"Switch logins by codes in e-mails off."`
	VerificationToken   string           `json:"verificationToken,omitzero" check:"max=4096,unsampled,secret" doc:"Proof that a root user's contact was verified."`
	ClientSignature     *ClientSignature `json:"clientSignature,omitzero" check:"unsampled" doc:"Proof that the client holds the key that the token is bound to."`
}

// RootUserBase is what root users have in all versions.
type RootUserBase struct {
	UserName       string                  `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail      string                  `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	Authenticators []AuthenticatorParamsV2 `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
}

// RootUserParams describes a root user up to version 4.
type RootUserParams struct {
	RootUserBase
	APIKeys []P256APIKeyParams `json:"apiKeys" check:"required,lenient,max=100" doc:"P-256 API keys; may be empty."`
}

// RootUserParamsV2 describes a root user in version 5.
type RootUserParamsV2 struct {
	RootUserBase
	APIKeys        []P256APIKeyParams    `json:"apiKeys" check:"required,lenient,max=100" doc:"P-256 API keys; may be empty."`
	OauthProviders []OauthProviderParams `json:"oauthProviders" check:"required,lenient,max=100,unsampled" doc:"Identities at OpenID providers; may be empty."`
}

// RootUserParamsV3 describes a root user in version 6.
type RootUserParamsV3 struct {
	RootUserBase
	APIKeys        []APIKeyParamsV2      `json:"apiKeys" check:"required,lenient,max=100" doc:"API keys; may be empty."`
	OauthProviders []OauthProviderParams `json:"oauthProviders" check:"required,lenient,max=100,unsampled" doc:"Identities at OpenID providers; may be empty."`
}

// RootUserParamsV4 describes a root user in version 7.
type RootUserParamsV4 struct {
	RootUserParamsV3
	UserPhoneNumber string `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number in E.164 form, such as +14155550100."`
}

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV2) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV3) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV4) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV5) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV6) Check(problems *schema.Problems) { p.newest().Check(problems) }

// Check applies the rules of the newest version.
func (p *SubOrganizationParamsV7) Check(problems *schema.Problems) { p.newest().Check(problems) }

func (p *SubOrganizationParamsV2) newest() *SubOrganizationParamsV8 {
	return p.with(eachUser(p.RootUsers, (*RootUserParams).newest), FirstWallet{})
}

func (p *SubOrganizationParamsV3) newest() *SubOrganizationParamsV8 {
	newest := p.with(eachUser(p.RootUsers, (*RootUserParams).newest), FirstWallet{})
	newest.privateKeys = p.PrivateKeys
	return newest
}

func (p *SubOrganizationParamsV4) newest() *SubOrganizationParamsV8 {
	return p.with(eachUser(p.RootUsers, (*RootUserParams).newest), p.FirstWallet)
}

func (p *SubOrganizationParamsV5) newest() *SubOrganizationParamsV8 {
	return p.with(eachUser(p.RootUsers, (*RootUserParamsV2).newest), p.FirstWallet)
}

func (p *SubOrganizationParamsV6) newest() *SubOrganizationParamsV8 {
	return p.with(eachUser(p.RootUsers, (*RootUserParamsV3).newest), p.FirstWallet)
}

func (p *SubOrganizationParamsV7) newest() *SubOrganizationParamsV8 {
	newest := p.with(eachUser(p.RootUsers, (*RootUserParamsV4).newest), p.FirstWallet)
	newest.DisableSMSAuth, newest.DisableOTPEmailAuth = p.DisableSMSAuth, p.DisableOTPEmailAuth
	newest.VerificationToken, newest.ClientSignature = p.VerificationToken, p.ClientSignature
	return newest
}

func (b SubOrganizationBase) with(users []RootUserParamsV5, w FirstWallet) *SubOrganizationParamsV8 {
	return &SubOrganizationParamsV8{
		SubOrganizationName: b.SubOrganizationName, RootUsers: users, RootQuorumThreshold: b.RootQuorumThreshold,
		Wallet: w.Wallet, DisableEmailRecovery: w.DisableEmailRecovery, DisableEmailAuth: w.DisableEmailAuth,
	}
}

func eachUser[P any](users []P, newest func(*P) RootUserParamsV5) []RootUserParamsV5 {
	all := make([]RootUserParamsV5, len(users))
	for i := range users {
		all[i] = newest(&users[i])
	}
	return all
}

func (b RootUserBase) with(keys []APIKeyParamsV2, providers []OauthProviderParams) RootUserParamsV5 {
	return RootUserParamsV5{
		UserName: b.UserName, UserEmail: b.UserEmail, Authenticators: b.Authenticators,
		APIKeys: keys, OauthProviders: withTokens(providers),
	}
}

func (p *RootUserParams) newest() RootUserParamsV5 { return p.with(onP256(p.APIKeys), nil) }

func (p *RootUserParamsV2) newest() RootUserParamsV5 {
	return p.with(onP256(p.APIKeys), p.OauthProviders)
}

func (p *RootUserParamsV3) newest() RootUserParamsV5 { return p.with(p.APIKeys, p.OauthProviders) }

func (p *RootUserParamsV4) newest() RootUserParamsV5 {
	user := p.RootUserParamsV3.newest()
	user.UserPhoneNumber = p.UserPhoneNumber
	return user
}
