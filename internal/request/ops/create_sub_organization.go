package ops

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// CreateSubOrganizationV8 creates an organization under the caller's.
// The older versions are in create_sub_organization_older.go.
var CreateSubOrganizationV8 = activity.Op[SubOrganizationParamsV8, SubOrganizationResult]{
	Spec:   subOrganizationSpec(8, ""),
	Tokens: (*SubOrganizationParamsV8).tokens,
	Exec:   createSubOrganization,
}

func subOrganizationSpec(version int, resultKey string) activity.Spec {
	return activity.Spec{
		Name: "create_sub_organization", Version: version, ResultKey: resultKey,
		Summary: "Create an organization under this one, with its root users and any first wallet.",
		Govern:  activity.Govern{Resource: activity.ResourceOrganization, Action: activity.ActionCreate},
		Access:  activity.Access{AuthProxy: activity.AuthProxyAtHome},
	}
}

// SubOrganizationParamsV8 are the parameters of create_sub_organization.
type SubOrganizationParamsV8 struct {
	SubOrganizationName  string              `json:"subOrganizationName" check:"required,label" doc:"Name of the organization."`
	RootUsers            []RootUserParamsV5  `json:"rootUsers" check:"required,min=1,max=100" doc:"Its first users, who make its root quorum."`
	RootQuorumThreshold  int32               `json:"rootQuorumThreshold" check:"required,min=1" doc:"How many of them must agree."`
	Wallet               *CreateWalletParams `json:"wallet,omitzero" doc:"A first wallet."`
	DisableEmailRecovery bool                `json:"disableEmailRecovery,omitzero" doc:"Switch recovery by e-mail off."`
	DisableEmailAuth     bool                `json:"disableEmailAuth,omitzero" doc:"Switch logins by e-mail off."`
	DisableSMSAuth       bool                `json:"disableSmsAuth,omitzero" doc:"Switch logins by SMS off."`
	DisableOTPEmailAuth  bool                `json:"disableOtpEmailAuth,omitzero" doc:"Switch logins by codes in e-mails off."`
	VerificationToken    string              `json:"verificationToken,omitzero" check:"max=4096,unsampled,secret" doc:"Proof that a root user's contact was verified."`
	ClientSignature      *ClientSignature    `json:"clientSignature,omitzero" check:"unsampled" doc:"Proof that the client holds the key that the token is bound to."`

	privateKeys []PrivateKeyParams // of version 3
}

