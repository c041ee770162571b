package ops

import (
	"context"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/request/activity"
)

// This file holds what imports have in common: the one-time keys to which
// clients encrypt.

// initImport declares the first step of an import.
func initImport(name string, kind domain.ImportKind, resource activity.Resource) activity.Op[InitImportParams, InitImportResult] {
	return activity.Op[InitImportParams, InitImportResult]{
		Spec: activity.Spec{
			Name: name, Version: 1,
			Summary: "Get a one-time key to encrypt a " + string(kind) + " to, in order to import it.",
			Govern:  activity.Govern{Resource: resource, Action: activity.ActionImport},
		},
		Exec: func(_ context.Context, e activity.Env, p *InitImportParams) (InitImportResult, error) {
			return newImportTarget(e, p.UserID, kind)
		},
	}
}

// InitImportParams are the parameters of init_import_wallet and
// init_import_private_key.
type InitImportParams struct {
	UserID string `json:"userId" check:"required,uuid" doc:"User who will import; must be the caller."`
}

// InitImportResult is the result of init_import_wallet and
// init_import_private_key.
type InitImportResult struct {
	ImportBundle string `json:"importBundle" check:"required" doc:"Signed key to encrypt to, good for an hour and one import."`
}

func newImportTarget(e activity.Env, userID string, kind domain.ImportKind) (InitImportResult, error) {
	if err := requireSelf(e, userID); err != nil {
		return InitImportResult{}, err
	}
	id := importTargetID(userID, kind)
	// The new target takes the place of an older one that was not used.
	if err := dropImportTarget(e, id); err != nil {
		return InitImportResult{}, err
	}
	public, err := e.Vault.NewImportTarget(id)
	if err != nil {
		return InitImportResult{}, err
	}
	if err := e.Tx.ImportTargets().Insert(&domain.ImportTarget{ID: id, UserID: userID, Kind: kind, CreatedAt: e.Now}); err != nil {
		return InitImportResult{}, err
	}
	text, err := bundle.Target(e.ServerKeys, public, e.Tx.Org(), userID)
	return InitImportResult{ImportBundle: text}, err
}

// dropImportTarget removes a target that was not used, if there is one.
func dropImportTarget(e activity.Env, id string) error {
	target, err := e.Tx.ImportTargets().Lookup(id)
	if err == nil && target != nil {
		err = e.Tx.ImportTargets().Delete(id)
	}
	if err != nil {
		return err
	}
	return e.Vault.DropImportTarget(id)
}

// importTargetID is the id of a target. An import names its user and nothing
// else, so each user has one target of a kind.
func importTargetID(userID string, kind domain.ImportKind) string { return userID + " " + string(kind) }

// importTarget returns the id of the user's target, and removes its record, so
// that it can be used once.
func importTarget(e activity.Env, userID string, kind domain.ImportKind) (string, error) {
	if err := requireSelf(e, userID); err != nil {
		return "", err
	}
	id := importTargetID(userID, kind)
	target, err := e.Tx.ImportTargets().Lookup(id)
	if err != nil {
		return "", err
	}
	if target == nil || target.Expired(e.Now) {
		return "", fault.Invalid("there is no key to import a %s with: begin with init_import_%s; each key is good for one import within an hour",
			kind, strings.ReplaceAll(string(kind), " ", "_"))
	}
	return id, e.Tx.ImportTargets().Delete(id)
}

// requireSelf refuses to import for another user, whatever policies say.
func requireSelf(e activity.Env, userID string) error {
	if userID != e.UserID {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden, "userId must be the caller: %s", e.UserID)
	}
	return nil
}
