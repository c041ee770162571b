package server

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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
	var made string
	if !sealed && previous == "" {
		if made, err = makeMasterKey(source); err != nil {
			return KeyServices{}, fmt.Errorf("masterKey: %w", err)
		}
	}
	keys, err = openKeys(ctx, s, source, previous)
	if err != nil && made != "" {
		// Another server was faster, with a key of its own: this one would only
		// be taken for the right one later.
		err = errors.Join(err, os.Remove(made))
	}
	return keys, err
}

func openKeys(ctx context.Context, s *store.Store, source, previous string) (keys KeyServices, err error) {
	current, err := unsealer(source)
	if err != nil {
		return KeyServices{}, fmt.Errorf("masterKey: %w", err)
	}
	var issuer *vault.Issuer
	if previous == "" {
		keys.Vault, issuer, err = vault.Open(current)
	} else {
		before, problem := unsealer(previous)
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

// makeMasterKey makes the file that a source names, if it is missing: a new
// installation gets its master key at its first start. It returns the name of the
// file that it made.
func makeMasterKey(source string) (made string, err error) {
	kind, path, _ := strings.Cut(source, ":")
	if kind != "file" && kind != "passphrase" || !missing(path) {
		return "", nil
	}
	if missing(filepath.Dir(path)) {
		return "", fmt.Errorf("%s cannot be made: the folder %s does not exist; create it first", path, filepath.Dir(path))
	}
	if kind == "file" {
		return path, unseal.Create(path)
	}
	passphrase, err := askPassphrase()
	if err != nil {
		return "", err
	}
	return path, unseal.CreatePassphrase(path, passphrase)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// unsealer is the master key that a source names.
func unsealer(source string) (vault.Unsealer, error) {
	kind, rest, _ := strings.Cut(source, ":")
	if (kind == "file" || kind == "passphrase") && missing(rest) {
		return nil, fmt.Errorf("%s is missing, and this database has keys that are sealed under a master key already; nothing was made. "+
			"Put the file back from its backup, or name the right one. To replace the master key, make the new one first: (umask 077; openssl rand -hex 32 > %s)", rest, rest)
	}
	switch kind {
	case "file":
		return unseal.File(rest), nil
	case "passphrase":
		return unseal.Passphrase(rest, askPassphrase), nil
	case "env":
		return unseal.Env(rest), nil
	case "fd":
		n, err := strconv.Atoi(rest)
		return unseal.FD(n), err
	}
	return nil, errors.New("it must come from file:PATH, passphrase:PATH, env:NAME or fd:NUMBER")
}

const passphraseVariable = "LATCHKEY_PASSPHRASE"

// askPassphrase takes the passphrase from the environment, or from the first
// line of standard input.
func askPassphrase() ([]byte, error) {
	if text, ok := os.LookupEnv(passphraseVariable); ok {
		return []byte(text), nil
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return nil, fmt.Errorf("the master key needs a passphrase: set %s, or write it to standard input (%w)", passphraseVariable, err)
	}
	return []byte(line), nil
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