// RootUserParamsV5 describes a root user.
type RootUserParamsV5 struct {
	UserName        string                  `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail       string                  `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	UserPhoneNumber string                  `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number in E.164 form, such as +14155550100."`
	APIKeys         []APIKeyParamsV2        `json:"apiKeys" check:"required,lenient,max=100" doc:"API keys; may be empty."`
	Authenticators  []AuthenticatorParamsV2 `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
	OauthProviders  []OauthProviderParamsV2 `json:"oauthProviders" check:"required,lenient,max=100,unsampled" doc:"Identities at OpenID providers; may be empty."`
}

// Check refuses claims for which there can be no proof.
func (p *RootUserParamsV5) Check(problems *schema.Problems) { checkClaims(problems, p.OauthProviders) }

// Check refuses a quorum that could never agree, and users that collide.
func (p *SubOrganizationParamsV8) Check(problems *schema.Problems) {
	if int(p.RootQuorumThreshold) > len(p.RootUsers) {
		problems.Add("rootQuorumThreshold", "must be at most the number of rootUsers, or nothing could ever be agreed on")
	}
	if p.ClientSignature != nil && p.VerificationToken == "" {
		problems.Add("clientSignature", "is for a verificationToken; send both or neither")
	}
	p.users().Check(problems)
}

func (p *SubOrganizationParamsV8) tokens() []string {
	var all []string
	for _, u := range p.RootUsers {
		all = append(all, tokens(u.OauthProviders)...)
	}
	return all
}

// users are the root users as create_users describes them.
func (p *SubOrganizationParamsV8) users() *CreateUsersParamsV4 {
	all := &CreateUsersParamsV4{}
	for _, u := range p.RootUsers {
		all.Users = append(all.Users, UserParamsV4{
			UserName: u.UserName, UserEmail: u.UserEmail, UserPhoneNumber: u.UserPhoneNumber,
			APIKeys: u.APIKeys, Authenticators: u.Authenticators, OauthProviders: u.OauthProviders,
		})
	}
	return all
}

// SubOrganizationResult is the result of create_sub_organization.
type SubOrganizationResult struct {
	SubOrganizationID string              `json:"subOrganizationId" check:"required,uuid" doc:"Id of the new organization."`
	Wallet            *CreateWalletResult `json:"wallet,omitzero" doc:"Its first wallet."`
	PrivateKeys       []CreatedPrivateKey `json:"privateKeys,omitzero" doc:"Its first private keys; in version 3."`
	RootUserIDs       []string            `json:"rootUserIds" check:"required,each=uuid" doc:"Ids of its root users, in the order of the request."`
}

func createSubOrganization(ctx context.Context, e activity.Env, p *SubOrganizationParamsV8) (SubOrganizationResult, error) {
	parent, err := e.Tx.Organization()
	if err != nil {
		return SubOrganizationResult{}, err
	}
	if parent.ParentID != "" {
		return SubOrganizationResult{}, fault.New(fault.InvalidArgument, fault.ReasonInvalidCaller,
			"a sub-organization cannot have sub-organizations: create it in the parent organization")
	}
	result := SubOrganizationResult{SubOrganizationID: e.NewID()}
	child, err := e.CreateChild(result.SubOrganizationID)
	if err != nil {
		return SubOrganizationResult{}, err
	}
	err = child.Tx.Organizations().Insert(&domain.Organization{
		ID: result.SubOrganizationID, Name: p.SubOrganizationName, ParentID: parent.ID, Features: p.features(),
		CreatedAt: e.Now, UpdatedAt: e.Now,
	})
	if err != nil {
		return SubOrganizationResult{}, err
	}
	created, err := createUsers(ctx, child, p.users())
	if err != nil {
		return SubOrganizationResult{}, err
	}
	result.RootUserIDs = created.UserIDs
	if isAuthProxy(e) {
		if err := refuseKnownAccount(e, child); err != nil {
			return SubOrganizationResult{}, err
		}
	}
	err = child.Tx.Organizations().Edit(result.SubOrganizationID, func(o *domain.Organization) error {
		o.RootQuorum = domain.Quorum{Threshold: p.RootQuorumThreshold, UserIDs: created.UserIDs}
		return nil
	})
	if err != nil {
		return SubOrganizationResult{}, err
	}
	if err := p.verify(e, child, created.UserIDs); err != nil {
		return SubOrganizationResult{}, err
	}
	if p.Wallet != nil {
		wallet, err := createWallet(ctx, child, p.Wallet)
		if err != nil {
			return SubOrganizationResult{}, err
		}
		result.Wallet = &wallet
	}
	if len(p.privateKeys) > 0 {
		keys, err := createPrivateKeys(ctx, child, &CreatePrivateKeysParams{PrivateKeys: p.privateKeys})
		if err != nil {
			return SubOrganizationResult{}, err
		}
		result.PrivateKeys = keys.PrivateKeys
	}
	return result, nil
}

// features are what a new organization starts with.
func (p *SubOrganizationParamsV8) features() []domain.Feature {
	var features []domain.Feature
	for _, f := range []struct {
		name domain.FeatureName
		off  bool
	}{
		{domain.FeatureEmailAuth, p.DisableEmailAuth},
		{domain.FeatureEmailRecovery, p.DisableEmailRecovery},
		{domain.FeatureOTPEmailAuth, p.DisableOTPEmailAuth},
		{domain.FeatureSMSAuth, p.DisableSMSAuth},
	} {
		if !f.off {
			features = append(features, domain.Feature{Name: f.name})
		}
	}
	return features
}

// verify checks the verification token, and marks the contact that it proves.
func (p *SubOrganizationParamsV8) verify(e, child activity.Env, userIDs []string) error {
	if p.VerificationToken == "" {
		return nil
	}
	v, err := readVerification(child, p.VerificationToken)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.RootUsers, func(u RootUserParamsV5) bool {
		user := domain.User{Email: u.UserEmail, PhoneNumber: u.UserPhoneNumber}
		return user.HasContact(v.Type, v.Contact)
	})
	if i < 0 {
		return fault.Invalid("invalid verification token: it proves a contact that no root user has")
	}
	if p.ClientSignature == nil && v.PublicKey != "" {
		return fault.Invalid("the verification token is bound to a public key: send a clientSignature by that key")
	}
	if p.ClientSignature != nil {
		message, err := p.ClientSignature.check(v, useSignup)
		if err != nil {
			return err
		}
		if err := message.signsUp(&p.RootUsers[i]); err != nil {
			return err
		}
	}
	if err := useVerification(e, v.VerifiedBy(), domain.UseSignup); err != nil {
		return err
	}
	return child.Tx.Users().Edit(userIDs[i], func(u *domain.User) error { u.Verified(v.Type); return nil })
}

// signsUp checks that what the client signed is the user of the request, so
// that no other credential can be put in its place.
func (u *usage) signsUp(user *RootUserParamsV5) error {
	signed := u.SignupV2
	if len(signed) == 0 {
		signed = u.Signup
	}
	var signedUp RootUserParamsV5
	var contact struct {
		Email       string `json:"email"`
		PhoneNumber string `json:"phoneNumber"`
	}
	if len(signed) == 0 || json.Unmarshal(signed, &signedUp) != nil || json.Unmarshal(signed, &contact) != nil {
		return fault.Invalid("invalid client signature: the message has no signup that can be read")
	}
	same := domain.NormalEmail(contact.Email) == domain.NormalEmail(user.UserEmail) && contact.PhoneNumber == user.UserPhoneNumber &&
		slices.EqualFunc(signedUp.APIKeys, user.APIKeys, func(a, b APIKeyParamsV2) bool {
			return strings.EqualFold(a.PublicKey, b.PublicKey) && a.CurveType == b.CurveType
		}) &&
		slices.EqualFunc(signedUp.Authenticators, user.Authenticators, func(a, b AuthenticatorParamsV2) bool {
			return a.Attestation.CredentialID == b.Attestation.CredentialID &&
				a.Attestation.AttestationObject == b.Attestation.AttestationObject
		}) &&
		slices.EqualFunc(signedUp.OauthProviders, user.OauthProviders, func(a, b OauthProviderParamsV2) bool {
			return a.OidcToken == b.OidcToken && (a.OidcClaims == nil) == (b.OidcClaims == nil) &&
				(a.OidcClaims == nil || *a.OidcClaims == *b.OidcClaims)
		})
	if !same {
		return fault.Invalid("invalid client signature: the message signs up another user than the request")
	}
	return nil
}
