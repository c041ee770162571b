package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// RecoverUser completes the recovery of a user who lost their credentials.
var RecoverUser = activity.Op[RecoverUserParams, RecoverUserResult]{
	Spec: activity.Spec{
		Name: "recover_user", Version: 1,
		Summary: "Complete the recovery of a user: add a passkey. The request is signed with the user's recovery key, which is then gone.",
		Govern:  activity.Govern{By: decide.Self},
		Access:  activity.Access{ByRecovery: true},
	},
	OwnUser: func(p *RecoverUserParams) string { return p.UserID },
	Exec:    recoverUser,
}

// RecoverUserParams are the parameters of recover_user.
type RecoverUserParams struct {
	Authenticator AuthenticatorParamsV2 `json:"authenticator" check:"required" doc:"Passkey to add."`
	UserID        string                `json:"userId" check:"required,uuid" doc:"User who recovers."`
}

// RecoverUserResult is the result of recover_user.
type RecoverUserResult struct {
	AuthenticatorID []string `json:"authenticatorId" check:"required,each=uuid" doc:"Id of the new passkey; an array in spite of its name."`
}

// The limit of passkeys does not hold here: a user who lost ten of them could
// delete none to make room, and could never log in again.
func recoverUser(_ context.Context, e activity.Env, p *RecoverUserParams) (RecoverUserResult, error) {
	if e.CredentialType != domain.CredentialRecovery || p.UserID != e.UserID {
		return RecoverUserResult{}, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"You don't have sufficient permissions to take this action. "+
				"Only the recovery key that was sent to the user can do this; begin with init_user_email_recovery.")
	}
	var result RecoverUserResult
	err := e.Tx.Users().Edit(p.UserID, func(u *domain.User) error {
		id, err := registerPasskey(e, u, p.Authenticator)
		if err != nil {
			return err
		}
		result.AuthenticatorID = []string{id}
		u.APIKeys = slices.DeleteFunc(u.APIKeys, func(k domain.APIKey) bool { return k.Type == domain.CredentialRecovery })
		return nil
	})
	return result, err
}
