// Package workload makes the requests of a benchmark: it sets a server up
// through its own interface, and signs as many requests as a round needs
// before the clock starts.
//
// Every activity is a new one: no two bodies are the same, so that none is
// answered from the record of another. What a server cannot do yet is not an
// error of the whole: Prepare says so for the workloads that need it, and they
// have no figures.
package workload

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/bench/load"
	"latchkey/client"
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

// Names lists the workloads.
func Names() []string { return append(Standard(), ListActivities) }

// Standard are the workloads of a run for which none are named.
func Standard() []string {
	return []string{Whoami, GetWalletAccount, SignRawPayload, SignTransaction, CreateWalletAccounts, CreateSubOrganization, Mix}
}

// Spreads reports whether a workload can be spread over many organizations.
// Sub-organizations are made in a parent, and a sub-organization is none.
func Spreads(name string) bool { return name != CreateSubOrganization }

// Source makes requests for one server.
type Source interface {
	// Prepare makes n requests of a workload, in one organization or spread
	// over many.
	Prepare(name string, many bool, n int) ([]load.Request, error)
}

// World is a server that was set up, and what there is in it.
type World struct {
	host string
	// Each of the first is a parent organization of its own, so that one
	// workload does not slow another down by what it leaves behind.
	hot     *organization   // nothing in it changes
	growing *organization   // accounts are added
	parent  *organization   // of many
	many    []*organization // one after the other

	missing  map[string]error // by workload: why there is none
	noMany   error            // why there are not many organizations
	turn     atomic.Uint64    // of many
	sequence atomic.Uint64    // makes payloads differ
}

// organization is one to act in, with what requests in it need.
type organization struct {
	id       string
	root     client.Stamper // of its root user
	member   client.Stamper // of the user under policies
	walletID string
	address  string
	// atWork are the addresses that requests take turns with; none: address.
	atWork   []string
	turn     atomic.Uint64 // of atWork
	accounts atomic.Uint64 // how many were added

	keys struct{ root, member client.PrivateKey } // to be kept
}

// inTurn is the address that the next request is about.
func (o *organization) inTurn() string {
	if len(o.atWork) == 0 {
		return o.address
	}
	return o.atWork[o.turn.Add(1)%uint64(len(o.atWork))]
}

// draft is a request before it is signed.
type draft struct {
	operation string // such as query/whoami
	stamper   client.Stamper
	body      []byte
	want      []byte
	check     func(reply []byte) error
}

// Prepare implements Source.
func (w *World) Prepare(name string, many bool, n int) ([]load.Request, error) {
	return w.prepare(name, many, n, func(d *draft) (load.Request, error) { return d.sign(w.host) })
}

// prepare drafts n requests and finishes them on all processors.
func (w *World) prepare(name string, many bool, n int, finish func(*draft) (load.Request, error)) ([]load.Request, error) {
	if err := w.missing[name]; err != nil {
		return nil, err
	}
	if many && w.noMany != nil {
		return nil, w.noMany
	}
	if many && (len(w.many) == 0 || !Spreads(name)) {
		return nil, fmt.Errorf("%s is not spread over organizations", name)
	}
	requests := make([]load.Request, n)
	err := onAllProcessors(n, func(i int) error {
		d, err := w.draft(name, many, i)
		if err == nil {
			requests[i], err = finish(d)
		}
		return err
	})
	return requests, err
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
func (w *World) draft(name string, many bool, i int) (*draft, error) {
	org := w.hot
	switch {
	case many:
		org = w.many[w.turn.Add(1)%uint64(len(w.many))]
	case name == CreateWalletAccounts, name == Mix:
		org = w.growing
	}
	if name == Mix {
		name = mixed(i)
		if name == SignTransaction {
			// By the root user, so that the mix is the same in organizations
			// with and without policies.
			return w.signTransaction(org, org.root), nil
		}
	}
	switch name {
	case Whoami:
		return org.whoami(), nil
	case GetWalletAccount:
		return org.getWalletAccount(), nil
	case SignRawPayload:
		return w.signRawPayload(org), nil
	case SignTransaction:
		return w.signTransaction(org, org.member), nil
	case CreateWalletAccounts:
		return org.createWalletAccounts(), nil
	case ListActivities:
		return org.listActivities(), nil
	case CreateSubOrganization:
		d, _, err := w.parent.createSubOrganization(w.sequence.Add(1))
		return d, err
	}
	return nil, fmt.Errorf("%q is no workload: there are %v", name, Names())
}

// mixed says what the i-th request of the mix is: of a hundred, 40 whoami, 20
// get_wallet_account, 30 sign_raw_payload, 8 sign_transaction and 2
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

// sign makes a request of a draft.
func (d *draft) sign(host string) (load.Request, error) {
	name, value, err := d.stamper.Stamp(d.body)
	if err != nil {
		return load.Request{}, err
	}
	return load.Request{Wire: wire(host, "/public/v1/"+d.operation, name+": "+value+"\r\n", d.body), Want: d.want, Check: d.check}, nil
}

// wire writes a request as it is sent; headers are whole lines.
func wire(host, path, headers string, body []byte) []byte {
	b := make([]byte, 0, 160+len(host)+len(path)+len(headers)+len(body))
	b = append(b, "POST "+path+" HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: application/json\r\n"...)
	b = append(b, headers...)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// activity writes the envelope of an activity.
func activity(name, kind, org string, parameters []byte) (operation string, body []byte) {
	return "submit/" + name, fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_%s","timestampMs":"%d","organizationId":"%s","parameters":%s}`,
		kind, time.Now().UnixMilli(), org, parameters)
}
