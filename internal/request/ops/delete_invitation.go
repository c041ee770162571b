package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteInvitation withdraws an invitation.
var DeleteInvitation = activity.Op[DeleteInvitationParams, DeleteInvitationResult]{
	Spec: activity.Spec{
		Name: "delete_invitation", Version: 1,
		Summary: "Delete an invitation. The user goes with it, unless they have a credential of their own by now.",
		Govern:  activity.Govern{Resource: activity.ResourceInvitation, Action: activity.ActionDelete},
	},
	Exec: deleteInvitation,
}

// DeleteInvitationParams are the parameters of delete_invitation.
type DeleteInvitationParams struct {
	InvitationID string `json:"invitationId" check:"required,uuid" doc:"Invitation to delete."`
}

// DeleteInvitationResult is the result of delete_invitation.
type DeleteInvitationResult struct {
	InvitationID string `json:"invitationId" check:"required,uuid" doc:"Invitation that was deleted."`
}

func deleteInvitation(ctx context.Context, e activity.Env, p *DeleteInvitationParams) (DeleteInvitationResult, error) {
	result := DeleteInvitationResult(*p)
	invitation, err := e.Tx.Invitations().Get(p.InvitationID)
	if err != nil {
		return result, err
	}
	if err := e.Tx.Invitations().Delete(invitation.ID); err != nil {
		return result, err
	}
	user, err := e.Tx.Users().Lookup(invitation.UserID)
	if err != nil || user == nil {
		return result, err
	}
	isLink := func(k domain.APIKey) bool { return k.ID == invitation.KeyID }
	own := len(user.Authenticators) + len(user.OAuthProviders) + len(slices.DeleteFunc(slices.Clone(user.APIKeys), isLink))
	if own > 0 {
		return result, e.Tx.Users().Edit(user.ID, func(u *domain.User) error {
			u.APIKeys = slices.DeleteFunc(u.APIKeys, isLink)
			return nil
		})
	}
	_, err = deleteUsers(ctx, e, &DeleteUsersParams{UserIDs: []string{user.ID}})
	return result, err
}
