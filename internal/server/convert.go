package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"latchkey/internal/store"
	"latchkey/internal/store/convert"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
)

// Convert copies everything from one store into another, of whatever kind. No server
// may use either; the second one must be empty, or hold a part of the same copy, which
// then goes on.
func Convert(ctx context.Context, from, to string, restart bool, progress func(done, all int64)) (result convert.Result, err error) {
	if from == to {
		return result, errors.New("both stores are the same one")
	}
	source, err := openStopped(ctx, from)
	if err != nil {
		return result, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := openLoader(ctx, to)
	if err != nil {
		return result, fmt.Errorf("the target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	conversion := &convert.Conversion{From: source, To: target, Restart: restart, Progress: progress}
	return conversion.Run(ctx)
}

func openStopped(ctx context.Context, url string) (store.Image, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.OpenStopped(ctx, path)
	}
	return postgres.OpenStopped(ctx, url)
}

func openLoader(ctx context.Context, url string) (store.Loader, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.OpenLoader(ctx, path)
	}
	return postgres.OpenLoader(ctx, url)
}
