package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/suggest"
)

// Directory is what an organization calls its users, tags, wallets and private
// keys. Make it with NewDirectory.
type Directory struct {
	ids map[string]map[string][]string // by kind and name
	// accounts lists the accounts of a wallet: addresses by name.
	accounts func(walletID string) (map[string][]string, error)
}

// NewDirectory makes a directory without names. accounts lists the accounts of a
// wallet, addresses by name; it is called only for a wallet that a policy names an
// account of.
func NewDirectory(accounts func(walletID string) (map[string][]string, error)) *Directory {
	return &Directory{ids: map[string]map[string][]string{}, accounts: accounts}
}

// Add adds a record of a kind.
func (d *Directory) Add(kind, name, id string) {
	if d.ids[kind] == nil {
		d.ids[kind] = map[string][]string{}
	}
	d.ids[kind][name] = append(d.ids[kind][name], id)
}

// Resolved is a placeholder and what it stands for in an organization.
type Resolved struct{ Placeholder, Value string }

// BoundPolicy is a policy of a file with the ids that an organization has.
type BoundPolicy struct {
	Name                       string
	Effect                     domain.Effect
	Condition, Consensus, Time string
	Notes                      string
}

// Bind gives the policies the ids of an organization: those which the file gives,
// if the organization has them, else those of its records of the same name. It
// also returns what the placeholders stand for. A name that means none or several
// records is a mistake, returned as [*Error].
func (f *File) Bind(d *Directory) (policies []BoundPolicy, names []Resolved, err error) {
	b := &binding{File: f, directory: d, known: map[string]namedValue{}}
	for i := range f.Policies {
		p := &f.Policies[i]
		bound := BoundPolicy{Name: p.Name, Effect: p.Effect, Notes: p.Notes}
		for place, to := range map[policy.Place]*string{
			policy.Condition: &bound.Condition, policy.Consensus: &bound.Consensus, policy.Time: &bound.Time,
		} {
			if e := p.expressions[place]; e != nil {
				*to = b.bind(p.Name, place, e)
			}
		}
		policies = append(policies, bound)
	}
	switch {
	case b.err != nil:
		return nil, nil, b.err
	case len(b.mistakes) > 0:
		return nil, nil, &Error{File: f.Path, Mistakes: sorted(b.mistakes)}
	}
	for _, text := range slices.Sorted(maps.Keys(b.known)) {
		names = append(names, Resolved{"${" + text + "}", b.known[text].value})
	}
	return policies, names, nil
}

// binding resolves the placeholders of one file.
type binding struct {
	*File
	directory *Directory
	known     map[string]namedValue // what was resolved
	mistakes  []Mistake
	err       error // of asking the organization
}

func (b *binding) bind(policyName string, place policy.Place, e *expression) string {
	bound, unfit := expand(e.given, b.resolve)
	if unfit == nil {
		return bound.text
	}
	b.mistakes = append(b.mistakes, Mistake{
		Line: e.line(unfit.from), Policy: policyName, Place: place.String(), Offset: unfit.from,
		Message: unfit.message, excerpt: excerptOf(e.given, unfit.from, unfit.to),
	})
	return ""
}

// resolve finds what kind.name, which the file has, stands for.
func (b *binding) resolve(text string) (namedValue, string) {
	if found, ok := b.known[text]; ok {
		return found, ""
	}
	kind, name, _ := strings.Cut(text, ".")
	value, problem := b.value(kind, name)
	if problem != "" {
		return namedValue{}, problem
	}
	b.known[text] = namedValue{value: value}
	return b.known[text], ""
}

func (b *binding) value(kind, name string) (value, problem string) {
	inFile := b.names[kind][name]
	switch {
	case kind == KindAccount && inFile.madeUp:
		return b.account(inFile.wallet, name)
	case kind == KindAccount:
		return inFile.value, ""
	case inFile.madeUp:
		return unique(b.directory.ids[kind], kind, name)
	}
	for _, ids := range b.directory.ids[kind] {
		if slices.Contains(ids, inFile.value) {
			return inFile.value, ""
		}
	}
	return "", fmt.Sprintf("the organization has no %s with the id %s that the file gives it", kind, inFile.value)
}

// account is the address of an account that the file gives none.
func (b *binding) account(wallet, name string) (address, problem string) {
	id, problem := b.value(KindWallet, wallet)
	if problem != "" {
		return "", problem
	}
	accounts, err := b.directory.accounts(id)
	if err != nil {
		b.err = err
		return "", err.Error()
	}
	return unique(accounts, KindAccount, name)
}

// unique is what a name means, if that is one thing.
func unique(known map[string][]string, kind, name string) (value, problem string) {
	switch found := known[name]; len(found) {
	case 1:
		return found[0], ""
	case 0:
		problem = fmt.Sprintf("the organization has no %s %q", kind, name)
		if near := suggest.Name(name, 1000, slices.Sorted(maps.Keys(known))); near != "" {
			problem += fmt.Sprintf("; the nearest is %q", near)
		}
		return "", problem
	default:
		return "", fmt.Sprintf("the organization has %d of the kind %s with the name %q (%s); give the one that is meant its id in the file",
			len(found), kind, name, strings.Join(slices.Sorted(slices.Values(found)), ", "))
	}
}
