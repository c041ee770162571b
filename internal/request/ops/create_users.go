package ops

import (
	"context"
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// createUsersSpec is what the versions of create_users share. All of them
// answer with the first version's result.
func createUsersSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "create_users", Version: version, ResultKey: "createUsersResult",
		Summary: "Create users with their credentials and tags.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionCreate},
	}
}

// The versions of create_users. In the view of the interface's document all of
// them echo the first version's intent.
var (
	CreateUsers   = createUsersV1()
	CreateUsersV2 = activity.Older(createUsersSpec(2), CreateUsersV4, (*CreateUsersParamsV2).newest)
	CreateUsersV3 = activity.Older(createUsersSpec(3), CreateUsersV4, (*CreateUsersParamsV3).newest)
	CreateUsersV4 = activity.Op[CreateUsersParamsV4, CreateUsersResult]{
		Spec:   createUsersSpec(4),
		Tokens: (*CreateUsersParamsV4).tokens,
		Nested: func(p *CreateUsersParamsV4, r *CreateUsersResult) (string, any) {
			return "createUsersIntent", p.documented().withIDs(r)
		},
		Facts: createUsersFacts,
		Adds:  func(*CreateUsersParamsV4) decide.Added { return lastingAccess }, // each must be able to log in
		Exec:  createUsers,
	}
)

func createUsersV1() activity.Op[CreateUsersParams, CreateUsersResult] {
	op := activity.Older(createUsersSpec(1), CreateUsersV4, (*CreateUsersParams).newest)
	op.Nested = func(p *CreateUsersParams, r *CreateUsersResult) (string, any) {
		return "createUsersIntent", p.withAccess().withIDs(r)
	}
	return op
}

// CreateUsersParamsV4 are the parameters of create_users.
type CreateUsersParamsV4 struct {
	Users []UserParamsV4 `json:"users" check:"required,min=1,max=100" doc:"Users to create."`
}

// UserParamsV4 describes a new user.
type UserParamsV4 struct {
	UserName        string                  `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail       string                  `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	UserPhoneNumber string                  `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number in E.164 form, such as +14155550100."`
	APIKeys         []APIKeyParamsV2        `json:"apiKeys" check:"required,lenient,max=100" doc:"API keys; may be empty."`
	Authenticators  []AuthenticatorParamsV2 `json:"authenticators" check:"required,lenient,max=100" doc:"Passkeys; may be empty."`
	OauthProviders  []OauthProviderParamsV2 `json:"oauthProviders" check:"required,lenient,max=100" doc:"Identities at OpenID providers; may be empty."`
	UserTags        []string                `json:"userTags" check:"required,lenient,max=100,unique,each=uuid" doc:"Ids of tags to put on the user; may be empty."`
}

// Check refuses identities for which there is no proof.
func (p *UserParamsV4) Check(problems *schema.Problems) { checkClaims(problems, p.OauthProviders) }

func createUsersFacts(f activity.Facts, p *CreateUsersParamsV4) error {
	var given []string
	for _, u := range p.Users {
		given = append(given, u.UserTags...)
	}
	return tagFacts(f, given, nil)
}

// CreateUsersResult is the result of create_users.
type CreateUsersResult struct {
	UserIDs []string `json:"userIds" check:"required,each=uuid" doc:"Ids of the new users, in the order of the request."`
}

// Check refuses a request whose keys collide among themselves.
func (p *CreateUsersParamsV4) Check(problems *schema.Problems) {
	checkNewKeys(problems, "users", p.Users)
}

// checkNewKeys refuses keys of new users that collide among themselves.
func checkNewKeys(problems *schema.Problems, member string, users []UserParamsV4) {
	seen := map[string]bool{}
	for i, u := range users {
		for j, k := range u.APIKeys {
			if seen[k.PublicKey] {
				problems.Add(fmt.Sprintf("%s.%d.apiKeys.%d.publicKey", member, i, j), "is given twice in this request; each key belongs to one user")
			}
			seen[k.PublicKey] = true
		}
	}
}

func (p *CreateUsersParamsV4) tokens() []string {
	var all []string
	for _, u := range p.Users {
		all = append(all, tokens(u.OauthProviders)...)
	}
	return all
}

func createUsers(_ context.Context, e activity.Env, p *CreateUsersParamsV4) (CreateUsersResult, error) {
	present, err := e.Tx.Users().List("", 0)
	if err != nil {
		return CreateUsersResult{}, err
	}
	if e.Limits.Users > 0 && len(present)+len(p.Users) > e.Limits.Users {
		return CreateUsersResult{}, fault.Exhausted("the organization has %d users and may have at most %d", len(present), e.Limits.Users)
	}
	var result CreateUsersResult
	for _, u := range p.Users {
		id, err := createUser(e, u)
		if err != nil {
			return CreateUsersResult{}, err
		}
		result.UserIDs = append(result.UserIDs, id)
	}
	return result, nil
}

func createUser(e activity.Env, p UserParamsV4) (string, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return "", err
	}
	for _, tag := range p.UserTags {
		if err := requireTag(e.Tx, tag, domain.TagUser); err != nil {
			return "", err
		}
	}
	user := &domain.User{
		ID: e.NewID(), Name: p.UserName, Email: p.UserEmail, PhoneNumber: p.UserPhoneNumber,
		TagIDs: p.UserTags, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	for _, k := range p.APIKeys {
		if _, err := addAPIKey(e, user, k); err != nil {
			return "", err
		}
	}
	for _, a := range p.Authenticators {
		if _, err := addAuthenticator(e, user, a); err != nil {
			return "", err
		}
	}
	if _, err := addOauthProviders(e, user, p.OauthProviders); err != nil {
		return "", err
	}
	if !user.CanLogIn(org) {
		return "", noLogin(user)
	}
	return user.ID, e.Tx.Users().Insert(user)
}
