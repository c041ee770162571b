package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store/sqlite"
)

type logCommand struct {
	NewEpoch newEpochCommand `cmd:"" name:"new-epoch" help:"Begin a new log, with keys of its own, on the database as it is now: when the newest state of it is lost for good, or to replace the keys of the log. Stop all servers first."`
}

type newEpochCommand struct {
	located
}

// Run begins a new log.
func (cmd newEpochCommand) Run(ctx context.Context) error {
	where, err := cmd.installation()
	if err != nil {
		return err
	}
	err = newEpoch(ctx, where)
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return err
}

func newEpoch(ctx context.Context, c *config.Config) error {
	begun, err := server.NewEpoch(ctx, c, warnings())
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "latchkey: epoch %d of the log begins: %s. Give its verifier keys to those who check receipts, and to every witness:\n", begun.Number, begun.Origin)
	for _, key := range begun.VerifierKeys {
		fmt.Fprintln(os.Stderr, key)
	}
	return nil
}
