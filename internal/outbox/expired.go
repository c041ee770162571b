package outbox

import (
	"context"
	"time"

	"latchkey/internal/store"
)

// DeleteExpired deletes the messages that expired at least grace ago and that
// no server is sending, and returns how many. [Outbox.Run] does the same sooner;
// this is for installations whose servers send nothing.
func DeleteExpired(ctx context.Context, s *store.Store, now time.Time, grace time.Duration) (deleted int, err error) {
	err = s.Outbox(ctx, func(tx *store.Tx) error {
		messages := tx.Messages()
		deleted = 0
		all, err := messages.List("", 0)
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.ExpiresAt.IsZero() || now.Sub(m.ExpiresAt) < grace || m.LeasedUntil.After(now) {
				continue
			}
			if err := messages.Delete(m.ID); err != nil {
				return err
			}
			deleted++
		}
		return nil
	})
	return deleted, err
}
