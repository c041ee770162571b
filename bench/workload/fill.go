package workload

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"latchkey/bench/load"
)

// filling says how a dimension is filled.
type filling struct {
	portion     int // things made between two times that the state is kept
	connections int
	drafts      func(g *Grown, from, n int) ([]*draft, error)
}

// batch is how many accounts one request may add.
const batch = 100

var fillings = map[Dimension]filling{
	Activities: {portion: 8000, connections: 32, drafts: (*Grown).draftActivities},
	// Changes of one organization wait for each other: more connections would
	// only derive keys in vain.
	Accounts: {portion: 20 * batch, connections: 1, drafts: (*Grown).draftAccounts},
}

// Fill makes what is missing, in portions, through the server's interface.
// keep is called before a portion is sent and when it is there; filling that
// was interrupted goes on where keep last was.
//
// Sub-organizations have been made by FillChildren: Fill adds the members of
// those at work.
func (g *Grown) Fill(ctx context.Context, keep func() error) error {
	if g.Finished {
		return nil
	}
	if err := g.fill(ctx, keep); err != nil {
		return err
	}
	var waiting []*organization
	for _, o := range g.many {
		if o.member == nil || o.keys.member.KeyFile() == "" {
			waiting = append(waiting, o)
		}
	}
	if err := g.admit(waiting); err != nil {
		return err
	}
	// The first page of activities is the same everywhere, whatever was made.
	page, err := g.draftActivities(0, 20)
	if err != nil {
		return err
	}
	if err := g.perform(page); err != nil {
		return err
	}
	g.Finished = true
	err = keep()
	g.Finished = err == nil
	return err
}

// signed is a portion ready to be sent.
type signed struct {
	n        int
	requests []load.Request
	err      error
}

func (g *Grown) fill(ctx context.Context, keep func() error) error {
	if g.Filled >= g.Size {
		return nil
	}
	how, ok := fillings[g.Dimension]
	if !ok {
		return fmt.Errorf("%d of %d %s are not there", g.Size-g.Filled, g.Size, g.Dimension)
	}
	clients, err := load.Dial(g.host, how.connections)
	if err != nil {
		return err
	}
	defer clients.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	portions := make(chan signed) // one is signed while another is sent
	go g.signPortions(ctx, how, portions)
	for p := range portions {
		if p.err != nil {
			return p.err
		}
		g.Reserved += p.n
		if err := keep(); err != nil {
			return err
		}
		done, err := clients.Run(p.requests, setupTime, 1)
		if err != nil {
			return err
		}
		if done.Requests() != len(p.requests) {
			return fmt.Errorf("%d requests were not answered in %v", len(p.requests), setupTime)
		}
		if _, err := done.Verify(); err != nil {
			return err
		}
		g.Filled += p.n
		if err := keep(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// signPortions signs all portions, one ahead of the one that is being sent.
func (g *Grown) signPortions(ctx context.Context, how filling, portions chan<- signed) {
	defer close(portions)
	from, missing := g.Reserved, g.Size-g.Filled
	for missing > 0 {
		p := signed{n: min(missing, how.portion)}
		var drafts []*draft
		if drafts, p.err = how.drafts(g, from, p.n); p.err == nil {
			p.requests, p.err = g.signAll(drafts)
		}
		select {
		case portions <- p:
		case <-ctx.Done():
			return
		}
		from, missing = from+p.n, missing-p.n
	}
}

func (g *Grown) signAll(drafts []*draft) ([]load.Request, error) {
	requests := make([]load.Request, len(drafts))
	err := onAllProcessors(len(drafts), func(i int) (err error) {
		requests[i], err = drafts[i].sign(g.host)
		return err
	})
	return requests, err
}

func (g *Grown) draftActivities(_, n int) ([]*draft, error) {
	drafts := make([]*draft, n)
	for i := range drafts {
		drafts[i] = g.signRawPayload(g.hot)
		if i%1009 != 0 { // that it is completed is looked at in each
			drafts[i].check = nil
		}
	}
	return drafts, nil
}

func (g *Grown) draftAccounts(from, n int) ([]*draft, error) {
	var drafts []*draft
	for end := from + n; from < end; from += batch {
		first := from
		drafts = append(drafts, g.hot.addAccounts(uint64(first), min(batch, end-first), func(addresses []string) {
			for i, address := range addresses {
				if g.isAtWork(first + i) {
					g.hot.atWork = append(g.hot.atWork, address)
				}
			}
		}))
	}
	return drafts, nil
}

// childrenAtOnce is how many sub-organizations one transaction founds.
const childrenAtOnce = 500

// FillChildren makes sub-organizations in portions: found takes the parameters
// of one create_sub_organization each and returns the results. keep is called
// as by Fill.
func (g *Grown) FillChildren(ctx context.Context, found func(parent string, parameters [][]byte) (results [][]byte, err error), keep func() error) error {
	for g.Dimension == SubOrganizations && g.Filled < g.Size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(childrenAtOnce, g.Size-g.Filled)
		children, parameters := make([]*organization, n), make([][]byte, n)
		if err := onAllProcessors(n, func(i int) (err error) {
			number := g.Reserved + i
			children[i], parameters[i], err = newChild(uint64(number), g.isAtWork(number))
			return err
		}); err != nil {
			return err
		}
		results, err := found(g.parent.id, parameters)
		if err != nil {
			return err
		}
		for i, child := range children {
			if !g.isAtWork(g.Reserved + i) {
				continue
			}
			var created createdSubOrganization
			if err := json.Unmarshal(results[i], &created); err != nil {
				return err
			}
			if err := child.complete(&created); err != nil {
				return err
			}
			g.many = append(g.many, child)
		}
		g.Filled, g.Reserved = g.Filled+n, g.Reserved+n
		if err := keep(); err != nil {
			return err
		}
	}
	return nil
}
