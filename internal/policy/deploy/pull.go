package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/domain"
	"latchkey/internal/policy/policytest"
)

// Organization is what an organization has.
type Organization struct {
	ID, Name       string
	Policies       []Policy
	Controls       []Control
	Users          []User
	Tags           []Record // of users
	PrivateKeyTags []Record
	Wallets        []Record
	PrivateKeys    []Record
	// Accounts lists the accounts of a wallet: addresses by name.
	Accounts func(walletID string) (map[string][]string, error)
}

// Record is something that has a name.
type Record struct{ Name, ID string }

// User is a user with the ids of its tags.
type User struct {
	Record
	TagIDs []string
}

// Directory is the names of the organization.
func (o *Organization) Directory() *policytest.Directory {
	d := policytest.NewDirectory(o.Accounts)
	for kind, records := range o.records() {
		for _, r := range records {
			d.Add(kind, r.Name, r.ID)
		}
	}
	return d
}

func (o *Organization) records() map[string][]Record {
	users := make([]Record, len(o.Users))
	for i, u := range o.Users {
		users[i] = u.Record
	}
	return map[string][]Record{
		policytest.KindUser: users, policytest.KindTag: o.Tags, policytest.KindPrivateKeyTag: o.PrivateKeyTags,
		policytest.KindWallet: o.Wallets, policytest.KindPrivateKey: o.PrivateKeys,
	}
}

// The file that is written. The order of its members is that of the documents.
type (
	file struct {
		Tags           []string     `yaml:"tags,omitempty,flow"`
		PrivateKeyTags []string     `yaml:"privateKeyTags,omitempty,flow"`
		Users          []fileUser   `yaml:"users,omitempty"`
		Wallets        []fileRecord `yaml:"wallets,omitempty"`
		PrivateKeys    []fileRecord `yaml:"privateKeys,omitempty"`
		Controls       []*yaml.Node `yaml:"velocityControls,omitempty"`
		Policies       []filePolicy `yaml:"policies"`
	}
	fileUser struct {
		Name string   `yaml:"name"`
		Tags []string `yaml:"tags,omitempty,flow"`
	}
	fileRecord struct {
		Name string `yaml:"name"`
	}
	filePolicy struct {
		Name      string        `yaml:"policyName"`
		Effect    domain.Effect `yaml:"effect"`
		Consensus string        `yaml:"consensus,omitempty"`
		Condition string        `yaml:"condition,omitempty"`
		Time      string        `yaml:"time,omitempty"`
		Notes     string        `yaml:"notes,omitempty"`
	}
)

// File writes the policies as a file, with names in the place of the ids that
// have one. It is read again before it is returned: what would not mean the same
// is an error.
func (o *Organization) File() ([]byte, error) {
	n := o.namer()
	out := file{Policies: []filePolicy{}}
	for _, p := range o.Policies {
		out.Policies = append(out.Policies, filePolicy{
			Name: p.Name, Effect: p.Effect, Notes: p.Notes,
			Consensus: n.label(p.Consensus), Condition: n.label(p.Condition), Time: n.label(p.Time),
		})
	}
	out.Tags, out.PrivateKeyTags = names(o.Tags, n.used), names(o.PrivateKeyTags, n.used)
	for _, w := range names(o.Wallets, n.used) {
		out.Wallets = append(out.Wallets, fileRecord{w})
	}
	for _, k := range names(o.PrivateKeys, n.used) {
		out.PrivateKeys = append(out.PrivateKeys, fileRecord{k})
	}
	out.Users = o.fileUsers(n.used)
	for i := range o.Controls {
		node, err := o.Controls[i].node()
		if err != nil {
			return nil, err
		}
		out.Controls = append(out.Controls, node)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The policies of organization %q, %s.\n", o.Name, o.ID)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(out), e.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), o.verify(b.Bytes())
}

// node writes a control as YAML, in the words of the interface.
func (c *Control) node() (*yaml.Node, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) != 1 {
		return nil, fmt.Errorf("velocity control %s cannot be written: %w", c.Identifier, err)
	}
	plain(document.Content[0])
	return document.Content[0], nil
}

// plain takes the braces and quotes of JSON off; the encoder quotes what needs it.
func plain(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, c := range n.Content {
		plain(c)
	}
}

// verify reads the file as any other.
func (o *Organization) verify(text []byte) error {
	read, err := policytest.Parse("the file", text, func(name string) ([]byte, error) { return nil, fmt.Errorf("no file %s", name) })
	if err != nil {
		return fmt.Errorf("a policy of the organization cannot be written to a file: %w", err)
	}
	plan, err := Compare(o, []*policytest.File{read}, false)
	if err == nil && plan.Different() {
		err = errors.New("the file would not mean the same as the policies of the organization: this is a bug of latchkey, please report it")
	}
	return err
}

// maxListed is how many records of a kind a file may have.
const maxListed = 1000

// namer replaces ids by placeholders.
type namer struct {
	placeholders map[string]string // by id
	used         map[string]bool   // ids
}

// namer gives a placeholder to every id whose name means it alone.
func (o *Organization) namer() *namer {
	n := &namer{placeholders: map[string]string{}, used: map[string]bool{}}
	for kind, records := range o.records() {
		times := map[string]int{}
		for _, r := range records {
			times[r.Name]++
		}
		for _, r := range records {
			if times[r.Name] == 1 && !strings.Contains(r.Name, "}") && len(records) <= maxListed {
				n.placeholders[r.ID] = "${" + kind + "." + r.Name + "}"
			}
		}
	}
	return n
}

var idForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (n *namer) label(text string) string {
	return idForm.ReplaceAllStringFunc(strings.ReplaceAll(text, "${", "$${"), func(id string) string {
		placeholder, ok := n.placeholders[id]
		if !ok {
			return id
		}
		n.used[id] = true
		return placeholder
	})
}

func names(records []Record, used map[string]bool) (all []string) {
	for _, r := range records {
		if used[r.ID] {
			all = append(all, r.Name)
		}
	}
	return all
}

// fileUsers are all users, if a policy names one: advice on a file takes the users
// in it for all that there are. They come with those of their tags that policies
// name.
func (o *Organization) fileUsers(used map[string]bool) (all []fileUser) {
	if !slices.ContainsFunc(o.Users, func(u User) bool { return used[u.ID] }) {
		return nil
	}
	seen := map[string]bool{}
	for _, u := range o.Users {
		if seen[u.Name] {
			continue // a file has each name once
		}
		seen[u.Name] = true
		shown := fileUser{Name: u.Name}
		for _, t := range o.Tags {
			if used[t.ID] && slices.Contains(u.TagIDs, t.ID) {
				shown.Tags = append(shown.Tags, t.Name)
			}
		}
		all = append(all, shown)
	}
	return all
}

// Labels turns ids into names, for people.
func (o *Organization) Labels() *strings.Replacer {
	var pairs []string
	for id, placeholder := range o.namer().placeholders {
		pairs = append(pairs, id, placeholder)
	}
	return strings.NewReplacer(pairs...)
}
