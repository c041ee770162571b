package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/request/decide"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

// KeyServices are the vault and what is made with its keys.
type KeyServices struct {
	Vault      *vault.Vault
	Decider    *decide.Decider
	ServerKeys *vault.ServerKeys
	LogKeys    *vault.LogKeys
	// WebhookKeys sign deliveries to webhook endpoints.
	WebhookKeys *vault.WebhookKeys
	// Epochs are the logs of the installation, the present one, of which LogKeys
	// are, last.
	Epochs []domain.LogEpoch
	// Installation is the id of the installation.
	Installation string
	// Seal is that of the master key; nil: it is in none.
	Seal *sealfile.Opened
	// State is what is remembered outside of the database.
	State *State
}

// ErrNotAdopted says that the rows of the database are not marked.
var ErrNotAdopted = errors.New("the database is of a version that did not mark its rows yet, or its adoption was interrupted: " +
	"stop all servers, make a backup, and run latchkey migrate --adopt once")

// OpenKeys opens the vault with the master key of a config, and with the previous
// one, if there is one. It refuses a master key that is not that of the store,
// and makes a missing one only for a store in which nothing is sealed yet. It
// refuses a store whose rows are not marked, with [ErrNotAdopted], or as a matter
// of integrity if they once were. The caller closes the vault.
func OpenKeys(ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger) (KeyServices, error) {
	return OpenSealedKeys(ctx, s, c, nil, log)
}

// OpenSealedKeys is [OpenKeys] with a seal that is open already; nil: as the config
// says.
func OpenSealedKeys(ctx context.Context, s *store.Store, c *config.Config, seal *sealfile.Opened, log *slog.Logger) (keys KeyServices, err error) {
	err = withVault(ctx, s, c, seal, func(o openedVault, issuer *vault.Issuer) error {
		keys.Vault, keys.Seal, keys.Decider = o.vault, o.seal, decide.New(issuer) // and nothing else gets it
		return keys.open(ctx, s, c, log)
	})
	if err != nil {
		return KeyServices{}, err
	}
	return keys, nil
}

// Close forgets all keys.
func (keys *KeyServices) Close() {
	keys.Vault.Close()
	if keys.Seal != nil {
		keys.Seal.Close()
	}
}

func (keys *KeyServices) open(ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger) error {
	rows, begins, err := keys.load(ctx, s, c)
	if err != nil {
		return err
	}
	keys.State, err = openState(c, rows, keys.Installation, begins, log)
	return err
}

// load opens everything but the state. It says whether the database is new.
func (keys *KeyServices) load(ctx context.Context, s *store.Store, c *config.Config) (rows *vault.RowKeys, begins bool, err error) {
	err = s.Bootstrap(ctx, func(sealed store.Ciphertexts, isNew bool) (_ *vault.RowKeys, err error) {
		begins = isNew
		if rows, err = keys.Vault.LoadRowKeys(sealed); err != nil || rows != nil {
			return rows, err
		}
		if path := StateFile(c); path != "" {
			return nil, oldCopy(path)
		}
		if !isNew {
			return nil, ErrNotAdopted
		}
		rows, err = keys.Vault.CreateRowKeys(sealed)
		return rows, err
	})
	if err != nil {
		return nil, false, err
	}
	installation := ids.New()
	if seed := c.Dev.Seed; seed.Given() {
		installation = seed.IDs("installation")()
	}
	err = s.Instance(ctx, func(tx *store.Tx) (err error) {
		if c.Dev.Seed.Given() {
			if err := keys.Vault.SeedServerKeys(tx.Ciphertexts(), c.Dev.Seed); err != nil {
				return err
			}
		}
		if keys.ServerKeys, err = keys.Vault.LoadOrCreateServerKeys(tx.Ciphertexts()); err != nil {
			return err
		}
		known, err := tx.Installation(installation)
		if err != nil {
			return err
		}
		keys.Installation = known.ID
		if err := noteGeneration(tx, known, keys.Seal, ""); err != nil {
			return err
		}
		if keys.WebhookKeys, err = keys.Vault.LoadOrCreateWebhookKeys(tx.Ciphertexts(), max(1, c.Webhooks.SigningKey)); err != nil {
			return err
		}
		return keys.openLog(tx, known, c.Log.Origin)
	})
	return rows, begins, err
}

// openedVault is a vault, with the seal that its master key came from, if it did.
type openedVault struct {
	vault *vault.Vault
	seal  *sealfile.Opened
}

func (o openedVault) close() {
	if o.vault != nil {
		o.vault.Close()
	}
	if o.seal != nil {
		o.seal.Close()
	}
}

// withVault opens the vault for fn, and closes it if fn fails. A seal that is open
// already is closed with it.
func withVault(ctx context.Context, s *store.Store, c *config.Config, seal *sealfile.Opened, fn func(openedVault, *vault.Issuer) error) (err error) {
	o := openedVault{seal: seal}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	var sealed bool
	err = s.Bootstrap(ctx, func(found store.Ciphertexts, _ bool) (_ *vault.RowKeys, err error) {
		sealed, err = vault.HasData(found)
		return nil, err
	})
	if err != nil {
		return err
	}
	var made newKey
	defer func() { clear(made.passphrase) }()
	if !sealed && c.PreviousMasterKey == "" {
		if made, err = makeMasterKey(ctx, c.MasterKey); err != nil {
			return fmt.Errorf("masterKey: %w", err)
		}
	}
	var issuer *vault.Issuer
	if issuer, err = o.open(ctx, c, made.passphrase); err != nil {
		return err
	}
	err = fn(o, issuer)
	if made.path != "" && vault.IsWrongMasterKey(err) {
		// Another server was faster, with a key of its own: this one would only
		// be taken for the right one later. After any other error it stays:
		// something may be sealed under it already.
		err = errors.Join(err, os.Remove(made.path))
	}
	return err
}

