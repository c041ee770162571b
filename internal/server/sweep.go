package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox"
	"latchkey/internal/store"
)

const (
	// sweepEvery is how often expired secrets are looked for. Import targets
	// and codes are refused as soon as they expire; this is about how long
	// their private halves and hashes remain.
	sweepEvery = 15 * time.Minute
	// sweepAfter leaves codes and messages for a while after they expired, so
	// that a user who is late is told what is wrong.
	sweepAfter = time.Hour
)

// sweep deletes what has expired until ctx ends.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		switch dropped, err := Sweep(ctx, s.store, time.Now()); {
		case err != nil && ctx.Err() == nil:
			s.log.Error("deleting expired import targets, codes, uses of tokens, messages and mail events", "error", err)
		case dropped > 0:
			s.log.Info("deleted expired import targets, codes, uses of tokens, messages and mail events", "count", dropped)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep deletes the import targets and one-time codes that have expired, in the
// organizations that have any, the uses of tokens that have expired, what
// happened to mails a week ago, and the messages that were not sent in time, and
// returns how many there were.
func Sweep(ctx context.Context, s *store.Store, now time.Time) (dropped int, err error) {
	err = each(ctx, s.Expiring, func(org string) error {
		n, err := sweepOrganization(ctx, s, org, now)
		if err == nil {
			dropped += n
		}
		return err
	})
	n, ended := sweepTokenUses(ctx, s, now)
	dropped, err = dropped+n, errors.Join(err, ended)
	n, ended = sweepMailEvents(ctx, s, now)
	dropped, err = dropped+n, errors.Join(err, ended)
	n, ended = outbox.DeleteExpired(ctx, s, now, sweepAfter)
	return dropped + n, errors.Join(err, ended)
}

// sweepMailEvents forgets what happened to mails on days that are over.
func sweepMailEvents(ctx context.Context, s *store.Store, now time.Time) (dropped int, err error) {
	oldest := domain.MailDay(now.AddDate(0, 0, 1-domain.MailEventDays))
	for more := true; more && err == nil; {
		var n int
		err = s.Outbox(ctx, func(tx *store.Tx) (err error) {
			n, more, err = tx.DropMailEvents(oldest)
			return err
		})
		dropped += n
	}
	return dropped, err
}

// sweepTokenUses forgets the uses of tokens that have expired: on every server,
// so that a clock that is late does not let one be used again.
func sweepTokenUses(ctx context.Context, s *store.Store, now time.Time) (dropped int, err error) {
	for more := true; more && err == nil; {
		var n int
		err = s.Instance(ctx, func(tx *store.Tx) (err error) {
			n, more, err = tx.DropTokenUses(now.Add(-sweepAfter))
			return err
		})
		dropped += n
	}
	return dropped, err
}

func sweepOrganization(ctx context.Context, s *store.Store, org string, now time.Time) (dropped int, err error) {
	err = s.Update(ctx, org, func(tx *store.Tx) error {
		targets, someTargets, err := sweepTargets(tx, now)
		if err != nil {
			return err
		}
		codes, someCodes, err := sweepCodes(tx, now)
		if err != nil {
			return err
		}
		wrong, someWrong, err := sweepWrongCodes(tx, now)
		if err != nil {
			return err
		}
		dropped = targets + codes + wrong
		if !someTargets && !someCodes && !someWrong {
			tx.NothingExpires()
		}
		return nil
	})
	return dropped, err
}

func sweepTargets(tx *store.Tx, now time.Time) (dropped int, left bool, err error) {
	targets, err := tx.ImportTargets().List("", 0)
	if err != nil {
		return 0, false, err
	}
	for _, target := range targets {
		if !target.Expired(now) {
			continue
		}
		if err := vault.DropExpiredImportTarget(tx.Ciphertexts(), target.ID); err != nil {
			return 0, false, err
		}
		if err := tx.ImportTargets().Delete(target.ID); err != nil {
			return 0, false, err
		}
		dropped++
	}
	return dropped, dropped < len(targets), nil
}

func sweepCodes(tx *store.Tx, now time.Time) (dropped int, left bool, err error) {
	codes, err := tx.OTPs().List("", 0)
	if err != nil {
		return 0, false, err
	}
	for _, code := range codes {
		if now.Sub(code.ExpiresAt) < sweepAfter {
			continue
		}
		if code.Sealed {
			if err := vault.DropMessageTarget(tx.Ciphertexts(), code.ID); err != nil {
				return 0, false, err
			}
		}
		if err := tx.OTPs().Delete(code.ID); err != nil {
			return 0, false, err
		}
		dropped++
	}
	return dropped, dropped < len(codes), nil
}

func sweepWrongCodes(tx *store.Tx, now time.Time) (dropped int, left bool, err error) {
	counts, err := tx.WrongCodes().List("", 0)
	if err != nil {
		return 0, false, err
	}
	for _, w := range counts {
		if !w.Expired(now) {
			continue
		}
		if err := tx.WrongCodes().Delete(w.Contact); err != nil {
			return 0, false, err
		}
		dropped++
	}
	return dropped, dropped < len(counts), nil
}

// each visits every organization of a list that is read page by page. What is
// wrong with one of them alone is returned when the others were visited.
func each(ctx context.Context, list func(ctx context.Context, after string, limit int) ([]string, error), visit func(org string) error) error {
	const page = 100
	var after string
	var failed error
	for {
		orgs, err := list(ctx, after, page)
		if err != nil {
			return cmp.Or(failed, err)
		}
		for _, org := range orgs {
			err := visit(org)
			if err != nil && !ofOneOrganization(err) {
				return err
			}
			if err != nil && failed == nil {
				failed = fmt.Errorf("organization %s: %w", org, err)
			}
			after = org
		}
		if len(orgs) < page {
			return failed
		}
	}
}

// ofOneOrganization reports whether an error says that what is stored of an
// organization is damaged, which is no reason to leave out the others.
func ofOneOrganization(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Code == fault.DataLoss || errors.Is(err, store.ErrNoOrganization)
}
