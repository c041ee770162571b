package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/client"
)

// The load: writers that make wallets and keys and revoke them, a reader of what was
// acknowledged, and clients that try revoked keys. Each request goes to a server at
// random, and is sent again, byte for byte and perhaps to another one, until it has an
// answer that says what became of it.

const (
	writers = 6
	pace    = 150 * time.Millisecond // of one writer
)

type load struct {
	*ledger
	servers []*server
	parent  key
	http    *http.Client

	round  atomic.Int64
	number atomic.Int64
	stop   chan struct{}
	all    sync.WaitGroup
}

func (l *load) start() {
	for w := range writers {
		l.all.Go(func() { l.write(w) })
	}
	l.all.Go(l.read)
	for range 2 {
		l.all.Go(l.probe)
	}
}

func (l *load) end() {
	close(l.stop)
	l.all.Wait()
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *load) rest(d time.Duration) {
	select {
	case <-l.stop:
	case <-time.After(d):
	}
}

// as is a client of a server at random.
func (l *load) as(k key) *client.Client { return l.on(rand.IntN(len(l.servers)), k) }

func (l *load) on(server int, k key) *client.Client {
	return &client.Client{BaseURL: l.servers[server].url, Stamper: k.stamper, OrganizationID: k.organization, HTTP: l.http}
}

// unknown says that a request may or may not have been carried out.
func unknown(err error) bool {
	var refused *client.Error
	return err != nil && (!errors.As(err, &refused) || refused.Status >= 500)
}

// settle sends a request until it is known what became of it. A tenth of those in doubt
// may be left so, if mayLeave.
func settle[R any](l *load, k key, request *client.Prepared[R], mayLeave bool) (result *R, activity *client.Activity, err error) {
	for attempt := 0; ; attempt++ {
		result, activity, err = request.Send(context.Background(), l.as(k))
		if !unknown(err) {
			return result, activity, err
		}
		if attempt == 0 {
			l.count(func(c *counts) { c.doubted++ })
		}
		if mayLeave && rand.IntN(10) == 0 || l.stopped() {
			l.count(func(c *counts) { c.abandoned++ })
			return nil, nil, errLeft
		}
		l.rest(100 * time.Millisecond)
	}
}

var errLeft = errors.New("left in doubt")

// write works in one organization of its own after the other, one for each failover.
func (l *load) write(writer int) {
	for !l.stopped() {
		round := l.round.Load()
		o, user, err := l.newOrganization(fmt.Sprintf("round %d writer %d", round, writer))
		if err != nil {
			l.refusal(err)
			return
		}
		for i := 0; !l.stopped() && l.round.Load() == round; i++ {
			switch {
			case i%8 == 7:
				err = l.revokeOne(o, user)
			case i%8 == 3:
				l.writeAsGhost(o)
			default:
				err = l.createWallet(o)
			}
			if err != nil {
				l.refusal(err)
				return
			}
			l.rest(pace)
		}
	}
}

// refusal notes that a writer was refused what it may do, unless the end was in sight.
func (l *load) refusal(err error) {
	if !errors.Is(err, errLeft) {
		l.violation(other, "a write was refused: %v", err)
	}
}

func newKey(organization string) (client.PrivateKey, key, error) {
	private, err := client.GenerateKey(client.P256)
	if err != nil {
		return private, key{}, err
	}
	return private, key{organization, private.Stamper()}, nil
}

func parameters(name string, private client.PrivateKey) client.APIKeyParameters {
	return client.APIKeyParameters{APIKeyName: name, PublicKey: private.PublicKey(), CurveType: "API_KEY_CURVE_P256"}
}

func (l *load) newOrganization(name string) (o *organization, user string, err error) {
	private, root, err := newKey("")
	if err != nil {
		return nil, "", err
	}
	request, err := client.CreateSubOrganizationParameters{
		SubOrganizationName: name, RootQuorumThreshold: 1,
		RootUsers: []client.RootUserParameters{{UserName: "root", APIKeys: []client.APIKeyParameters{parameters("root", private)}}},
	}.Prepare(l.on(0, l.parent))
	if err != nil {
		return nil, "", err
	}
	result, _, err := settle(l, l.parent, request, false)
	if err != nil {
		return nil, "", err
	}
	l.acknowledged()
	root.organization = result.SubOrganizationID
	o = &organization{id: result.SubOrganizationID, name: name, root: root}
	l.open(o)
	return o, result.RootUserIDs[0], nil
}

func (l *load) walletRequest(k key, name string) (*client.Prepared[client.CreateWalletResult], error) {
	return client.CreateWalletParameters{WalletName: name, Accounts: []client.WalletAccountParameters{{
		Curve: "CURVE_SECP256K1", PathFormat: "PATH_FORMAT_BIP32", Path: "m/44'/60'/0'/0/0", AddressFormat: "ADDRESS_FORMAT_ETHEREUM",
	}}}.Prepare(l.on(0, k))
}

func (l *load) createWallet(o *organization) error {
	name := fmt.Sprint("wallet ", l.number.Add(1))
	request, err := l.walletRequest(o.root, name)
	if err != nil {
		return err
	}
	l.begin(o, request.Fingerprint(), name)
	result, activity, err := settle(l, o.root, request, true)
	if errors.Is(err, errLeft) {
		return nil
	}
	if err != nil {
		return err
	}
	l.acknowledged()
	l.created(o, request.Fingerprint(), activity.ID, result.WalletID)
	return nil
}

