package workload

import (
	"context"
	"errors"
	"fmt"
)

// setupConnections is how many requests of a setup are under way.
const setupConnections = 16

// Setup creates what the workloads need in organizations that are empty so
// far, which may be the same one: wallets, many sub-organizations of parent,
// and users under policies.
func Setup(host string, hot, growing, parent *Organization, many int) (*Dataset, error) {
	d := &Dataset{Hot: hot, Growing: growing, Parent: parent}
	for _, o := range []*Organization{hot, growing, parent} {
		if o.WalletID != "" {
			continue
		}
		if err := perform(host, 1, o.createWallet()); err != nil {
			return nil, fmt.Errorf("creating a wallet: %w", err)
		}
	}
	if err := d.addChildren(host, 0, many, 1); err != nil {
		return nil, err
	}
	if err := addMembers(host, append(d.Many, hot)); err != nil {
		return nil, err
	}
	// That the policies allow what they should is seen here, and not in the
	// middle of a round.
	if err := perform(host, 1, hot.signTransaction(d.sequence.Add(1), hot.Member)); err != nil {
		return nil, fmt.Errorf("signing under policies: %w", err)
	}
	return d, nil
}

// addChildren creates n sub-organizations. One in every has a wallet and is
// among Many.
func (d *Dataset) addChildren(host string, from, n, every int) error {
	drafts := make([]*draft, n)
	for i := range drafts {
		used := (from+i)%every == 0
		var child *Organization
		if child, drafts[i] = d.Parent.createSubOrganization(d.sequence.Add(1), used); used {
			d.Many = append(d.Many, child)
		}
	}
	if err := perform(host, setupConnections, drafts...); err != nil {
		return fmt.Errorf("creating sub-organizations: %w", err)
	}
	return nil
}

// addMembers creates a user under policies in each organization.
func addMembers(host string, organizations []*Organization) error {
	users := make([]string, len(organizations))
	drafts := make([]*draft, len(organizations))
	for i, o := range organizations {
		drafts[i] = o.createMember(func(userID string) { users[i] = userID })
	}
	if err := perform(host, setupConnections, drafts...); err != nil {
		return fmt.Errorf("creating users: %w", err)
	}
	for i, o := range organizations {
		drafts[i] = o.createPolicies(users[i])
	}
	if err := perform(host, setupConnections, drafts...); err != nil {
		return fmt.Errorf("creating policies: %w", err)
	}
	return nil
}

// One is the dataset of a single organization that was set up and filled up to
// size in an earlier run.
func One(o *Organization, many []*Organization, size int) *Dataset {
	o.accounts.Store(uint64(size)) // beyond all accounts that there may be
	return &Dataset{Hot: o, Growing: o, Parent: o, Many: many}
}

// ReplySizes performs every operation of the workloads once and returns how
// long the replies are, by operation.
func (d *Dataset) ReplySizes(host string) (map[string]int, error) {
	sizes := map[string]int{}
	for _, name := range append(Standard(), ListActivities) {
		if name == Mix {
			continue
		}
		draft := d.draft(name, false, 0)
		draft.check = func(reply []byte) error { sizes[draft.operation] = len(reply); return nil }
		if err := perform(host, 1, draft); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return sizes, nil
}

// The dimensions in which a store grows.
const (
	Activities       = "activities"       // of one organization
	Accounts         = "accounts"         // of one wallet
	SubOrganizations = "suborganizations" // of one parent
)

// Fill adds to the dataset of one organization until there are size in a
// dimension. Requests will be spread over about inUse of them, evenly chosen.
// progress is told how many there are.
func (d *Dataset) Fill(ctx context.Context, host, dimension string, size, inUse int, progress func(done int)) error {
	const portion = 2000
	every := max(1, size/max(1, inUse))
	var done int
	if dimension == Accounts { // the first came with the wallet
		done = 1
	}
	for done < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(portion, size-done)
		if err := d.fill(host, dimension, done, n, every); err != nil {
			return err
		}
		done += n
		progress(done)
	}
	if err := addMembers(host, d.Many); err != nil {
		return err
	}
	// The first page of activities is the same everywhere, whatever was created.
	return d.fill(host, Activities, 0, 20, 1)
}

func (d *Dataset) fill(host, dimension string, from, n, every int) error {
	switch dimension {
	case Activities:
		drafts := make([]*draft, n)
		for i := range drafts {
			drafts[i] = d.Hot.signRawPayload()
			if i%1009 != 0 { // that it is completed is seen in each reply
				drafts[i].check = nil
			}
		}
		return perform(host, 32, drafts...)
	case Accounts:
		return d.addAccounts(host, from, n, every)
	case SubOrganizations:
		return d.addChildren(host, from, n, every)
	}
	return errors.New(dimension + " is no dimension")
}

// addAccounts adds n accounts, a hundred in a request. Changes of one
// organization wait for each other: more connections would only derive keys in
// vain.
func (d *Dataset) addAccounts(host string, from, n, every int) error {
	const batch = 100
	var drafts []*draft
	for end := from + n; from < end; from += batch {
		first := from
		drafts = append(drafts, d.Growing.addAccounts(uint64(first), min(batch, end-first), func(addresses []string) {
			for i, address := range addresses {
				if (first+i)%every == 0 {
					d.Hot.Addresses = append(d.Hot.Addresses, address)
				}
			}
		}))
	}
	d.Growing.accounts.Store(uint64(from))
	return perform(host, 1, drafts...)
}
