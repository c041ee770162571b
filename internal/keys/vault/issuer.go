package vault

import (
	"fmt"
	"sync/atomic"
)

// Issuer writes warrants. There is one for each vault; wiring hands it to the
// code that decides, and to nothing else.
type Issuer struct {
	vault *Vault
}

// Warrant proves that one activity of one organization was allowed.
//
// It is good for one committed execution. A transaction may have to run again
// after a conflict, so Begin may be called with the same warrant until the
// commit has succeeded and Spend is called. Each Begin ends the session of the
// one before: of the attempts at an activity only the newest can do anything,
// and after Spend none can. What it cannot see is the commit itself; that an
// activity is recorded once is the store's promise.
type Warrant struct {
	vault    *Vault
	org      string
	activity string
	intent   [32]byte
	state    *atomic.Uint64 // the number of the newest attempt, or spent; shared by copies
}

const spent = ^uint64(0)

// Warrant writes a warrant for the activity, whose intent has the hash that is
// given.
func (c *Issuer) Warrant(org, activity string, intent [32]byte) *Warrant {
	return &Warrant{vault: c.vault, org: org, activity: activity, intent: intent, state: new(atomic.Uint64)}
}

// Org is the organization.
func (w *Warrant) Org() string { return w.org }

// Activity is the id of the activity.
func (w *Warrant) Activity() string { return w.activity }

// Intent is the hash of what was allowed.
func (w *Warrant) Intent() [32]byte { return w.intent }

// Spend ends the warrant after its commit. It is an error to spend it twice:
// then two executions were committed.
func (w *Warrant) Spend() error {
	if w == nil || w.state == nil || w.state.Swap(spent) == spent {
		return w.refusal("spent")
	}
	return nil
}

// begin counts an attempt.
func (w *Warrant) begin() (attempt uint64, ok bool) {
	for {
		now := w.state.Load()
		if now == spent {
			return 0, false
		}
		if w.state.CompareAndSwap(now, now+1) {
			return now + 1, true
		}
	}
}

func (w *Warrant) refusal(why string) error {
	if w == nil {
		return fmt.Errorf("vault: there is no warrant")
	}
	return fmt.Errorf("vault: the warrant of activity %q is %s", w.activity, why)
}
