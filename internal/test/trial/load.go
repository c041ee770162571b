// Package trial puts servers under load, and compares what they have after a failure with
// a ledger of what their clients were told.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/client"
)

// The load: writers that make wallets and keys and revoke them, a reader of what was
// acknowledged, and clients that try revoked keys. Each request goes to a server at
// random, and is sent again, byte for byte and perhaps to another one, until it has an
// answer that says what became of it.

const writers = 6

// Load is what clients do, and the ledger of what they were told.
type Load struct {
	ledger
	servers []*Server
	parent  Key
	pace    time.Duration // of one writer
	http    *http.Client

	round  atomic.Int64
	number atomic.Int64
	stop   chan struct{}
	all    sync.WaitGroup
}

// NewLoad is the load on servers of one installation, whose parent organization belongs
// to a key. Each writer rests for the pace between two writes. Violations and the report
// are written to out.
func NewLoad(servers []*Server, parent Key, pace time.Duration, out io.Writer) *Load {
	return &Load{
		ledger: ledger{out: out}, servers: servers, parent: parent, pace: pace, stop: make(chan struct{}),
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers}},
	}
}

// Start lets the clients begin, who go on until [Load.End].
func (l *Load) Start() {
	for w := range writers {
		l.all.Go(func() { l.write(w) })
	}
	l.all.Go(l.read)
	for range 2 {
		l.all.Go(l.probe)
	}
}

// End stops them.
func (l *Load) End() {
	close(l.stop)
	l.all.Wait()
}

func (l *Load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *Load) rest(d time.Duration) {
	select {
	case <-l.stop:
	case <-time.After(d):
	}
}

// as is a client of a server at random.
func (l *Load) as(k Key) *client.Client { return l.on(rand.IntN(len(l.servers)), k) }

func (l *Load) on(server int, k Key) *client.Client {
	return &client.Client{BaseURL: l.servers[server].url, Stamper: k.stamper, OrganizationID: k.organization, HTTP: l.http}
}

// unknown says that a request may or may not have been carried out.
func unknown(err error) bool {
	var refused *client.Error
	return err != nil && (!errors.As(err, &refused) || refused.Status >= 500)
}

// settle sends a request until it is known what became of it. A tenth of those in doubt
// may be left so, if mayLeave.
func settle[R any](l *Load, k Key, request *client.Prepared[R], mayLeave bool) (result *R, activity *client.Activity, err error) {
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

// write works in one organization of its own after the other, one for each round.
func (l *Load) write(writer int) {
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
			l.rest(l.pace)
		}
	}
}

// refusal notes that a writer was refused what it may do, unless the end was in sight.
func (l *Load) refusal(err error) {
	if !errors.Is(err, errLeft) {
		l.violation(other, "a write was refused: %v", err)
	}
}

func newKey(organization string) (client.PrivateKey, Key, error) {
	private, err := client.GenerateKey(client.P256)
	if err != nil {
		return private, Key{}, err
	}
	return private, Key{organization, private.Stamper()}, nil
}

func parameters(name string, private client.PrivateKey) client.APIKeyParameters {
	return client.APIKeyParameters{APIKeyName: name, PublicKey: private.PublicKey(), CurveType: "API_KEY_CURVE_P256"}
}

func (l *Load) newOrganization(name string) (o *organization, user string, err error) {
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

func (l *Load) walletRequest(k Key, name string) (*client.Prepared[client.CreateWalletResult], error) {
	return client.CreateWalletParameters{WalletName: name, Accounts: []client.WalletAccountParameters{{
		Curve: "CURVE_SECP256K1", PathFormat: "PATH_FORMAT_BIP32", Path: "m/44'/60'/0'/0/0", AddressFormat: "ADDRESS_FORMAT_ETHEREUM",
	}}}.Prepare(l.on(0, k))
}

func (l *Load) createWallet(o *organization) error {
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
func (l *Load) revokeOne(o *organization, user string) error {
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
func (l *Load) writeAsGhost(o *organization) {
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
func (l *Load) probe() {
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
func (l *Load) read() {
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

// Check compares what the servers have of the newest rounds with the ledger, and audits
// the record.
func (l *Load) Check(ctx context.Context) error {
	l.mu.Lock()
	recent := slices.Clone(l.organizations[max(0, len(l.organizations)-2*writers):])
	l.mu.Unlock()
	return l.check(ctx, recent)
}

// CheckAll is [Load.Check] of every round.
func (l *Load) CheckAll(ctx context.Context) error { return l.check(ctx, l.organizations) }

func (l *Load) check(ctx context.Context, organizations []*organization) error {
	for i, s := range l.servers {
		if err := errors.Join(s.Runs(), s.Ready()); err != nil {
			return err
		}
		if err := l.checkServer(i, organizations); err != nil {
			return err
		}
	}
	return l.audit(ctx)
}

// audit verifies the record. An audit that could not be carried out (status 2), because
// a cluster has chosen another primary by itself meanwhile, says nothing: it is tried
// again.
func (l *Load) audit(ctx context.Context) error {
	for begun := time.Now(); ; time.Sleep(time.Second) {
		_, err := l.servers[0].Run(ctx, "audit", "verify", "--config", l.servers[0].Config())
		if err == nil {
			return nil
		}
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 1 {
			l.violation(other, "%v", err)
			return nil
		}
		if time.Since(begun) > patience || ctx.Err() != nil {
			return err
		}
	}
}

// NextRound has the writers work in organizations of a new round, and waits until they
// were acknowledged n writes: there is something to lose.
func (l *Load) NextRound(ctx context.Context, n int) error {
	l.round.Add(1)
	return l.AcknowledgeMore(ctx, n)
}

// AcknowledgeMore waits for n more writes.
func (l *Load) AcknowledgeMore(ctx context.Context, n int) error {
	want := l.now().acknowledged + n
	for begun := time.Now(); l.now().acknowledged < want; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience || ctx.Err() != nil {
			return fmt.Errorf("no %d writes within %v", n, time.Since(begun).Round(time.Second))
		}
	}
	return nil
}

// patience is how long the servers, and what they stand on, may take to go on.
const patience = 2 * time.Minute

// checkServer compares what a server has of some organizations with the ledger.
func (l *Load) checkServer(server int, organizations []*organization) error {
	for _, o := range organizations {
		e := l.expect(o)
		k := Key{o.id, l.parent.stamper}
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
		if reply, err = ask(); !unknown(err) || time.Since(begun) > patience {
			return reply, err
		}
	}
}