// revokeOne makes a key, uses it, and revokes it.
func (l *load) revokeOne(o *organization, user string) error {
	private, k, err := newKey(o.id)
	if err != nil {
		return err
	}
	create, err := client.CreateAPIKeysParameters{UserID: user, APIKeys: []client.APIKeyParameters{parameters(fmt.Sprint("key ", l.number.Add(1)), private)}}.Prepare(l.on(0, o.root))
	if err != nil {
		return err
	}
	made, _, err := settle(l, o.root, create, false)
	if err != nil {
		return err
	}
	l.acknowledged()
	for {
		_, err := l.as(k).Whoami(context.Background(), client.WhoamiRequest{})
		if err == nil {
			break
		}
		if !unknown(err) {
			l.violation(lost, "a key that was acknowledged is refused: %v", err)
			break
		}
		if l.stopped() {
			return nil
		}
		l.rest(100 * time.Millisecond)
	}
	remove, err := client.DeleteAPIKeysParameters{UserID: user, APIKeyIDs: made.APIKeyIDs}.Prepare(l.on(0, o.root))
	if err != nil {
		return err
	}
	if _, _, err := settle(l, o.root, remove, false); err != nil {
		return err
	}
	l.acknowledged()
	l.revoke(k)
	return nil
}

// writeAsGhost asks for a wallet with a revoked key.
func (l *load) writeAsGhost(o *organization) {
	k, ok := l.aRevoked()
	if !ok {
		return
	}
	request, err := l.walletRequest(k, fmt.Sprint(ghost, " ", l.number.Add(1)))
	if err != nil {
		return
	}
	_, activity, err := request.Send(context.Background(), l.as(k))
	switch {
	case err == nil:
		l.violation(accepted, "a revoked key of %s made a wallet: activity %s", o.name, activity.ID)
	case !unknown(err):
		l.count(func(c *counts) { c.refused++ })
	}
}

// probe tries revoked keys.
func (l *load) probe() {
	for !l.stopped() {
		if k, ok := l.aRevoked(); ok {
			for i := range l.servers {
				_, err := l.on(i, k).Whoami(context.Background(), client.WhoamiRequest{})
				switch {
				case err == nil:
					l.violation(accepted, "server %d accepted a revoked key", i+1)
				case !unknown(err):
					l.count(func(c *counts) { c.probes++ })
				}
			}
		}
		l.rest(40 * time.Millisecond)
	}
}

// read looks at what was acknowledged, and at what is newest.
func (l *load) read() {
	for !l.stopped() {
		if o, id, ok := l.aWallet(); ok {
			_, err := l.as(o.root).GetWallet(context.Background(), client.GetWalletRequest{WalletID: id})
			if err != nil && !unknown(err) {
				l.violation(lost, "a wallet of %s that was acknowledged is not shown: %v", o.name, err)
			}
			if reply, err := l.as(o.root).ListActivities(context.Background(), client.ListActivitiesRequest{}); err == nil {
				l.show(o, reply.Activities)
				l.count(func(c *counts) { c.reads++ })
			}
		}
		l.rest(40 * time.Millisecond)
	}
}

// check compares what a server has of some organizations with the ledger.
func (l *load) check(server int, organizations []*organization) error {
	for _, o := range organizations {
		e := l.expect(o)
		k := key{o.id, l.parent.stamper}
		var activities []client.Activity
		page := client.Pagination{Limit: 100}
		for {
			reply, err := again(func() (*client.ListActivitiesReply, error) {
				return l.on(server, k).ListActivities(context.Background(), client.ListActivitiesRequest{PaginationOptions: &page})
			})
			if err != nil {
				return fmt.Errorf("reading the activities of %s: %w", o.name, err)
			}
			activities = append(activities, reply.Activities...)
			if len(reply.Activities) < 100 {
				break
			}
			page.After = reply.Activities[99].ID
		}
		wallets, err := again(func() (*client.ListWalletsReply, error) {
			return l.on(server, k).ListWallets(context.Background(), client.ListWalletsRequest{})
		})
		if err != nil {
			return fmt.Errorf("reading the wallets of %s: %w", o.name, err)
		}
		where := fmt.Sprintf("server %d, %s", server+1, o.name)
		l.compare(where, e, activities, wallets.Wallets)
		same, err := again(func() (*client.ListSuborgsReply, error) {
			return l.on(server, l.parent).ListSuborgs(context.Background(), client.ListSuborgsRequest{FilterType: "NAME", FilterValue: o.name})
		})
		if err != nil {
			return fmt.Errorf("looking for %s: %w", o.name, err)
		}
		switch {
		case len(same.OrganizationIDs) == 0:
			l.violation(lost, "%s: the organization is gone", where)
		case len(same.OrganizationIDs) > 1:
			l.violation(twice, "%s: the organization is there %d times", where, len(same.OrganizationIDs))
		case same.OrganizationIDs[0] != o.id:
			l.violation(lost, "%s: the organization is another one", where)
		}
	}
	return nil
}

// again asks until there is an answer.
func again[R any](ask func() (R, error)) (reply R, err error) {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if reply, err = ask(); !unknown(err) || time.Since(begun) > 2*time.Minute {
			return reply, err
		}
	}
}
