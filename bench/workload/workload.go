// Package workload makes the requests of a benchmark: it sets a server up
// through its own interface, and signs as many requests as a round needs
// before the clock starts.
//
// Every activity is a new one: no two bodies are the same, so that none is
// answered from the record of another.
package workload

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"latchkey/bench/load"
)

// The workloads.
const (
	Whoami                = "whoami"
	GetWalletAccount      = "get_wallet_account"
	SignRawPayload        = "sign_raw_payload"
	SignTransaction       = "sign_transaction" // by a user under 20 policies
	CreateWalletAccounts  = "create_wallet_accounts"
	CreateSubOrganization = "create_sub_organization" // with a wallet
	Mix                   = "mix"
	ListActivities        = "list_activities" // the first page
)

// Standard are the workloads of a run for which none are named.
func Standard() []string {
	return []string{Whoami, GetWalletAccount, SignRawPayload, SignTransaction, CreateWalletAccounts, CreateSubOrganization, Mix}
}

// Names are all workloads.
func Names() []string { return slices.Concat(Standard(), []string{ListActivities}, paired()) }

// Check refuses names that are no workloads.
func Check(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("%q is no workload: there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Spreads reports whether a workload can be spread over many organizations.
// Sub-organizations are created in a parent, and a sub-organization is none.
func Spreads(name string) bool {
	return name != CreateSubOrganization && !slices.Contains(paired(), name)
}

// Source makes requests for one server.
type Source struct {
	Host string // HOST:PORT
	// Prepare makes n requests of a workload, in one organization or spread
	// over many.
	Prepare func(name string, many bool, n int) ([]load.Request, error)
}

// Dataset is what the requests to one server are about.
type Dataset struct {
	// In a run each is a parent organization of its own, so that one workload
	// does not slow another down by what it leaves behind.
	Hot     *Organization // nothing in it changes
	Growing *Organization // accounts are added
	Parent  *Organization // sub-organizations are added
	Many    []*Organization
	paired  map[string]*Organization // by workload

	turn     atomic.Uint64 // of Many
	sequence atomic.Uint64 // makes bodies differ
}

// Source makes requests for the server at host that has the data.
func (d *Dataset) Source(host string) Source {
	return d.source(host, func(*draft, *load.Request) {})
}

// source drafts and signs requests on all processors; adapt changes each.
func (d *Dataset) source(host string, adapt func(*draft, *load.Request)) Source {
	return Source{host, func(name string, many bool, n int) ([]load.Request, error) {
		if many && (len(d.Many) == 0 || !Spreads(name)) {
			return nil, fmt.Errorf("%s is not spread over organizations", name)
		}
		requests := make([]load.Request, n)
		err := onAllProcessors(n, func(i int) (err error) {
			draft := d.draft(name, many, i)
			requests[i], err = draft.sign(host)
			adapt(draft, &requests[i])
			return err
		})
		return requests, err
	}}
}

// onAllProcessors calls do for 0 to n-1.
func onAllProcessors(n int, do func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var working sync.WaitGroup
	for k := range workers {
		working.Go(func() {
			for i := k; i < n && errs[k] == nil; i += workers {
				errs[k] = do(i)
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// draft writes the i-th request of a workload.
func (d *Dataset) draft(name string, many bool, i int) *draft {
	org := d.Hot
	switch {
	case many:
		org = d.Many[d.turn.Add(1)%uint64(len(d.Many))]
	case name == CreateWalletAccounts, name == Mix:
		org = d.Growing
	case d.paired[name] != nil:
		org = d.paired[name]
	}
	if name == Mix {
		name = mixed(i)
		if name == SignTransaction {
			// By the root user, so that the mix is the same in organizations
			// with and without policies.
			return org.signTransaction(d.sequence.Add(1), org.Root)
		}
	}
	switch name {
	case Whoami:
		return org.whoami()
	case GetWalletAccount:
		return org.getWalletAccount()
	case SignRawPayload, SignWatched:
		return org.signRawPayload()
	case SignTransaction, SignUnderPolicy, SignUnderLimit:
		return org.signTransaction(d.sequence.Add(1), org.Member)
	case CreateWalletAccounts:
		return org.addAccounts(org.accounts.Add(1), 1, func([]string) {})
	case ListActivities:
		return org.listActivities()
	case CreateSubOrganization:
		_, draft := d.Parent.createSubOrganization(d.sequence.Add(1), true)
		return draft
	}
	return &draft{err: Check([]string{name})}
}

// mixed is the workload of the i-th request of the mix: of a hundred, 40
// whoami, 20 get_wallet_account, 30 sign_raw_payload, 8 sign_transaction and 2
// create_wallet_accounts, well shuffled.
func mixed(i int) string {
	switch n := i * 37 % 100; {
	case n < 40:
		return Whoami
	case n < 60:
		return GetWalletAccount
	case n < 90:
		return SignRawPayload
	case n < 98:
		return SignTransaction
	}
	return CreateWalletAccounts
}
