package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// DeleteSubOrganization deletes the organization in which it is called, which
// must be a sub-organization. Its activities remain, as every record does; its
// keys, users and everything else are gone.
var DeleteSubOrganization = activity.Op[DeleteSubOrganizationParams, DeleteSubOrganizationResult]{
	Spec: activity.Spec{
		Name: "delete_sub_organization", Version: 1,
		Summary: "Delete the sub-organization in which the request is made, with all its keys.",
		Govern:  activity.Govern{Resource: activity.ResourceOrganization, Action: activity.ActionDelete},
	},
	Exec: deleteSubOrganization,
}

// DeleteSubOrganizationParams are the parameters of delete_sub_organization.
type DeleteSubOrganizationParams struct {
	DeleteWithoutExport bool `json:"deleteWithoutExport,omitzero" doc:"Delete also wallets and private keys that were never exported."`
}

// DeleteSubOrganizationResult is the result of delete_sub_organization.
type DeleteSubOrganizationResult struct {
	SubOrganizationUUID string `json:"subOrganizationUuid" check:"required,uuid" doc:"Id of the organization."`
}

func deleteSubOrganization(ctx context.Context, e activity.Env, p *DeleteSubOrganizationParams) (DeleteSubOrganizationResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return DeleteSubOrganizationResult{}, err
	}
	if org.ParentID == "" {
		return DeleteSubOrganizationResult{}, fault.New(fault.InvalidArgument, fault.ReasonInvalidCaller,
			"only a sub-organization can be deleted, by a request of its own root users in it")
	}
	if !org.RootQuorum.Has(e.UserID) {
		return DeleteSubOrganizationResult{}, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: only a root user of the sub-organization may delete it")
	}
	wallets, err := e.Tx.Wallets().List("", 0)
	if err != nil {
		return DeleteSubOrganizationResult{}, err
	}
	for _, w := range wallets {
		_, err := deleteWallets(ctx, e, &DeleteWalletsParams{WalletIDs: []string{w.ID}, DeleteWithoutExport: p.DeleteWithoutExport})
		if err != nil {
			return DeleteSubOrganizationResult{}, err
		}
	}
	keys, err := e.Tx.PrivateKeys().List("", 0)
	if err != nil {
		return DeleteSubOrganizationResult{}, err
	}
	for _, k := range keys {
		_, err := deletePrivateKeys(ctx, e, &DeletePrivateKeysParams{PrivateKeyIDs: []string{k.ID}, DeleteWithoutExport: p.DeleteWithoutExport})
		if err != nil {
			return DeleteSubOrganizationResult{}, err
		}
	}
	secrets, err := e.Tx.Secrets().List("", 0)
	if err != nil {
		return DeleteSubOrganizationResult{}, err
	}
	for _, s := range secrets {
		if !p.DeleteWithoutExport { // which of them were exported is not kept
			return DeleteSubOrganizationResult{}, notExported("secret", s.ID)
		}
		if _, err := deleteSecrets(ctx, e, &DeleteSecretsParams{SecretIDs: []string{s.ID}}); err != nil {
			return DeleteSubOrganizationResult{}, err
		}
	}
	if err := clearOrganization(e); err != nil {
		return DeleteSubOrganizationResult{}, err
	}
	err = e.Tx.Organizations().Edit(org.ID, func(o *domain.Organization) error {
		o.Deleted, o.RootQuorum, o.Features, o.UpdatedAt = true, domain.Quorum{}, nil, e.Now
		return nil
	})
	return DeleteSubOrganizationResult{SubOrganizationUUID: org.ID}, err
}

// clearOrganization deletes what is left of an organization without keys.
func clearOrganization(e activity.Env) error {
	targets, err := e.Tx.ImportTargets().List("", 0)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := e.Vault.DropImportTarget(t.ID); err != nil {
			return err
		}
	}
	codes, err := e.Tx.OTPs().List("", 0)
	if err != nil {
		return err
	}
	for _, code := range codes {
		if err := dropCode(e.Tx, code); err != nil {
			return err
		}
	}
	endpoints, err := e.Tx.WebhookEndpoints().List("", 0)
	if err != nil {
		return err
	}
	for _, w := range endpoints {
		if err := e.Tx.NoticeWebhook(domain.WebhookNotice{EndpointID: w.ID}); err != nil {
			return err
		}
	}
	for _, empty := range []func() error{
		func() error {
			return deleteAll(e.Tx.WebhookEndpoints(), func(w *domain.WebhookEndpoint) string { return w.ID })
		},
		func() error {
			return deleteAll(e.Tx.ImportTargets(), func(t *domain.ImportTarget) string { return t.ID })
		},
		func() error { return deleteAll(e.Tx.Users(), func(u *domain.User) string { return u.ID }) },
		func() error { return deleteAll(e.Tx.Tags(), func(t *domain.Tag) string { return t.ID }) },
		func() error {
			return deleteAll(e.Tx.SessionProfiles(), func(p *domain.SessionProfile) string { return p.ID })
		},
		func() error { return deleteAll(e.Tx.Policies(), func(p *domain.Policy) string { return p.ID }) },
		func() error {
			return deleteAll(e.Tx.ContractInterfaces(), func(c *domain.ContractInterface) string { return c.ID })
		},
	} {
		if err := empty(); err != nil {
			return err
		}
	}
	return nil
}

func deleteAll[T any](table store.Table[T], id func(*T) string) error {
	all, err := table.List("", 0)
	if err != nil {
		return err
	}
	for _, record := range all {
		if err := table.Delete(id(record)); err != nil {
			return err
		}
	}
	return nil
}
