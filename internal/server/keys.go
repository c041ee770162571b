package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
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
	// Epochs are the logs of the installation, the present one, of which LogKeys
	// are, last.
	Epochs []domain.LogEpoch
	// Installation is the id of the installation.
	Installation string
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
func OpenKeys(ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger) (keys KeyServices, err error) {
	err = withVault(ctx, s, c, func(v *vault.Vault, issuer *vault.Issuer) error {
		keys.Vault, keys.Decider = v, decide.New(issuer) // and nothing else gets it
		return keys.open(ctx, s, c, log)
	})
	if err != nil {
		return KeyServices{}, err
	}
	return keys, nil
}

func (keys *KeyServices) open(ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger) error {
	var rows *vault.RowKeys
	var begins bool
	err := s.Bootstrap(ctx, func(sealed store.Ciphertexts, isNew bool) (_ *vault.RowKeys, err error) {
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
		return err
	}
	installation := ids.New()
	err = s.Instance(ctx, func(tx *store.Tx) (err error) {
		if keys.ServerKeys, err = keys.Vault.LoadOrCreateServerKeys(tx.Ciphertexts()); err != nil {
			return err
		}
		known, err := tx.Installation(installation)
		if err != nil {
			return err
		}
		keys.Installation = known.ID
		return keys.openLog(tx, known, c.Log.Origin)
	})
	if err != nil {
		return err
	}
	keys.State, err = openState(c, rows, keys.Installation, begins, log)
	return err
}

// withVault opens the vault for fn, and closes it if fn fails.
func withVault(ctx context.Context, s *store.Store, c *config.Config, fn func(*vault.Vault, *vault.Issuer) error) error {
	var sealed bool
	err := s.Bootstrap(ctx, func(found store.Ciphertexts, _ bool) (_ *vault.RowKeys, err error) {
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
	v, issuer, err := openVault(ctx, c, made.passphrase)
	if err != nil {
		return err
	}
	if err = fn(v, issuer); err == nil {
		return nil
	}
	if made.path != "" && vault.IsWrongMasterKey(err) {
		// Another server was faster, with a key of its own: this one would only
		// be taken for the right one later. After any other error it stays:
		// something may be sealed under it already.
		err = errors.Join(err, os.Remove(made.path))
	}
	v.Close()
	return err
}

// openVault opens the vault. A passphrase that is known already is not asked for
// again.
func openVault(ctx context.Context, c *config.Config, passphrase []byte) (*vault.Vault, *vault.Issuer, error) {
	current, err := unsealer(ctx, c.MasterKey, passphrase)
	if err != nil {
		return nil, nil, fmt.Errorf("masterKey: %w", err)
	}
	if c.PreviousMasterKey == "" {
		return vault.Open(current)
	}
	before, err := unsealer(ctx, c.PreviousMasterKey, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("previousMasterKey: %w", err)
	}
	return vault.OpenBoth(current, before)
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
		if made.passphrase, err = choosePassphrase(ctx, path); err != nil {
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
	switch kind {
	case "file":
		return unseal.File(rest), nil
	case "passphrase":
		return unseal.Passphrase(rest, func() ([]byte, error) {
			if passphrase != nil {
				return passphrase, nil
			}
			return askPassphrase(ctx, "Passphrase of "+rest)
		}), nil
	case "env":
		return unseal.Env(rest), nil
	case "fd":
		n, err := strconv.Atoi(rest)
		return unseal.FD(n), err
	}
	return nil, errors.New("it must come from file:PATH, passphrase:PATH, env:NAME or fd:NUMBER")
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
