package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/convert"
	"latchkey/internal/store/sqlite"
)

type convertCommand struct {
	From    string `required:"" placeholder:"STORE" help:"Store to copy: sqlite:PATH or postgres://…, or env:NAME or file:PATH that hold one. No server may run on it; it is only read."`
	To      string `required:"" placeholder:"STORE" help:"Store to copy to, in the same words: an empty one, or one into which the same conversion was begun."`
	Restart bool   `help:"Discard what an unfinished conversion has left in the target, and begin again."`
}

// Run copies one store into another.
func (cmd convertCommand) Run(ctx context.Context) error {
	from, err := config.RevealStore(cmd.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := config.RevealStore(cmd.To)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	var progress func(done, all int64)
	if isTerminal(os.Stderr) {
		progress = showProgress
	}
	result, err := server.Convert(ctx, from, to, cmd.Restart, progress)
	if progress != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return fmt.Errorf("%w; nothing was changed", err)
	case errors.Is(err, store.ErrNotEmpty):
		return fmt.Errorf("the target: %w, and does not hold this source: name an empty one; nothing was changed", err)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped; run it again to go on (%w)", err)
	case err != nil:
		return err
	}
	fmt.Fprintln(os.Stderr, "Everything was copied and read back. Name the target as store in the config of every server, with the same master key, and start them. Never start a server on the source again.")
	return printJSON(struct {
		From string `json:"from"`
		To   string `json:"to"`
		convert.Result
	}{config.ShownStore(from), config.ShownStore(to), result})
}
