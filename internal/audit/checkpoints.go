package audit

import (
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Earlier is a signed checkpoint that is known from elsewhere: today's log must
// continue it.
type Earlier struct {
	Name string // where it was found
	Note []byte
}

// epochTree is the tree of one epoch of the log: of the present one all of it, of
// an earlier one what it has published. The rest was put into the next.
type epochTree struct {
	stored  ledger.Stored
	head    translog.Head
	keys    translog.Keys
	origin  string
	present bool
}

// epochs are the trees of the log, the present one last.
func (c *logCheck) epochs(known []domain.LogEpoch) error {
	if len(known) == 0 {
		known = []domain.LogEpoch{{Number: 1}} // it did not begin yet
	}
	for _, e := range known {
		t := epochTree{stored: c.stored, head: c.standing.Head, origin: e.Origin, present: e.Number == c.standing.Epoch}
		t.stored.Epoch = e.Number
		if t.keys = c.audit.LogKeys; len(t.keys) == 0 {
			var err error
			if t.keys, err = translog.ParseKeys(e.VerifierKeys...); err != nil {
				return err
			}
		}
		if e.Number > c.standing.Epoch {
			continue // no server came to it yet
		}
		if !t.present {
			published, err := c.checkpoint(&t)
			if err != nil {
				return err
			}
			t.head = translog.EmptyHead()
			if published != nil {
				t.head = published.Head
			}
			if err := c.lists.unpublished(t.stored, t.head.Size); err != nil {
				return err
			}
		}
		c.trees = append(c.trees, t)
	}
	return nil
}

// checkpoint opens the newest checkpoint of an epoch; nil: there is none, or one
// that is not right, which is reported.
func (c *logCheck) checkpoint(t *epochTree) (*translog.Checkpoint, error) {
	note, err := t.stored.Checkpoint()
	if err != nil || note == nil {
		return nil, err
	}
	signed, err := translog.OpenCheckpoint(note, t.keys, nil)
	if err != nil {
		return nil, c.found(store.LogCheckpoint, t.stored.CheckpointID(), err.Error())
	}
	return &signed.Checkpoint, nil
}

// checkpoints compares the trees with the newest checkpoint and with those that
// are known from elsewhere.
func (c *logCheck) checkpoints() error {
	for i := range c.trees {
		if t := &c.trees[i]; t.present {
			if err := c.published(t); err != nil {
				return err
			}
		}
	}
	for _, earlier := range c.earlier {
		if err := c.knownElsewhere(earlier); err != nil {
			return err
		}
	}
	return nil
}

// published checks the newest checkpoint of the present epoch.
func (c *logCheck) published(t *epochTree) error {
	published, err := c.checkpoint(t)
	if err != nil {
		return err
	}
	name, size := t.stored.CheckpointID(), c.standing.Published
	if published == nil {
		if size == 0 {
			return nil
		}
		return c.found(store.LogCheckpoint, name, fmt.Sprintf("it is missing, or not ours: one of %d entries was published", size))
	}
	if size != 0 && size != published.Size {
		what := fmt.Sprintf("it is of %d entries, and the newest that was published of %d: it was put back from an earlier time", published.Size, size)
		if err := c.found(store.LogCheckpoint, name, what); err != nil {
			return err
		}
	}
	return c.continues(t, published.Head, name)
}

// earlierCheckpoint is one that was opened.
type earlierCheckpoint struct {
	name string
	translog.Checkpoint
}

// openEarlier verifies the signatures of checkpoints that are known from elsewhere.
func (c *logCheck) openEarlier() error {
	var keys translog.Keys
	for i := range c.trees {
		keys = append(keys, c.trees[i].keys...)
	}
	for _, e := range c.audit.Earlier {
		signed, err := translog.OpenCheckpoint(e.Note, keys, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		c.earlier = append(c.earlier, earlierCheckpoint{e.Name, signed.Checkpoint})
	}
	return nil
}

func (c *logCheck) knownElsewhere(e earlierCheckpoint) error {
	for i := range c.trees {
		if t := &c.trees[i]; t.origin == e.Origin {
			return c.continues(t, e.Head, e.name)
		}
	}
	return c.found(store.LogCheckpoint, e.name, "it is of the log "+e.Origin+", which this installation does not have")
}

// continues checks that a tree continues an earlier one.
func (c *logCheck) continues(t *epochTree, earlier translog.Head, name string) error {
	if earlier.Size > t.head.Size {
		return c.found(store.LogCheckpoint, name, fmt.Sprintf("it was signed when the log had %d entries, and now it has %d: the newest ones are missing, the database is from an earlier time", earlier.Size, t.head.Size))
	}
	root, err := translog.RootAt(t.stored, t.head, earlier.Size)
	if err != nil {
		return c.found(store.LogCheckpoint, name, "it cannot be told whether the log continues it: "+err.Error())
	}
	if root != earlier.Root {
		return c.found(store.LogCheckpoint, name, fmt.Sprintf("the log does not continue it: its first %d entries are others than those that were signed, a fork", earlier.Size))
	}
	return nil
}
