package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// DeleteUsers deletes users with all their credentials.
var DeleteUsers = activity.Op[DeleteUsersParams, DeleteUsersResult]{
	Spec: activity.Spec{
		Name: "delete_users", Version: 1,
		Summary: "Delete users with all their credentials. Members of the root quorum cannot be deleted. All are deleted or none is.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionDelete},
	},
	Facts: func(f activity.Facts, p *DeleteUsersParams) error {
		f.Activity.Params.UserIDs = p.UserIDs
		return nil
	},
	Exec: deleteUsers,
}

// DeleteUsersParams are the parameters of delete_users.
type DeleteUsersParams struct {
	UserIDs []string `json:"userIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Users to delete."`
}

// DeleteUsersResult is the result of delete_users.
type DeleteUsersResult struct {
	UserIDs []string `json:"userIds" check:"required,each=uuid" doc:"Users that were deleted."`
}

func deleteUsers(_ context.Context, e activity.Env, p *DeleteUsersParams) (DeleteUsersResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return DeleteUsersResult{}, err
	}
	for _, id := range p.UserIDs {
		// A quorum that lost a member might never be reached again.
		if slices.Contains(org.RootQuorum.UserIDs, id) {
			return DeleteUsersResult{}, fault.Invalid(
				"quorum users missing: user %s is a member of the root quorum; remove the user from it with update_root_quorum first", id)
		}
		if err := e.Tx.Users().Delete(id); err != nil {
			return DeleteUsersResult{}, err
		}
		for _, kind := range []domain.ImportKind{domain.ImportWallet, domain.ImportPrivateKey} {
			if err := dropImportTarget(e, importTargetID(id, kind)); err != nil {
				return DeleteUsersResult{}, err
			}
		}
	}
	return DeleteUsersResult{UserIDs: p.UserIDs}, nil
}
