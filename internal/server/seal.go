package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/server/config"
)

// sealPath is the seal of a config; ok is false if its master key is not in one.
func sealPath(c *config.Config) (path string, ok bool) {
	return strings.CutPrefix(c.MasterKey, "seal:")
}

// ReadSeal reads the seal of a config.
func ReadSeal(c *config.Config) (*sealfile.Seal, error) {
	path, ok := sealPath(c)
	if !ok {
		return nil, errors.New("masterKey names no seal (seal:PATH)")
	}
	seal, err := sealfile.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: put it back from its backup, or make one: latchkey seal init --seal %s", path, path)
	}
	return seal, err
}

// SealAttempt is what came of a recipient.
type SealAttempt struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitzero"`
	// Tried is false if there was nothing to try it with.
	Tried bool `json:"-"`
}

// TrySeal opens a seal by one recipient, with its secret, if secrets says where that
// is. opened is nil if it does not open.
func TrySeal(seal *sealfile.Seal, name string, secrets map[string]string) (opened *sealfile.Opened, attempt SealAttempt) {
	attempt.Name = name
	source, given := secrets[name]
	way, err := seal.Way(name)
	switch {
	case err != nil:
		attempt.Reason, attempt.Tried = err.Error(), true
	case way == sealfile.ByPeople:
		attempt.Reason = "people open it: latchkey unseal takes their shares"
	case way == sealfile.BySecret && !given:
		attempt.Reason = "no secret was given for it (seal.secrets)"
	default:
		attempt.Tried = true
		if way == sealfile.ByItself {
			opened, err = seal.Open(name, nil)
		} else {
			opened, err = openWith(seal, name, source)
		}
		attempt.OK = err == nil
		if err != nil {
			attempt.Reason = err.Error()
		}
	}
	return opened, attempt
}

func openWith(seal *sealfile.Seal, name, source string) (*sealfile.Opened, error) {
	from, err := unseal.From(source)
	if err != nil {
		return nil, fmt.Errorf("the secret of %q: %w", name, err)
	}
	text, err := from.Text()
	if err != nil {
		return nil, fmt.Errorf("the secret of %q from %s: %w", name, from.Name(), err)
	}
	return seal.Open(name, text)
}

// OpenSeal opens a seal by the first recipient, in the order of the file, that has a
// secret or needs none, and opens it; each one that does not is logged.
func OpenSeal(seal *sealfile.Seal, secrets map[string]string, log *slog.Logger) (*sealfile.Opened, error) {
	var attempts []SealAttempt
	for _, r := range seal.Status().Recipients {
		opened, attempt := TrySeal(seal, r.Name, secrets)
		if opened != nil {
			log.Info("the seal is open", "file", seal.Path(), "recipient", r.Name, "generation", seal.Generation())
			return opened, nil
		}
		if attempt.Tried {
			log.Warn("a recipient does not open the seal", "file", seal.Path(), "recipient", r.Name, "error", attempt.Reason)
		}
		attempts = append(attempts, attempt)
	}
	return nil, noneOpens(seal, attempts)
}

func noneOpens(seal *sealfile.Seal, attempts []SealAttempt) error {
	reasons := make([]string, len(attempts))
	for i, a := range attempts {
		reasons[i] = a.Name + ": " + a.Reason
	}
	return fmt.Errorf("%s: no recipient opens it: %s", seal.Path(), strings.Join(reasons, "; "))
}

// SecretName is what people call the secret of a kind of recipients.
func SecretName(kind string) string {
	switch kind {
	case sealfile.KindPKCS11:
		return "PIN"
	case sealfile.KindTransit:
		return "Token"
	}
	return "Passphrase"
}

// AskSeal is [OpenSeal] for a command: on a terminal it asks for what is missing, a
// passphrase or the shares of people.
func AskSeal(ctx context.Context, seal *sealfile.Seal, secrets map[string]string, log *slog.Logger) (*sealfile.Opened, error) {
	opened, err := OpenSeal(seal, secrets, log)
	if err == nil || !term.IsTerminal(int(os.Stdin.Fd())) {
		return opened, err
	}
	for _, r := range seal.Status().Recipients {
		if _, given := secrets[r.Name]; given {
			continue
		}
		switch r.Kind {
		case sealfile.KindPassphrase, sealfile.KindPKCS11, sealfile.KindTransit:
			text, err := ReadSecret(ctx, SecretName(r.Kind)+" of "+r.Name)
			if err != nil {
				return nil, err
			}
			return seal.Open(r.Name, text)
		case sealfile.KindPeople:
			return askShares(ctx, seal)
		}
	}
	return nil, err
}

func askShares(ctx context.Context, seal *sealfile.Seal) (*sealfile.Opened, error) {
	gathering, _ := seal.Gather(time.Now)
	defer gathering.Close()
	for {
		p := gathering.Progress()
		text, err := ReadSecret(ctx, fmt.Sprintf("A share of %s (%d of %d are there)", p.Recipient, p.Have, p.Need))
		if err != nil {
			return nil, err
		}
		opened, _, err := gathering.Add(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if opened != nil {
			return opened, nil
		}
	}
}
