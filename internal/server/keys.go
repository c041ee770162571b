package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
}

// OpenKeys opens the vault with the master key that source names (see package
// config), and with the previous one, if there is one. It refuses a master key
// that is not that of the store. The caller closes the vault.
func OpenKeys(ctx context.Context, s *store.Store, source, previous string) (keys KeyServices, err error) {
	current, err := unsealer(source)
	if err != nil {
		return KeyServices{}, err
	}
	var issuer *vault.Issuer
	if previous == "" {
		keys.Vault, issuer, err = vault.Open(current)
	} else {
		var before vault.Unsealer
		if before, err = unsealer(previous); err == nil {
			keys.Vault, issuer, err = vault.OpenBoth(current, before)
		}
	}
	if err != nil {
		return KeyServices{}, err
	}
	keys.Decider = decide.New(issuer) // and nothing else gets it
	err = s.Instance(ctx, func(tx *store.Tx) error {
		keys.ServerKeys, err = keys.Vault.LoadOrCreateServerKeys(tx.Ciphertexts())
		return err
	})
	if err != nil {
		keys.Vault.Close()
		return KeyServices{}, err
	}
	return keys, nil
}

// unsealer makes a file that does not exist yet: a new installation gets its
// master key at its first start. Should the database have another one, it is
// refused right afterwards.
func unsealer(source string) (vault.Unsealer, error) {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "file":
		if _, err := os.Stat(rest); errors.Is(err, fs.ErrNotExist) {
			if err := unseal.Create(rest); err != nil {
				return nil, err
			}
		}
		return unseal.File(rest), nil
	case "passphrase":
		if _, err := os.Stat(rest); errors.Is(err, fs.ErrNotExist) {
			passphrase, err := askPassphrase()
			if err != nil {
				return nil, err
			}
			if err := unseal.CreatePassphrase(rest, passphrase); err != nil {
				return nil, err
			}
		}
		return unseal.Passphrase(rest, askPassphrase), nil
	case "env":
		return unseal.Env(rest), nil
	case "fd":
		n, err := strconv.Atoi(rest)
		return unseal.FD(n), err
	}
	return nil, errors.New("the master key must come from file:PATH, passphrase:PATH, env:NAME or fd:NUMBER")
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
