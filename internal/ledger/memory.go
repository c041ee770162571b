package ledger

import (
	"context"
	"time"
)

// rememberEvery is how often the newest checkpoint is written to the memory outside
// of the database.
const rememberEvery = time.Second

// follow learns of checkpoints that another server publishes, to remember them.
func (l *Ledger) follow(ctx context.Context) error {
	if l.Now().Sub(l.kept.at) < rememberEvery {
		return nil
	}
	signed, err := l.checkpoint(ctx, l.epoch())
	if err == nil && signed != nil {
		if signed.Size > l.seen.Size {
			l.seen = signed.Head
		}
		l.offer(signed.Note(), signed.Size)
	}
	return err
}

// rememberTree remembers a tree that has grown while its last checkpoint waits for
// witnesses.
func (l *Ledger) rememberTree() error {
	head := l.known.head
	if l.Quorum == 0 || head.Size <= l.kept.size || l.Now().Sub(l.kept.at) < rememberEvery {
		return nil
	}
	note, err := l.Keys.SignCheckpoint(head, l.Now())
	if err == nil {
		l.offer(note, head.Size)
	}
	return err
}

// offer hands a checkpoint over to be remembered, in place of one that still waits.
func (l *Ledger) offer(note []byte, size int64) {
	if l.kept.at = l.Now(); size <= l.kept.size {
		return
	}
	l.kept.size = size
	select {
	case <-l.keep:
	default:
	}
	l.keep <- note // the one sender has just made room
}

// remember writes the newest checkpoint to the memory outside of the database, in a
// goroutine of its own: a slow disk delays nothing else.
func (l *Ledger) remember(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case note := <-l.keep:
			l.write(note)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rememberEvery):
		}
	}
}

func (l *Ledger) write(note []byte) {
	if l.Refusal() != "" {
		return
	}
	if err := l.Memory.SetCheckpoint(string(note)); err != nil {
		l.Log.Error("the newest checkpoint could not be written to the state file", "error", err)
	}
}

// Finish puts into the log what was committed last, and remembers it. [Ledger.Run]
// has ended.
func (l *Ledger) Finish(ctx context.Context) error {
	l.mu.Lock()
	if l.candidate != nil {
		l.candidate.at = time.Time{} // not too early for the last one
	}
	l.mu.Unlock()
	l.kept.at = time.Time{}
	err := l.Advance(ctx)
	select {
	case note := <-l.keep:
		l.write(note)
	default:
	}
	return err
}