// openVault opens the vault, and the seal if there is one. The caller closes both.
func openVault(ctx context.Context, c *config.Config) (o openedVault, err error) {
	if _, err = o.open(ctx, c, nil); err != nil {
		o.close()
		return openedVault{}, err
	}
	return o, nil
}

// open opens the vault. A passphrase that is known already, and a seal that is open,
// are not asked for again.
func (o *openedVault) open(ctx context.Context, c *config.Config, passphrase []byte) (issuer *vault.Issuer, err error) {
	if _, sealed := sealPath(c); sealed && o.seal == nil {
		if o.seal, err = askConfigured(ctx, c); err != nil {
			return nil, fmt.Errorf("masterKey: %w", err)
		}
	}
	current, before, err := o.masterKeys(ctx, c, passphrase)
	if err != nil {
		return nil, err
	}
	if before == nil {
		o.vault, issuer, err = vault.Open(current)
	} else {
		o.vault, issuer, err = vault.OpenBoth(current, before)
	}
	return issuer, err
}

// masterKeys is the master key, and the one before if there is one.
func (o *openedVault) masterKeys(ctx context.Context, c *config.Config, passphrase []byte) (current, before vault.Unsealer, err error) {
	if o.seal != nil {
		current, before = o.seal.Current(), o.seal.Previous()
	} else if current, err = unsealer(ctx, c.MasterKey, passphrase); err != nil {
		return nil, nil, fmt.Errorf("masterKey: %w", err)
	}
	if c.PreviousMasterKey == "" {
		return current, before, nil
	}
	if before != nil {
		return nil, nil, errors.New("previousMasterKey: the seal holds a key before already; run latchkey vault rotate without previousMasterKey first")
	}
	if before, err = unsealer(ctx, c.PreviousMasterKey, nil); err != nil {
		return nil, nil, fmt.Errorf("previousMasterKey: %w", err)
	}
	return current, before, nil
}

func askConfigured(ctx context.Context, c *config.Config) (*sealfile.Opened, error) {
	seal, err := ReadSeal(c)
	if err != nil {
		return nil, err
	}
	return AskSeal(ctx, seal, c.Seal.Secrets, slog.New(slog.DiscardHandler))
}

// WarnUnlocked logs, once, that keys are in memory which could be written to swap
// space.
func WarnUnlocked(v *vault.Vault, log *slog.Logger, also ...func()) {
	v.OnUnlocked(func(err error) {
		log.Warn("memory with keys could not be locked: keys may be written to swap space. "+
			"Raise the limit for locked memory (LimitMEMLOCK=64M in the systemd unit, ulimit -l in a shell), or switch swap off", "error", err)
		for _, do := range also {
			do()
		}
	})
}

// RequireLocked refuses memory that could be written to swap space, unless the config
// allows it.
func RequireLocked(v *vault.Vault, c *config.Config) error {
	if why := v.Unlocked(); why != nil && !c.AllowSwap {
		return fmt.Errorf("memory with keys could not be locked, and keys might be written to swap space: %w. "+
			"Raise the limit for locked memory (LimitMEMLOCK=64M in the systemd unit, ulimit -l in a shell), or set allowSwap: true", why)
	}
	return nil
}

// newKey is a master key that a first start has made.
type newKey struct {
	path       string // of the file; empty: none was made
	passphrase []byte // that was given for it
}

// makeMasterKey makes the file that a source names, if it is missing: a new
// installation gets its master key at its first start. Of two servers that do so
// at once, one makes it, and the other reads it.
func makeMasterKey(ctx context.Context, source string) (made newKey, err error) {
	kind, path, _ := strings.Cut(source, ":")
	if kind != "file" && kind != "passphrase" || !missing(path) {
		return newKey{}, nil
	}
	if missing(filepath.Dir(path)) {
		return newKey{}, fmt.Errorf("%s cannot be made: the folder %s does not exist; create it first", path, filepath.Dir(path))
	}
	if kind == "file" {
		err = unseal.Create(path)
	} else {
		if made.passphrase, err = ChoosePassphrase(ctx, path); err != nil {
			return newKey{}, err
		}
		err = unseal.CreatePassphrase(path, made.passphrase)
	}
	switch {
	case err == nil:
		made.path = path
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	return made, err
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// unsealer is the master key that a source names.
func unsealer(ctx context.Context, source string, passphrase []byte) (vault.Unsealer, error) {
	kind, rest, _ := strings.Cut(source, ":")
	if (kind == "file" || kind == "passphrase") && missing(rest) {
		return nil, fmt.Errorf("%s is missing, and this database has keys that are sealed under a master key already; nothing was made. "+
			"Put the file back from its backup, or name the right one. To replace the master key, make the new one first: (umask 077; openssl rand -hex 32 > %s)", rest, rest)
	}
	if kind != "passphrase" {
		return unseal.From(source)
	}
	return unseal.Passphrase(rest, func() ([]byte, error) {
		if passphrase != nil {
			return passphrase, nil
		}
		return askPassphrase(ctx, "Passphrase of "+rest)
	}), nil
}

// HasOrganizations reports whether a parent organization was ever created.
func HasOrganizations(ctx context.Context, s *store.Store) (some bool, err error) {
	err = s.Instance(ctx, func(tx *store.Tx) error {
		known, err := tx.KnownOrganizations().List("", 1)
		some = len(known) > 0
		return err
	})
	return some, err
}
