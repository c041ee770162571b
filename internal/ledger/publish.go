package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// gather is how long a checkpoint that witnesses have not all answered for is the
// newest, while the tree grows: a newer one would have none of their cosignatures.
const gather = 800 * time.Millisecond

// candidate is a checkpoint that was signed. With a quorum it is published when
// enough witnesses have cosigned it, and none is signed after it before that: they
// would never sign the same one.
type candidate struct {
	signed    *translog.Signed
	at        time.Time
	answered  map[string]bool // the witnesses that have, or that cannot
	published bool
}

// due reports whether a checkpoint is to be signed of a tree of this size.
func (l *Ledger) due(size int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.candidate
	if c == nil {
		return size > 0
	}
	age := l.Now().Sub(c.at)
	switch {
	case size <= c.signed.Size || age < publishEvery:
		return false
	case !c.published:
		return false
	}
	return len(c.answered) >= len(l.couriers) || age >= gather
}

// publish signs a checkpoint of the tree, if it has grown since the last one, and
// offers it to the witnesses.
func (l *Ledger) publish(ctx context.Context) error {
	head := l.known.head
	signed, err := l.checkpoint(ctx, l.epoch())
	if err != nil {
		return fmt.Errorf("publishing a checkpoint: %w", err)
	}
	old := signed != nil && signed.Size >= head.Size
	if !old {
		text, err := l.Keys.SignCheckpoint(head, l.Now())
		if err == nil {
			signed, err = translog.OpenCheckpoint(text, l.Keys.VerifierKeys(), nil)
		}
		if err != nil {
			return fmt.Errorf("publishing a checkpoint: %w", err)
		}
		if l.Quorum == 0 {
			before, after, err := l.put(ctx, signed)
			if err != nil {
				return err
			}
			if after != nil && bytes.Equal(l.known.state, before) {
				l.known.state = after // no other server has worked since
			}
		}
	}
	l.mu.Lock()
	l.candidate = &candidate{signed: signed, at: l.Now(), answered: map[string]bool{}, published: old || l.Quorum == 0}
	l.mu.Unlock()
	l.offer(signed.Note(), head.Size)
	for _, c := range l.couriers {
		c.Offer(signed)
	}
	return nil
}

// put stores a checkpoint as the newest, or adds its cosignatures to it. It returns
// the state of the log before and after, if it wrote that.
func (l *Ledger) put(ctx context.Context, signed *translog.Signed) (stored, noted []byte, err error) {
	id := epochID(l.epoch().Number, newest)
	err = l.Store.UpdateLog(ctx, func(items store.LogItems) error {
		stored, noted = nil, nil
		before, err := items.Get(store.LogCheckpoint, id)
		if err != nil {
			return err
		}
		written := signed
		if before != nil {
			last, err := l.open(before, l.epoch())
			if err != nil {
				return err
			}
			if last.Size > signed.Size {
				return nil
			}
			if last.Size == signed.Size {
				written = last.Join(signed)
			}
		}
		items.Put(store.LogCheckpoint, id, written.Note())
		var now state
		if now, stored, err = readState(items); err != nil || now.Published == signed.Size {
			return err
		}
		now.Published = signed.Size
		if noted, err = json.Marshal(&now); err == nil {
			items.Put(store.LogState, newest, noted)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("publishing a checkpoint: %w", err)
	}
	return stored, noted, nil
}

// witnessKeys are those of all witnesses.
func (l *Ledger) witnessKeys() (all translog.Keys) {
	for _, w := range l.Witnesses {
		all = append(all, w.Keys()...)
	}
	return all
}

// courier brings checkpoints to one witness.
func (l *Ledger) courier(w *witness.Client) *witness.Courier {
	prove := func(ctx context.Context, head translog.Head, old int64) ([]translog.Hash, error) {
		return translog.ProveConsistency(l.stored(ctx, l.epoch().Number), head, old)
	}
	return witness.NewCourier(w, prove, func(ctx context.Context, offered, cosigned *translog.Signed, err error) {
		l.answered(ctx, w, offered, cosigned, err)
	})
}

// answered hears what a witness says of a checkpoint.
func (l *Ledger) answered(ctx context.Context, w *witness.Client, offered, cosigned *translog.Signed, err error) {
	var fork *witness.ForkError
	if errors.As(err, &fork) {
		// The word of the witness alone would let it stop this server. What it has
		// cosigned bears the log's own signature.
		latest, failed := l.ask(ctx, w)
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case latest != nil && latest.Size >= offered.Size && l.Refusal() == "":
			err = nil // another server was faster, with the same tree
		}
	}
	l.report(w.Name(), err)
	l.mu.Lock()
	c := l.candidate
	if c == nil || c.signed.Text != offered.Text {
		l.mu.Unlock()
		return
	}
	c.answered[w.Name()] = true
	if fork != nil && !c.published {
		l.candidate = nil // it will never have this cosignature; a newer one may
	}
	if cosigned == nil {
		l.mu.Unlock()
		return
	}
	c.signed = c.signed.Join(cosigned)
	signed := c.signed
	l.mu.Unlock()
	if len(signed.CosignedBy(l.witnessKeys())) < l.Quorum {
		return
	}
	if _, _, err := l.put(ctx, signed); err != nil {
		l.Log.Error("a cosigned checkpoint could not be published; the next one follows", "error", err)
		return
	}
	l.mu.Lock()
	c.published = true
	l.mu.Unlock()
}

// report logs when a witness begins to fail, and when it ends.
func (l *Ledger) report(name string, err error) {
	l.mu.Lock()
	before := l.failing[name]
	l.failing[name] = err != nil
	l.mu.Unlock()
	if err == nil {
		if before {
			l.Log.Info("a witness cosigns again", "witness", name)
		}
		return
	}
	reason := "unavailable"
	var fork *witness.ForkError
	var signature *translog.SignatureError
	switch {
	case errors.As(err, &fork):
		reason = "fork"
	case errors.As(err, &signature):
		reason = "signature"
	}
	l.Metrics.WitnessFailed(name, reason)
	switch {
	case reason != "unavailable":
		l.Log.Error("a witness does not cosign a checkpoint", "witness", name, "reason", reason, "error", err)
	case !before:
		l.Log.Warn("a witness does not cosign a checkpoint; it is asked again", "witness", name, "reason", reason, "error", err)
	}
}
