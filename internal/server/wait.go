package server

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
)

// Pauses between two attempts to open a database that is away.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

// OpenWaiting is [OpenConfigured], which for some time tries again while the database is
// away. Before each pause tell hears why, and how long it is.
func OpenWaiting(ctx context.Context, c *config.Config, log *slog.Logger, wait time.Duration, tell func(why error, pause time.Duration)) (*store.Store, error) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		s, err := OpenConfigured(ctx, c, log)
		waited := time.Since(began)
		if err == nil || !postgres.IsAway(err) || waited >= wait {
			if err != nil && wait > 0 && waited >= wait {
				err = fmt.Errorf("after %v: %w", waited.Round(time.Second), err)
			}
			return s, err
		}
		pause = min(pause, wait-waited)
		tell(err, pause)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("stopped while the database was away: %w", err)
		case <-time.After(pause):
		}
	}
}
