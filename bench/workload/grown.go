package workload

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"latchkey/client"
)

// Dimension is what a store holds more and more of.
type Dimension string

// The dimensions.
const (
	Activities       Dimension = "activities"       // of one organization
	Accounts         Dimension = "accounts"         // of one wallet
	SubOrganizations Dimension = "suborganizations" // of one parent
)

// Grown is a server that holds much of one thing. What is needed to speak to
// it again can be kept.
type Grown struct {
	World
	grownState
}

// grownState is what of a Grown is kept beside the world.
type grownState struct {
	Dimension Dimension `json:"dimension"`
	Size      int       `json:"size"` // how many there shall be
	// AtWork is how many of them requests are spread over, evenly chosen: all
	// of the few, some of the many.
	AtWork int `json:"atWork"`
	// Filled are there for certain. Those up to Reserved may be there too:
	// filling was interrupted while they were being made.
	Filled   int  `json:"filled"`
	Reserved int  `json:"reserved"`
	Finished bool `json:"finished"`
}

// Found makes what the workloads need in an organization that is empty so far.
func Found(baseURL string, f Founder, d Dimension, size, atWork int) (*Grown, error) {
	host, err := hostOf(baseURL)
	if err != nil {
		return nil, err
	}
	o := &organization{id: f.OrganizationID, root: f.Key.Stamper()}
	o.keys.root = f.Key
	g := &Grown{
		World:      World{host: host, missing: map[string]error{}, hot: o, growing: o, parent: o},
		grownState: grownState{Dimension: d, Size: size, AtWork: min(atWork, size)},
	}
	if err := g.perform([]*draft{o.createWallet(func(walletID, address string) { o.walletID, o.address = walletID, address })}); err != nil {
		return nil, fmt.Errorf("creating a wallet: %w", err)
	}
	if err := g.admit([]*organization{o}); err != nil {
		return nil, err
	}
	if d == Accounts { // the first came with the wallet
		g.Filled, g.Reserved, o.atWork = 1, 1, []string{o.address}
	}
	return g, nil
}

// MoveTo says where the server answers now.
func (g *Grown) MoveTo(baseURL string) (err error) {
	g.host, err = hostOf(baseURL)
	return err
}

// SpreadOver reports whether a workload is spread over the sub-organizations at
// work, and over how many.
func (g *Grown) SpreadOver(name string) (int, bool) {
	if g.Dimension != SubOrganizations || name == ListActivities || !Spreads(name) {
		return 1, false
	}
	return len(g.many), true
}

// isAtWork reports whether the thing with this number, from 0 on, is one of
// those at work.
func (g *Grown) isAtWork(number int) bool {
	return number%max(1, g.Size/max(1, g.AtWork)) == 0
}

// keptOrganization is an organization in a file.
type keptOrganization struct {
	ID       string   `json:"id"`
	Root     string   `json:"root"` // private keys as in key files
	Member   string   `json:"member"`
	WalletID string   `json:"walletId"`
	Address  string   `json:"address"`
	AtWork   []string `json:"atWork,omitzero"`
}

type keptGrown struct {
	State    grownState         `json:"state"`
	One      keptOrganization   `json:"one"`
	Children []keptOrganization `json:"children,omitzero"`
}

// Keep writes down what Load needs. It holds the private keys of users, who
// own nothing.
func (g *Grown) Keep() ([]byte, error) {
	k := keptGrown{State: g.grownState, One: g.hot.keep()}
	for _, o := range g.many {
		k.Children = append(k.Children, o.keep())
	}
	return json.Marshal(k)
}

func (o *organization) keep() keptOrganization {
	return keptOrganization{o.id, o.keys.root.KeyFile(), o.keys.member.KeyFile(), o.walletID, o.address, o.atWork}
}

// Load reads what Keep wrote. The server is named by MoveTo.
func Load(text []byte) (*Grown, error) {
	var k keptGrown
	if err := json.Unmarshal(text, &k, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if !slices.Contains([]Dimension{Activities, Accounts, SubOrganizations}, k.State.Dimension) || k.State.Size < 1 {
		return nil, errors.New("it does not say what the store holds")
	}
	o, err := k.One.load()
	if err != nil {
		return nil, err
	}
	if k.State.Dimension == Accounts {
		o.accounts.Store(uint64(k.State.Reserved))
	}
	g := &Grown{World: World{missing: map[string]error{}, hot: o, growing: o, parent: o}, grownState: k.State}
	for _, child := range k.Children {
		o, err := child.load()
		if err != nil {
			return nil, err
		}
		g.many = append(g.many, o)
	}
	return g, nil
}

func (k *keptOrganization) load() (*organization, error) {
	o := &organization{id: k.ID, walletID: k.WalletID, address: k.Address, atWork: k.AtWork}
	var err error
	if o.keys.root, err = client.ParseKeyFile(k.Root); err != nil {
		return nil, fmt.Errorf("the root user's key: %w", err)
	}
	o.root = o.keys.root.Stamper()
	if k.Member != "" { // not yet admitted
		if o.keys.member, err = client.ParseKeyFile(k.Member); err != nil {
			return nil, fmt.Errorf("the member's key: %w", err)
		}
		o.member = o.keys.member.Stamper()
	}
	return o, nil
}
