package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// UpdateUser changes what is given of a user.
var UpdateUser = activity.Op[UpdateUserParams, UpdateUserResult]{
	Spec: activity.Spec{
		Name: "update_user", Version: 1,
		Summary: "Change the name, contacts or tags of a user. What is left out stays as it is.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionUpdate},
	},
	Facts: updateUserFacts,
	Adds:  func(p *UpdateUserParams) decide.Added { return addedContacts(p.UserEmail, p.UserPhoneNumber) },
	Exec:  updateUser,
}

// UpdateUserParams are the parameters of update_user.
//
// An empty list of tags is the same as none: some clients cannot leave an array
// out, and a user must not lose tags that policies refer to because of it.
type UpdateUserParams struct {
	UserID          string   `json:"userId" check:"required,uuid" doc:"User to change."`
	UserName        string   `json:"userName,omitzero" check:"label" doc:"New name, unique in the organization."`
	UserEmail       *string  `json:"userEmail,omitzero" check:"allowempty,email" doc:"New e-mail address; empty to remove it."`
	UserTagIDs      []string `json:"userTagIds,omitzero" check:"max=100,unique,each=uuid" doc:"All tags that the user shall have; leave out or empty to keep the present ones. update_user_tag takes a tag off."`
	UserPhoneNumber *string  `json:"userPhoneNumber,omitzero" check:"allowempty,e164" doc:"New phone number in E.164 form; empty to remove it."`
}

// updateUserFacts compares with the tags that the user has.
func updateUserFacts(f activity.Facts, p *UpdateUserParams) error {
	if len(p.UserTagIDs) == 0 {
		return tagFacts(f, nil, nil)
	}
	user, err := f.Tx.Users().Lookup(p.UserID)
	if err != nil {
		return err
	}
	var has []string
	if user != nil {
		has = user.TagIDs
	}
	return tagFacts(f, without(p.UserTagIDs, has), without(has, p.UserTagIDs))
}

func updateUser(_ context.Context, e activity.Env, p *UpdateUserParams) (UpdateUserResult, error) {
	for _, tag := range p.UserTagIDs {
		if err := requireTag(e.Tx, tag, domain.TagUser); err != nil {
			return UpdateUserResult{}, err
		}
	}
	err := editUser(e, p.UserID, func(u *domain.User) error {
		if p.UserName != "" {
			u.Name = p.UserName
		}
		if p.UserEmail != nil {
			setEmail(u, *p.UserEmail, false)
		}
		if p.UserPhoneNumber != nil {
			setPhoneNumber(u, *p.UserPhoneNumber, false)
		}
		if len(p.UserTagIDs) > 0 {
			u.TagIDs = slices.Clone(p.UserTagIDs)
		}
		return nil
	})
	return UpdateUserResult{UserID: p.UserID}, err
}
