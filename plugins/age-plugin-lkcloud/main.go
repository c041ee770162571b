// Command age-plugin-lkcloud has a secret guarded by a key in the key management of a
// cloud: AWS KMS, Google Cloud KMS or Azure Key Vault. It is a plugin of age, and a
// program of its own so that the libraries of three clouds stay out of latchkey, which
// starts it: docs/seals.md.
//
// Credentials come from where each library looks for them by itself, and never from
// arguments. What the service answers is used only if it names the key that was asked.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"filippo.io/age"

	"latchkey/plugins/host"
)

func main() {
	status := host.Main("lkcloud", guard{})
	os.Exit(status)
}

// patience is for everything together: finding credentials, and asking again.
const patience = 15 * time.Second

// guard encrypts with a key that stays in a cloud.
type guard struct{}

// service is a key of a cloud.
type service interface {
	// encrypt also says which key, or version of it, has done it.
	encrypt(ctx context.Context, secret []byte) (id string, text []byte, err error)
	// decrypt decrypts by the key that encrypted.
	decrypt(ctx context.Context, id string, text []byte) ([]byte, error)
}

// connect finds credentials.
func connect(ctx context.Context, at place) (service, error) {
	switch at.cloud {
	case aws:
		return connectAWS(ctx, at)
	case gcp:
		return connectGCP(ctx, at)
	default:
		return connectAzure(at)
	}
}

// Wrap encrypts. The place is NAME age1… KEY.
func (guard) Wrap(text string, secret []byte, _ host.Ask) (*age.Stanza, error) {
	at, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	s, err := connect(ctx, at)
	if err != nil {
		return nil, err
	}
	id, sealed, err := s.encrypt(ctx, secret)
	if err != nil {
		return nil, err
	}
	if !at.has(id) {
		return nil, at.otherKey(id, at.key)
	}
	return &age.Stanza{Args: []string{id}, Body: sealed}, nil
}

// Unwrap decrypts.
func (guard) Unwrap(text string, stanza *age.Stanza, _ host.Ask) ([]byte, error) {
	at, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	if len(stanza.Args) != 1 || len(stanza.Body) == 0 {
		return nil, errors.New("what the seal keeps is not of this program: id and ct must be there")
	}
	id := stanza.Args[0]
	if !at.has(id) {
		return nil, fmt.Errorf("id, which the seal keeps, is %.200q: that is not of the key %s", id, at.key)
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	s, err := connect(ctx, at)
	if err != nil {
		return nil, err
	}
	return s.decrypt(ctx, id, stanza.Body)
}
