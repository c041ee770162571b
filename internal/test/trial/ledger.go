package trial

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"latchkey/client"
)

// ledger is what clients were told. It is kept here, outside of servers and database,
// and what they have is compared with it.
type ledger struct {
	out           io.Writer // is told of violations
	mu            sync.Mutex
	organizations []*organization
	revoked       []Key
	counts        counts

	lastAck time.Time
	longest time.Duration // between two acknowledgements, since ResetGap was called
}

type counts struct {
	acknowledged int // writes
	doubted      int // writes with an attempt whose outcome was unknown
	abandoned    int // of those: never sent again
	refused      int // writes that must not have happened
	revoked      int // keys
	probes       int // requests with a revoked key
	reads        int
	lost         int
	twice        int
	accepted     int // revoked keys
	other        int // further violations
}

// organization is one that a writer works in, which it has made itself.
type organization struct {
	id, name string
	root     Key
	writes   map[string]*write // by fingerprint
	shown    map[string]string // fingerprints of activities that were shown, by their id
	wallets  []string          // ids of those acknowledged
}

// Key is one of a user of an organization.
type Key struct {
	organization string
	stamper      client.Stamper
}

// write is one request for a wallet, however often it was sent.
type write struct {
	wallet   string // its name
	activity string // id that was acknowledged; empty: not acknowledged
	walletID string
}

func (l *ledger) open(o *organization) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.writes, o.shown = map[string]*write{}, map[string]string{}
	l.organizations = append(l.organizations, o)
}

// begin enters a request before it is sent.
func (l *ledger) begin(o *organization, fingerprint, wallet string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.writes[fingerprint] = &write{wallet: wallet}
}

// created enters the acknowledgement of a wallet.
func (l *ledger) created(o *organization, fingerprint, activity, walletID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := o.writes[fingerprint]
	w.activity, w.walletID = activity, walletID
	o.wallets = append(o.wallets, walletID)
}

// acknowledged counts a write that a client was told of as done.
func (l *ledger) acknowledged() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.lastAck.IsZero() {
		l.longest = max(l.longest, now.Sub(l.lastAck))
	}
	l.lastAck = now
	l.counts.acknowledged++
}

func (l *ledger) count(change func(*counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.counts)
}

func (l *ledger) now() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// ResetGap begins to measure how long no write is acknowledged, from now on.
func (l *ledger) ResetGap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = 0
}

// Gap is how long that was at most.
func (l *ledger) Gap() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.longest
}

func (l *ledger) revoke(k Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revoked = append(l.revoked, k)
	l.counts.revoked++
}

// aRevoked returns a key that must not be accepted, mostly one of the newest.
func (l *ledger) aRevoked() (Key, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.revoked)
	if n == 0 {
		return Key{}, false
	}
	if rand.IntN(4) > 0 {
		return l.revoked[n-1-rand.IntN(min(n, 20))], true
	}
	return l.revoked[rand.IntN(n)], true
}

// aWallet returns one that was acknowledged, of the newest organizations.
func (l *ledger) aWallet() (o *organization, id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := l.organizations[max(0, len(l.organizations)-2*writers):]
	if len(recent) == 0 {
		return nil, "", false
	}
	o = recent[rand.IntN(len(recent))]
	if len(o.wallets) == 0 {
		return nil, "", false
	}
	return o, o.wallets[rand.IntN(len(o.wallets))], true
}

// show enters activities that a server has shown: what was seen must stay.
func (l *ledger) show(o *organization, activities []client.Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range activities {
		o.shown[a.ID] = a.Fingerprint
	}
}

// violation notes something that must not be.
func (l *ledger) violation(count func(*counts), format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	l.mu.Lock()
	defer l.mu.Unlock()
	count(&l.counts)
	fmt.Fprintln(l.out, "VIOLATION:", text)
}

func lost(c *counts)     { c.lost++ }
func twice(c *counts)    { c.twice++ }
func accepted(c *counts) { c.accepted++ }
func other(c *counts)    { c.other++ }

