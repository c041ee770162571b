package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/store"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// contradiction says that the tree is not a continuation of what it once was.
type contradiction struct{ reason string }

func (c *contradiction) Error() string { return "ledger: " + c.reason }

func contradicts(format string, args ...any) error {
	return &contradiction{fmt.Sprintf(format, args...)}
}

// helps is what an operator can do about it.
const helps = "An older state of the database was put in place of the newest, or its end was lost. " +
	"Put the newest database back. If it is gone for good, stop all servers and run latchkey log new-epoch"

// Refusal is why nothing is carried out; "": it is.
func (l *Ledger) Refusal() string {
	if why := l.refusal.Load(); why != nil {
		return *why
	}
	return ""
}

// refuse ends all work, once.
func (l *Ledger) refuse(reason string) {
	if l.refusal.CompareAndSwap(nil, &reason) {
		l.Log.Error("nothing is carried out any more, and no checkpoint is signed; queries are answered. "+helps, "reason", reason)
		l.OnRefusal(reason)
	}
}

// checkSeen compares a state with what this server has seen before.
func (l *Ledger) checkSeen(s state) error {
	switch now := l.epoch().Number; {
	case s.epoch() > now:
		return contradicts("the database has the log of epoch %d, and this server that of epoch %d: restart it", s.epoch(), now)
	case s.epoch() < now && l.seen.Size > 0 || s.epoch() == now && s.Size < l.seen.Size:
		return contradicts("the log in the database has %d entries of epoch %d, and this server has seen %d of epoch %d", s.Size, s.epoch(), l.seen.Size, now)
	}
	return nil
}

// checkGrown compares a tree that another server has grown with the one that this
// server has seen.
func (l *Ledger) checkGrown(tiles translog.Tiles, head translog.Head) error {
	if l.seen.Size == 0 {
		return nil
	}
	root, err := translog.RootAt(tiles, head, l.seen.Size)
	if err == nil && root != l.seen.Root {
		err = contradicts("the first %d entries of the log in the database are not those that this server has seen", l.seen.Size)
	}
	return err
}

// askAtStart bounds how long witnesses are waited for before a server answers. One
// that answers later is heard later.
const askAtStart = 3 * time.Second

// Check compares the tree with every checkpoint of it that is remembered: in the
// database, outside of it and by witnesses. Where they contradict each other the
// ledger refuses to work; an error says that they could not be compared.
func (l *Ledger) Check(ctx context.Context) error {
	published, err := l.Checkpoint(ctx)
	if err != nil {
		return err
	}
	if published != nil {
		signed, err := translog.OpenCheckpoint(published, l.Keys.VerifierKeys(), nil)
		if err != nil {
			return err
		}
		if err := l.compare(ctx, signed.Checkpoint, "the checkpoint in the database"); err != nil {
			return err
		}
	}
	if text := l.Memory.Checkpoint(); text != "" {
		known, err := translog.PeekCheckpoint([]byte(text)) // the file is authenticated as a whole
		if err != nil {
			return err
		}
		if err := l.compare(ctx, known, "the state file"); err != nil {
			return err
		}
	}
	return l.askAll(ctx)
}

func (l *Ledger) askAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askAtStart)
	defer cancel()
	found := make([]error, len(l.Witnesses))
	var all sync.WaitGroup
	for i, w := range l.Witnesses {
		all.Go(func() { _, found[i] = l.ask(ctx, w) })
	}
	all.Wait()
	for i, err := range found {
		if err != nil && l.Refusal() == "" {
			l.Log.Warn("a witness does not say what it knows of the log; it is asked again with the next checkpoint",
				"witness", l.Witnesses[i].Name(), "error", err)
		}
	}
	return nil
}

// ask compares the tree with the newest checkpoint that a witness has cosigned. It
// bears this log's own signature: a witness cannot make one up.
func (l *Ledger) ask(ctx context.Context, w *witness.Client) (*translog.Signed, error) {
	latest, err := w.Latest(ctx, l.epoch().Origin, l.Keys.VerifierKeys())
	if err != nil || latest == nil {
		return nil, err
	}
	return latest, l.compare(ctx, latest.Checkpoint, "witness "+w.Name())
}

// compare refuses all work if the tree in the database does not continue a
// checkpoint that is remembered somewhere.
func (l *Ledger) compare(ctx context.Context, known translog.Checkpoint, where string) error {
	err := l.continues(ctx, known, where)
	var wrong *contradiction
	if errors.As(err, &wrong) {
		l.refuse(wrong.reason)
		return nil
	}
	return err
}

func (l *Ledger) continues(ctx context.Context, known translog.Checkpoint, where string) error {
	if known.Origin != l.epoch().Origin {
		for _, earlier := range l.Epochs {
			if earlier.Origin == known.Origin {
				return nil // which the present epoch has left behind, and says so
			}
		}
		return contradicts("%s has a checkpoint of the log %.80q, of which the database knows nothing: its log is %s", where, known.Origin, l.epoch().Origin)
	}
	text, err := l.Store.LogItem(ctx, store.LogState, newest)
	if err != nil {
		return err
	}
	var now state
	if text != nil {
		if err := json.Unmarshal(text, &now); err != nil {
			return err
		}
	}
	head := translog.Head{Size: now.Size, Root: now.Root}
	if now.epoch() != l.epoch().Number {
		head = translog.EmptyHead()
	}
	if head.Size < known.Size {
		return contradicts("the log in the database has %d entries, and %s knows %d", head.Size, where, known.Size)
	}
	root, err := translog.RootAt(l.stored(ctx, now.epoch()), head, known.Size)
	down, failed := fault.As(err)
	switch {
	case err == nil && root == known.Root:
		return nil
	case ctx.Err() != nil || failed && down.Code == fault.Unavailable:
		return err
	case err != nil:
		return contradicts("the log in the database cannot be compared with what %s knows: %v", where, err)
	}
	return contradicts("the first %d entries of the log in the database are not those that %s knows", known.Size, where)
}
