package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// CreateAPIOnlyUsers creates users who have API keys and nothing else to log in
// with. It does what create_users does with them.
var CreateAPIOnlyUsers = activity.Op[CreateAPIOnlyUsersParams, CreateUsersResult]{
	Spec: activity.Spec{
		Name: "create_api_only_users", Version: 1,
		Summary: "Create users with P-256 API keys and tags.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionCreate},
	},
	Adds:  func(*CreateAPIOnlyUsersParams) decide.Added { return lastingAccess },
	Facts: func(f activity.Facts, p *CreateAPIOnlyUsersParams) error { return createUsersFacts(f, p.users()) },
	Exec: func(ctx context.Context, e activity.Env, p *CreateAPIOnlyUsersParams) (CreateUsersResult, error) {
		return createUsers(ctx, e, p.users())
	},
}

// CreateAPIOnlyUsersParams are the parameters of create_api_only_users.
type CreateAPIOnlyUsersParams struct {
	APIOnlyUsers []APIOnlyUserParams `json:"apiOnlyUsers" check:"required,min=1,max=100" doc:"Users to create."`
}

// APIOnlyUserParams describes a new user.
type APIOnlyUserParams struct {
	UserName  string             `json:"userName" check:"required,label" doc:"Name, unique in the organization."`
	UserEmail string             `json:"userEmail,omitzero" check:"email" doc:"E-mail address."`
	UserTags  []string           `json:"userTags" check:"required,max=100,unique,each=uuid" doc:"Ids of tags to put on the user; may be empty."`
	APIKeys   []P256APIKeyParams `json:"apiKeys" check:"required,max=100" doc:"P-256 API keys; one of them must not expire, unless the user can log in by e-mail."`
}

// Check refuses a request whose keys collide among themselves.
func (p *CreateAPIOnlyUsersParams) Check(problems *schema.Problems) {
	checkNewKeys(problems, "apiOnlyUsers", p.users().Users)
}

func (p *CreateAPIOnlyUsersParams) users() *CreateUsersParamsV4 {
	users := &CreateUsersParamsV4{}
	for _, u := range p.APIOnlyUsers {
		users.Users = append(users.Users, UserParamsV4{
			UserName: u.UserName, UserEmail: u.UserEmail, UserTags: u.UserTags, APIKeys: onP256(u.APIKeys),
		})
	}
	return users
}
