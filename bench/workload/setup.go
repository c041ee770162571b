package workload

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"latchkey/bench/load"
	"latchkey/client"
)

// Founder is the root user of a parent organization that is already there.
type Founder struct {
	OrganizationID string
	Key            client.PrivateKey
}

// Founders are the parent organizations that a world needs.
type Founders struct {
	Hot, Growing, Parent Founder
}

// Setup fills a server with what the workloads need: wallets, many
// sub-organizations (none for 0), and users under policies.
func Setup(baseURL string, f Founders, many int) (*World, error) {
	host, err := hostOf(baseURL)
	if err != nil {
		return nil, err
	}
	w := &World{host: host, missing: map[string]error{}}
	for _, o := range []struct {
		place **organization
		by    Founder
	}{{&w.hot, f.Hot}, {&w.growing, f.Growing}, {&w.parent, f.Parent}} {
		org := &organization{id: o.by.OrganizationID, root: o.by.Key.Stamper()}
		err := w.perform([]*draft{org.createWallet(func(walletID, address string) { org.walletID, org.address = walletID, address })})
		if err != nil {
			return nil, fmt.Errorf("creating a wallet: %w", err)
		}
		*o.place = org
	}
	if err := w.found(many); err != nil {
		w.missing[CreateSubOrganization], w.noMany = err, err
	}
	if err := w.admit(append(w.many, w.hot)); err != nil {
		w.missing[SignTransaction] = err
	}
	return w, nil
}

// found creates the sub-organizations, and one in any case, to see whether it
// can be done.
func (w *World) found(many int) error {
	drafts, children := make([]*draft, max(many, 1)), make([]*organization, max(many, 1))
	for i := range drafts {
		var err error
		if drafts[i], children[i], err = w.parent.createSubOrganization(w.sequence.Add(1)); err != nil {
			return err
		}
	}
	if err := w.perform(drafts); err != nil {
		return fmt.Errorf("creating sub-organizations: %w", err)
	}
	if many > 0 {
		w.many = children
	}
	return nil
}

// admit creates a user under policies in each organization.
func (w *World) admit(organizations []*organization) error {
	users := make([]string, len(organizations))
	drafts := make([]*draft, len(organizations))
	for i, o := range organizations {
		var err error
		if drafts[i], err = o.createMember(func(userID string) { users[i] = userID }); err != nil {
			return err
		}
	}
	if err := w.perform(drafts); err != nil {
		return fmt.Errorf("creating users: %w", err)
	}
	for i, o := range organizations {
		var err error
		if drafts[i], err = o.createPolicies(users[i]); err != nil {
			return err
		}
	}
	if err := w.perform(drafts); err != nil {
		return fmt.Errorf("creating policies: %w", err)
	}
	// That the policies allow what they should is seen here, and not in the
	// middle of a round.
	if err := w.perform([]*draft{w.signTransaction(w.hot, w.hot.member)}); err != nil {
		return fmt.Errorf("signing under policies: %w", err)
	}
	return nil
}

// setupTime is the longest that a portion of the setup may take.
const setupTime = 2 * time.Minute

// perform sends requests of the setup, and checks and learns from every reply.
// They are signed in portions, because none may be old when it is sent.
func (w *World) perform(drafts []*draft) error {
	clients, err := load.Dial(w.host, min(len(drafts), 16))
	if err != nil {
		return err
	}
	defer clients.Close()
	for len(drafts) > 0 {
		n := min(len(drafts), 1000)
		requests := make([]load.Request, n)
		for i, d := range drafts[:n] {
			if requests[i], err = d.sign(w.host); err != nil {
				return err
			}
		}
		done, err := clients.Run(requests, setupTime, 1)
		if err != nil {
			return err
		}
		if done.Requests() != n {
			return errors.New("it takes too long")
		}
		if _, err := done.Verify(); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

// ReplySizes performs every operation of the workloads once and returns how
// long the replies are, by operation.
func (w *World) ReplySizes() (map[string]int, error) {
	sizes := map[string]int{}
	for _, name := range Names() {
		if name == Mix || w.missing[name] != nil {
			continue
		}
		d, err := w.draft(name, false, 0)
		if err != nil {
			return nil, err
		}
		d.check = func(reply []byte) error { sizes[d.operation] = len(reply); return nil }
		if err := w.perform([]*draft{d}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return sizes, nil
}

func hostOf(baseURL string) (string, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" || u.Port() == "" {
		return "", fmt.Errorf("%s must be http://HOST:PORT: other addresses are not loaded", u.Redacted())
	}
	return u.Host, nil
}