// expected is what the ledger has of an organization at one moment.
type expected struct {
	writes map[string]write
	shown  map[string]string
}

func (l *ledger) expect(o *organization) expected {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := expected{writes: map[string]write{}, shown: map[string]string{}}
	for fingerprint, w := range o.writes {
		e.writes[fingerprint] = *w
	}
	for id, fingerprint := range o.shown {
		e.shown[id] = fingerprint
	}
	return e
}

// ghost begins the names of wallets that no one was allowed to make.
const ghost = "ghost"

// compare looks for what a server lacks, or has that it should not have. The activities
// were read before the wallets, and the ledger before both.
func (l *ledger) compare(where string, e expected, activities []client.Activity, wallets []client.Wallet) {
	recorded := map[string][]client.Activity{}
	ids := map[string]bool{}
	for _, a := range activities {
		recorded[a.Fingerprint] = append(recorded[a.Fingerprint], a)
		ids[a.ID] = true
	}
	named := map[string][]string{}
	for _, w := range wallets {
		named[w.WalletName] = append(named[w.WalletName], w.WalletID)
	}
	for fingerprint, w := range e.writes {
		done := recorded[fingerprint]
		have := named[w.wallet]
		switch {
		case len(done) > 1 || len(have) > 1:
			l.violation(twice, "%s: %q is there as %d activities and %d wallets", where, w.wallet, len(done), len(have))
		case w.activity != "" && (len(done) == 0 || len(have) == 0):
			l.violation(lost, "%s: %q was acknowledged, and is there as %d activities and %d wallets", where, w.wallet, len(done), len(have))
		case w.activity != "" && (done[0].ID != w.activity || !slices.Contains(have, w.walletID)):
			l.violation(lost, "%s: %q was acknowledged as activity %s and wallet %s, and is there as %s and %v", where, w.wallet, w.activity, w.walletID, done[0].ID, have)
		case len(done) == 1 && len(have) == 0 && done[0].Status == client.ActivityStatusCompleted:
			l.violation(lost, "%s: the activity for %q is completed, and the wallet is missing", where, w.wallet)
		}
	}
	for id, fingerprint := range e.shown {
		if !ids[id] {
			l.violation(lost, "%s: activity %s (%s) was shown, and is gone", where, id, fingerprint)
		}
	}
	for name := range named {
		if len(name) >= len(ghost) && name[:len(ghost)] == ghost {
			l.violation(other, "%s: wallet %q was refused, and is there", where, name)
		}
	}
}

// Sum is what has come to pass, in one line.
func (l *ledger) Sum() string {
	c := l.now()
	return fmt.Sprintf("%d acknowledged, %d were in doubt, %d lost, %d twice, %d revoked keys accepted", c.acknowledged, c.doubted, c.lost, c.twice, c.accepted)
}

// Report is the same as a table. It is an error if there was a violation.
func (l *ledger) Report() error {
	c := l.now()
	fmt.Fprintf(l.out, "writes acknowledged    %d\n", c.acknowledged)
	fmt.Fprintf(l.out, "writes in doubt        %d, of which %d were not sent again\n", c.doubted, c.abandoned)
	fmt.Fprintf(l.out, "keys revoked           %d, tried %d times, %d writes with them refused\n", c.revoked, c.probes, c.refused)
	fmt.Fprintf(l.out, "reads                  %d\n", c.reads)
	fmt.Fprintf(l.out, "lost                   %d\n", c.lost)
	fmt.Fprintf(l.out, "twice                  %d\n", c.twice)
	fmt.Fprintf(l.out, "revoked keys accepted  %d\n", c.accepted)
	fmt.Fprintf(l.out, "other violations       %d\n", c.other)
	if n := c.lost + c.twice + c.accepted + c.other; n > 0 {
		return fmt.Errorf("%d violations", n)
	}
	return nil
}
