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
		ID:        func(o *domain.Organization) string { return o.ID },
		Directory: (*domain.Organization).DirectoryKeys,
	}
	users = Kind[domain.User]{
		Name: "user", Label: "user", Resident: true,
		ID:        func(u *domain.User) string { return u.ID },
		Directory: (*domain.User).DirectoryKeys,
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

// Policies are evaluated on every request; the interfaces of contracts only when
// one of them is called.
var (
	policies = Kind[domain.Policy]{
		Name: "policy", Label: "policy", Resident: true,
		ID: func(p *domain.Policy) string { return p.ID },
		Unique: []Index[domain.Policy]{{
			Name: ByName, Keys: func(p *domain.Policy) []string { return []string{p.Name} },
			Taken: func(name string) error {
				return fault.Taken("policy label must be unique: a policy named %q already exists", name)
			},
		}},
	}
	velocityControls = Kind[domain.VelocityControl]{
		Name: "velocity-control", Label: "velocity control", Resident: true,
		ID: func(c *domain.VelocityControl) string { return c.ID },
		Unique: []Index[domain.VelocityControl]{{
			Name: ByName, Keys: func(c *domain.VelocityControl) []string { return []string{c.Identifier} },
			Taken: func(identifier string) error {
				return fault.Taken("a velocity control with the identifier %q already exists; identifiers are unique in an organization", identifier)
			},
		}},
	}
	contractInterfaces = Kind[domain.ContractInterface]{
		Name: "contract-interface", Label: "smart contract interface",
		ID: func(c *domain.ContractInterface) string { return c.ID },
	}
	// waiting are the activities that wait, or once waited, for votes: they
	// are found by their fingerprint alone.
	waiting = Kind[domain.Waiting]{
		Name: "waiting", Label: "activity",
		ID: func(w *domain.Waiting) string { return w.Fingerprint },
	}
	otps = Kind[domain.OTP]{
		Name: "otp", Label: "one-time code", Expires: true,
		ID:    func(o *domain.OTP) string { return o.ID },
		Lists: []Index[domain.OTP]{{Name: ByContact, Keys: (*domain.OTP).Keys}},
	}
	wrongCodes = Kind[domain.WrongCodes]{
		Name: "wrong-codes", Label: "count of wrong codes", Expires: true,
		ID: func(w *domain.WrongCodes) string { return w.Contact },
	}
)

// Keys and wallets can be many: they are read one by one.
var (
	wallets = Kind[domain.Wallet]{
		Name: "wallet", Label: "wallet",
		ID: func(w *domain.Wallet) string { return w.ID },
		Unique: []Index[domain.Wallet]{{
			Name: ByName, Keys: func(w *domain.Wallet) []string { return []string{w.Name} },
			Taken: func(name string) error {
				return fault.Taken("a wallet named %q already exists; wallet names are unique in an organization", name)
			},
		}},
	}
	walletAccounts = Kind[domain.WalletAccount]{
		Name: "wallet-account", Label: "wallet account",
		ID:        func(a *domain.WalletAccount) string { return a.ID },
		Directory: (*domain.WalletAccount).DirectoryKeys,
		Unique: []Index[domain.WalletAccount]{
			{
				Name: ByPath,
				Keys: func(a *domain.WalletAccount) []string {
					return []string{a.WalletID + " " + string(a.Curve) + " " + string(a.Format) + " " + a.Derived}
				},
				Taken: func(string) error {
					return fault.Invalid("invalid path: the wallet has an account with this path, curve and address format already")
				},
			},
			{
				Name: ByName,
				Keys: func(a *domain.WalletAccount) []string {
					if a.Name == "" {
						return nil
					}
					return []string{a.WalletID + " " + a.Name}
				},
				Taken: func(string) error { return fault.Taken("the wallet has an account with this name already") },
			},
		},
		Lists: []Index[domain.WalletAccount]{
			{Name: ByWallet, Keys: func(a *domain.WalletAccount) []string { return []string{a.WalletID} }},
			{Name: BySigner, Keys: (*domain.WalletAccount).SignWith},
			{Name: ByGivenPath, Keys: func(a *domain.WalletAccount) []string { return []string{a.WalletID + " " + a.Path} }},
		},
	}
	privateKeys = Kind[domain.PrivateKey]{
		Name: "private-key", Label: "private key",
		ID: func(k *domain.PrivateKey) string { return k.ID },
		Unique: []Index[domain.PrivateKey]{{
			Name: ByName, Keys: func(k *domain.PrivateKey) []string { return []string{k.Name} },
			Taken: func(name string) error {
				return fault.Taken("a private key named %q already exists; key names are unique in an organization", name)
			},
		}},
		Lists: []Index[domain.PrivateKey]{
			{Name: BySigner, Keys: (*domain.PrivateKey).SignWith},
			{Name: ByTag, Keys: func(k *domain.PrivateKey) []string { return k.TagIDs }},
		},
	}
	secrets = Kind[domain.Secret]{
		Name: "secret", Label: "secret",
		ID: func(s *domain.Secret) string { return s.ID },
	}
	oauth2Credentials = Kind[domain.OAuth2Credential]{
		Name: "oauth2-credential", Label: "OAuth 2.0 credential",
		ID: func(c *domain.OAuth2Credential) string { return c.ID },
		Unique: []Index[domain.OAuth2Credential]{{
			Name: ByClient, Keys: func(c *domain.OAuth2Credential) []string { return []string{c.Key()} },
			Taken: func(string) error {
				return fault.Taken("an OAuth 2.0 credential for this provider and clientId already exists; change it with update_oauth2_credential")
			},
		}},
	}
	importTargets = Kind[domain.ImportTarget]{
		Name: "import-target", Label: "import target", Expires: true,
		ID: func(t *domain.ImportTarget) string { return t.ID },
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

// installations holds one record: the installation itself.
var installations = Kind[domain.Installation]{
	Name: "installation", Label: "installation", Resident: true,
	ID: func(i *domain.Installation) string { return i.ID },
}

// Names of indexes.
const (
	ByName       = "name"
	ByCredential = "credential"
	ByPath       = "path"
	ByGivenPath  = "given-path"
	ByWallet     = "wallet"
	BySigner     = "signer"
	ByTag        = "tag"
	ByContact    = "contact"
	ByClient     = "client"
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

// Policies holds the organization's policies.
func (tx *Tx) Policies() Table[domain.Policy] { return In(tx, &policies) }

// VelocityControls holds the organization's limits over time.
func (tx *Tx) VelocityControls() Table[domain.VelocityControl] { return In(tx, &velocityControls) }

// ContractInterfaces holds what is known of contracts.
func (tx *Tx) ContractInterfaces() Table[domain.ContractInterface] {
	return In(tx, &contractInterfaces)
}

// Waiting holds the activities that were left to votes.
func (tx *Tx) Waiting() Table[domain.Waiting] { return In(tx, &waiting) }

// OTPs holds the one-time codes that were sent.
func (tx *Tx) OTPs() Table[domain.OTP] { return In(tx, &otps) }

// WrongCodes holds how many wrong codes were sent back for each contact.
func (tx *Tx) WrongCodes() Table[domain.WrongCodes] { return In(tx, &wrongCodes) }

// Tags holds the organization's tags.
func (tx *Tx) Tags() Table[domain.Tag] { return In(tx, &tags) }

// KnownOrganizations holds the parent organizations; see [Store.Instance].
func (tx *Tx) KnownOrganizations() Table[domain.KnownOrganization] {
	return In(tx, &knownOrganizations)
}

// Installation returns the record of the installation, in a transaction of
// [Store.Instance]. The first time it makes one, with the id of the caller.
func (tx *Tx) Installation(newID string) (*domain.Installation, error) {
	known, err := In(tx, &installations).List("", 1)
	if err != nil {
		return nil, err
	}
	if len(known) > 0 {
		return known[0], nil
	}
	made := &domain.Installation{ID: newID}
	return made, In(tx, &installations).Insert(made)
}

// BeginEpoch adds a log to the record of the installation.
func (tx *Tx) BeginEpoch(installation string, epoch domain.LogEpoch) error {
	return tx.EditInstallation(installation, func(i *domain.Installation) error {
		i.Epochs = append(i.Epochs, epoch)
		return nil
	})
}

// EditInstallation changes the record of the installation.
func (tx *Tx) EditInstallation(id string, change func(*domain.Installation) error) error {
	return In(tx, &installations).Edit(id, change)
}

// Wallets holds the organization's wallets.
func (tx *Tx) Wallets() Table[domain.Wallet] { return In(tx, &wallets) }

// WalletAccounts holds the accounts of all wallets.
func (tx *Tx) WalletAccounts() Table[domain.WalletAccount] { return In(tx, &walletAccounts) }

// PrivateKeys holds the organization's private keys.
func (tx *Tx) PrivateKeys() Table[domain.PrivateKey] { return In(tx, &privateKeys) }

// Secrets holds what is known of the organization's secrets.
func (tx *Tx) Secrets() Table[domain.Secret] { return In(tx, &secrets) }

// OAuth2Credentials holds how the organization is known to providers of OAuth 2.0.
func (tx *Tx) OAuth2Credentials() Table[domain.OAuth2Credential] { return In(tx, &oauth2Credentials) }

// ImportTargets holds the one-time keys of imports under way.
func (tx *Tx) ImportTargets() Table[domain.ImportTarget] { return In(tx, &importTargets) }
