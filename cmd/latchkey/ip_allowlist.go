package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
)

type ipAllowlistCommand struct {
	Reset ipAllowlistResetCommand `cmd:"" help:"Turn the IP allowlist of an organization off, when its users have locked themselves out. Its rules stay."`
}

type ipAllowlistResetCommand struct {
	Config       string `required:"" placeholder:"FILE" help:"Config file of the server."`
	Organization string `required:"" placeholder:"ID" help:"Id of the organization."`
}

// Run turns the list off. Embedded storage is held by one process: the server must
// be stopped.
func (cmd ipAllowlistResetCommand) Run(ctx context.Context) error {
	org, ok := ids.Normal(cmd.Organization)
	if !ok {
		return errors.New("--organization: must be the id of an organization, a UUID")
	}
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	s, err := server.OpenConfigured(ctx, c, slog.New(slog.DiscardHandler))
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err != nil {
		return err
	}
	wasOn, err := cmd.disable(ctx, s, c, org)
	if errors.Is(err, store.ErrNoOrganization) {
		err = fmt.Errorf("--organization: there is no organization %s", org)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if !wasOn {
		fmt.Println("the IP allowlist was not enabled; nothing was changed")
		return nil
	}
	fmt.Println("the IP allowlist is turned off; set_ip_allowlist turns it on again")
	return nil
}

// disable needs the keys, because rows are marked.
func (ipAllowlistResetCommand) disable(ctx context.Context, s *store.Store, c *config.Config, org string) (wasOn bool, err error) {
	keys, err := server.OpenKeys(ctx, s, c, warnings())
	if err != nil {
		return false, err
	}
	defer keys.Close()
	return engine.DisableIPAllowlist(ctx, s, org, time.Now())
}
