package store

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// The kinds of record that an organization holds. A new one is declared here
// and given its accessor below.
var (
	organizations = Kind[domain.Organization]{
		Name: "organization", Label: "organization", Resident: true,
		ID: func(o *domain.Organization) string { return o.ID },
	}
	users = Kind[domain.User]{
		Name: "user", Label: "user", Resident: true,
		ID: func(u *domain.User) string { return u.ID },
		Unique: []Index[domain.User]{
			{
				Name: ByName, Keys: func(u *domain.User) []string { return []string{u.Name} },
				Taken: func(name string) error {
					return fault.Taken("a user named %q already exists; user names are unique in an organization", name)
				},
			},
			{
				Name: ByCredential, Keys: (*domain.User).CredentialKeys,
				Taken: func(string) error {
					return fault.New(fault.AlreadyExists, fault.ReasonCredentialConflict,
						"a credential with this public key or id already exists in the organization; each belongs to one user")
				},
			},
		},
	}
	tags = Kind[domain.Tag]{
		Name: "tag", Label: "tag", Resident: true,
		ID: func(t *domain.Tag) string { return t.ID },
		Unique: []Index[domain.Tag]{{
			Name: ByName, Keys: func(t *domain.Tag) []string { return []string{TagName(t.Type, t.Name)} },
			Taken: func(string) error {
				return fault.Taken("a tag with this name already exists; tag names are unique in an organization")
			},
		}},
	}
)

// instanceOrg is the pseudo-organization that holds what belongs to the whole
// installation. It is no UUID, so no request can name it.
const instanceOrg = "instance"

// knownOrganizations are the parent organizations of the installation.
var knownOrganizations = Kind[domain.KnownOrganization]{
	Name: "known-organization", Label: "organization", Resident: true,
	ID: func(o *domain.KnownOrganization) string { return o.ID },
}

// Names of unique indexes.
const (
	ByName       = "name"
	ByCredential = "credential"
)

// TagName is the key of a tag in its index by name: tags of different types do
// not compete for names.
func TagName(t domain.TagType, name string) string { return string(t) + " " + name }

// Organization returns the record of the organization itself.
func (tx *Tx) Organization() (*domain.Organization, error) {
	return tx.Organizations().Get(tx.org)
}

// Organizations holds one record: the organization itself.
func (tx *Tx) Organizations() Table[domain.Organization] {
	return In(tx, &organizations)
}

// Users holds the organization's users.
func (tx *Tx) Users() Table[domain.User] { return In(tx, &users) }

// Tags holds the organization's tags.
func (tx *Tx) Tags() Table[domain.Tag] { return In(tx, &tags) }

// KnownOrganizations holds the parent organizations; see Store.Instance.
func (tx *Tx) KnownOrganizations() Table[domain.KnownOrganization] {
	return In(tx, &knownOrganizations)
}
