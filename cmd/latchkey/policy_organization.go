package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/policy/deploy"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/ops"
)

// Exit statuses of policy diff, apply and backtest, as of call.
const (
	policyInvalid   = callInvalid // a file has mistakes, or it was not confirmed: nothing was sent
	policyDifferent = callPending // something differs, waits or is left
	policyRefused   = callRefused // the server refused a change
)

// policyFiles are files of policies and the organization that they are for.
type policyFiles struct {
	Files []string `arg:"" name:"file" help:"Files of policies; docs/policies-as-code.md describes them."`
	connection
}

// load reads the files. What is wrong in any of them is said.
func (f *policyFiles) load() ([]*policytest.File, error) {
	files := make([]*policytest.File, 0, len(f.Files))
	for _, path := range f.Files {
		file, err := policytest.Load(path)
		if err != nil {
			sayMistakes(err)
			continue
		}
		files = append(files, file)
	}
	if len(files) < len(f.Files) {
		return nil, exitStatus(policyInvalid)
	}
	return files, nil
}

// sayMistakes says what is wrong in a file, as policy check does.
func sayMistakes(err error) {
	var wrong *policytest.Error
	if errors.As(err, &wrong) {
		fmt.Fprintln(os.Stderr, wrong)
		return
	}
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
}

// plan compares the files with the organization.
func (f *policyFiles) plan(ctx context.Context, prune bool) (*client.Client, *deploy.Plan, error) {
	files, err := f.load()
	if err != nil {
		return nil, nil, err
	}
	server, err := f.client()
	if err != nil {
		return nil, nil, err
	}
	organization, err := readOrganization(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	plan, err := deploy.Compare(organization, files, prune)
	if err != nil {
		sayMistakes(err)
		return nil, nil, exitStatus(policyInvalid)
	}
	fmt.Printf("organization %q, %s\n", organization.Name, organization.ID)
	return server, plan, plan.Print(os.Stdout)
}

// readOrganization asks for what policies may name, all at once.
func readOrganization(ctx context.Context, c *client.Client) (*deploy.Organization, error) {
	reply, err := c.GetOrganization(ctx, client.GetOrganizationRequest{})
	if err != nil {
		return nil, refused(err)
	}
	data := reply.OrganizationData
	o := &deploy.Organization{ID: data.OrganizationID, Name: data.Name, Accounts: func(walletID string) (map[string][]string, error) {
		return accountsOf(ctx, c, walletID)
	}}
	for _, p := range data.Policies {
		o.Policies = append(o.Policies, deploy.Policy{ID: p.PolicyID, BoundPolicy: policytest.BoundPolicy{
			Name: p.PolicyName, Effect: domain.Effect(p.Effect), Condition: p.Condition, Consensus: p.Consensus, Time: p.Time, Notes: p.Notes,
		}})
	}
	for _, u := range data.Users {
		o.Users = append(o.Users, deploy.User{Record: deploy.Record{Name: u.UserName, ID: u.UserID}, TagIDs: u.UserTags})
	}
	for _, t := range data.Tags {
		to := &o.Tags
		if t.TagType == string(domain.TagPrivateKey) {
			to = &o.PrivateKeyTags
		}
		*to = append(*to, deploy.Record{Name: t.TagName, ID: t.TagID})
	}
	for _, w := range data.Wallets {
		o.Wallets = append(o.Wallets, deploy.Record{Name: w.WalletName, ID: w.WalletID})
	}
	for _, k := range data.PrivateKeys {
		o.PrivateKeys = append(o.PrivateKeys, deploy.Record{Name: k.PrivateKeyName, ID: k.PrivateKeyID})
	}
	o.Controls, err = controlsOf(ctx, c)
	return o, err
}

// controlsOf lists the velocity controls.
func controlsOf(ctx context.Context, c *client.Client) (all []deploy.Control, err error) {
	options := &client.Pagination{Limit: 100}
	for {
		var page ops.ListVelocityControlsReply
		if err := c.Query(ctx, "list_velocity_controls", map[string]any{"paginationOptions": options}, &page); err != nil {
			return nil, refused(err)
		}
		for _, v := range page.VelocityControls {
			all = append(all, deploy.Control{ID: v.VelocityControlID, CreateVelocityControlParams: ops.CreateVelocityControlParams{
				Name: v.Name, Identifier: v.Identifier, DataSource: v.DataSource, Aggregation: v.Aggregation,
			}})
		}
		if !page.PageInfo.HasNextPage {
			return all, nil
		}
		options.After = page.PageInfo.EndCursor
	}
}

// accountsOf lists the addresses of a wallet by the names of its accounts.
func accountsOf(ctx context.Context, c *client.Client, walletID string) (map[string][]string, error) {
	const page = 100
	all := map[string][]string{}
	options := &client.Pagination{Limit: page}
	for {
		reply, err := c.ListWalletAccounts(ctx, client.ListWalletAccountsRequest{WalletID: walletID, PaginationOptions: options})
		if err != nil {
			return nil, err
		}
		for _, a := range reply.Accounts {
			all[a.Name] = append(all[a.Name], a.Address)
			options.After = a.WalletAccountID
		}
		if len(reply.Accounts) < page {
			delete(all, "") // accounts without a name
			return all, nil
		}
	}
}
