package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
)

// KeyServices are the vault and what is made with its keys.
type KeyServices struct {
	Vault      *vault.Vault
	Decider    *decide.Decider
	ServerKeys *vault.ServerKeys
	LogKeys    *vault.LogKeys
}

// OpenKeys opens the vault with the master key that source names (see package
// config), and with the previous one, if there is one. It refuses a master key
// that is not that of the store, and makes a missing one only for a store in
// which nothing is sealed yet. The caller closes the vault.
func OpenKeys(ctx context.Context, s *store.Store, source, previous string) (keys KeyServices, err error) {
	var sealed bool
	err = s.Bootstrap(ctx, func(c store.Ciphertexts, _ bool) (_ *vault.RowKeys, err error) {
		sealed, err = vault.HasData(c)
		return nil, err
	})
	if err != nil {
		return KeyServices{}, err
	}
	var made newKey
	defer func() { clear(made.passphrase) }()
	if !sealed && previous == "" {
		if made, err = makeMasterKey(ctx, source); err != nil {
			return KeyServices{}, fmt.Errorf("masterKey: %w", err)
		}
	}
	keys, err = openKeys(ctx, s, source, previous, made.passphrase)
	if made.path != "" && vault.IsWrongMasterKey(err) {
		// Another server was faster, with a key of its own: this one would only
		// be taken for the right one later. After any other error it stays:
		// something may be sealed under it already.
		err = errors.Join(err, os.Remove(made.path))
	}
	return keys, err
}

// openKeys opens the vault. A passphrase that is known already is not asked for
// again.
func openKeys(ctx context.Context, s *store.Store, source, previous string, passphrase []byte) (keys KeyServices, err error) {
	current, err := unsealer(ctx, source, passphrase)
	if err != nil {
		return KeyServices{}, fmt.Errorf("masterKey: %w", err)
	}
	var issuer *vault.Issuer
	if previous == "" {
		keys.Vault, issuer, err = vault.Open(current)
	} else {
		before, problem := unsealer(ctx, previous, nil)
		if problem != nil {
			return KeyServices{}, fmt.Errorf("previousMasterKey: %w", problem)
		}
		keys.Vault, issuer, err = vault.OpenBoth(current, before)
	}
	if err != nil {
		return KeyServices{}, err
	}
	keys.Decider = decide.New(issuer) // and nothing else gets it
	err = s.Bootstrap(ctx, func(c store.Ciphertexts, isNew bool) (*vault.RowKeys, error) {
		rows, err := keys.Vault.LoadRowKeys(c)
		switch {
		case err != nil || rows != nil:
			return rows, err
		case !isNew:
			return nil, errNotAdopted
		}
		return keys.Vault.CreateRowKeys(c)
	})
	if err != nil {
		keys.Vault.Close()
		return KeyServices{}, err
	}
	err = s.Instance(ctx, func(tx *store.Tx) error {
		if keys.ServerKeys, err = keys.Vault.LoadOrCreateServerKeys(tx.Ciphertexts()); err != nil {
			return err
		}
		keys.LogKeys, err = keys.Vault.LoadOrCreateLogKeys(tx.Ciphertexts(), firstEpoch, logOrigin(keys.ServerKeys))
		return err
	})
	if err != nil {
		keys.Vault.Close()
		return KeyServices{}, err
	}
	return keys, nil
}

// firstEpoch names the keys of the log.
const firstEpoch = "1"

// logOrigin is the name of the log in checkpoints. It is that of the installation,
// and never changes with its address.
func logOrigin(k *vault.ServerKeys) string {
	id := sha256.Sum256([]byte(k.SignerPublicKey()))
	return "latchkey/" + hex.EncodeToString(id[:8])
}

var errNotAdopted = errors.New("the database is of a version that did not mark its rows yet: " +
	"stop all servers, make a backup, and run latchkey migrate --adopt once")

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
