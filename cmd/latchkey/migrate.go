package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
)

type migrateCommand struct {
	Adopt bool `required:"" help:"Mark every row of a database that was written before rows were marked, once. Stop all servers and make a backup first."`
	located
}

// Run adopts the database. What is done stays done: it can be stopped and run
// again.
func (cmd migrateCommand) Run(ctx context.Context) error {
	where, err := cmd.installation()
	if err != nil {
		return err
	}
	err = adopt(ctx, where, warnings())
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return err
}

// progressEvery is how often one hears how far it is.
const progressEvery = time.Second

// adopt adopts the database of a config, and says how far it is.
func adopt(ctx context.Context, c *config.Config, log *slog.Logger) error {
	last := time.Now()
	done, err := server.Adopt(ctx, c, log, func(a store.Adoption) {
		if time.Since(last) >= progressEvery {
			last = time.Now()
			fmt.Fprintf(os.Stderr, "latchkey: so far %s\n", describeAdoption(a))
		}
	})
	switch {
	case errors.Is(err, store.ErrAdopted):
		fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
		return nil
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped after %s; run it again to go on (%w)", describeAdoption(done), err)
	case err != nil:
		return err
	}
	fmt.Fprintf(os.Stderr, "latchkey: the database is adopted: %s\n", describeAdoption(done))
	return nil
}

func describeAdoption(a store.Adoption) string {
	return fmt.Sprintf("%d organizations, %d rows and %d activities", a.Organizations, a.Rows, a.Activities)
}
