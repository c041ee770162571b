package audit

import (
	"bytes"
	"fmt"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Earlier is a checkpoint that is known from elsewhere: its signatures were
// verified. Today's tree must continue it.
type Earlier struct {
	Name string // where it was found
	translog.Checkpoint
}

// checkpoints compares the tree with the newest checkpoint and with those that are
// known from elsewhere.
func (c *logCheck) checkpoints() error {
	if err := c.published(); err != nil {
		return err
	}
	for _, earlier := range c.audit.Earlier {
		if err := c.continues(earlier.Checkpoint.Head, earlier.Name); err != nil {
			return err
		}
	}
	return nil
}

const newestCheckpoint = "newest"

// published checks the newest checkpoint that is published.
func (c *logCheck) published() error {
	note, err := c.stored.Checkpoint()
	if err != nil {
		return err
	}
	if note == nil {
		if c.standing.Published == 0 {
			return nil
		}
		return c.found(store.LogCheckpoint, newestCheckpoint, fmt.Sprintf("it is missing: one of %d entries was published", c.standing.Published))
	}
	checkpoint, err := openCheckpoint(note, c.audit.LogKeys)
	if err != nil {
		return c.found(store.LogCheckpoint, newestCheckpoint, err.Error())
	}
	if size := c.standing.Published; size != 0 && size != checkpoint.Size {
		what := fmt.Sprintf("it is of %d entries, and the newest that was published of %d: it was put back from an earlier time", checkpoint.Size, size)
		if err := c.found(store.LogCheckpoint, newestCheckpoint, what); err != nil {
			return err
		}
	}
	return c.continues(checkpoint.Head, newestCheckpoint)
}

// openCheckpoint reads a note; without keys its signatures are not verified.
func openCheckpoint(note []byte, keys translog.Keys) (translog.Checkpoint, error) {
	if len(keys) == 0 {
		text, _, _ := bytes.Cut(note, []byte("\n\n"))
		return translog.ParseCheckpoint(string(text) + "\n")
	}
	signed, err := translog.OpenCheckpoint(note, keys, nil)
	if err != nil {
		return translog.Checkpoint{}, err
	}
	return signed.Checkpoint, nil
}

// continues checks that the tree continues an earlier one.
func (c *logCheck) continues(earlier translog.Head, name string) error {
	now := c.standing.Head
	if earlier.Size > now.Size {
		return c.found(store.LogCheckpoint, name, fmt.Sprintf("it was signed when the log had %d entries, and now it has %d: the newest ones are missing, the database is from an earlier time", earlier.Size, now.Size))
	}
	root, err := translog.RootAt(c.stored, now, earlier.Size)
	if err != nil {
		return c.found(store.LogCheckpoint, name, "it cannot be told whether the log continues it: "+err.Error())
	}
	if root != earlier.Root {
		return c.found(store.LogCheckpoint, name, fmt.Sprintf("the log does not continue it: its first %d entries are others than those that were signed, a fork", earlier.Size))
	}
	return nil
}
