package sqlite

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"

	"latchkey/internal/store"
)

// tx is the transaction of one group.
type tx struct {
	*writer
	raised map[string]int64 // versions this transaction has raised
}

// apply writes one commit, or writes nothing and says why it is refused. Every
// check comes before the first write but one, the activity, which is itself
// the check whether it is there already.
func (t *tx) apply(c *store.Commit) (refusal, err error) {
	version, err := t.version(c.Org)
	if err != nil {
		return nil, err
	}
	if version != c.Version {
		return store.ErrConflict, nil
	}
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.New {
			there, err := t.finds(t.stmts.has, cmp.Or(ch.Org, c.Org), ch.Kind, ch.ID)
			if err != nil {
				return nil, err
			}
			if there {
				return store.ErrConflict, nil
			}
		}
	}
	for i := range c.Follows {
		f := &c.Follows[i]
		there, err := t.finds(t.stmts.same, c.Org, f.Kind, f.ID, f.Body)
		if err != nil {
			return nil, err
		}
		if !there {
			return store.ErrConflict, nil
		}
	}
	if a := c.Activity; a != nil && c.Replaces {
		n, err := t.stmts.replace.exec(a.Status, store.NonNil(a.Body), c.Org, a.ID)
		if err != nil {
			return nil, fmt.Errorf("replacing the activity: %w", err)
		}
		if n == 0 {
			return store.ErrRecorded, nil
		}
	} else if a != nil {
		n, err := t.stmts.activity.exec(c.Org, a.ID, a.TimestampMs, a.Fingerprint[:], a.Type, a.Status, store.NonNil(a.Body))
		if err != nil {
			return nil, fmt.Errorf("recording the activity: %w", err)
		}
		if n == 0 {
			return store.ErrRecorded, nil
		}
	}
	if c.Raises() {
		if err := t.raise(c.Org, c.Version); err != nil {
			return nil, err
		}
	}
	for _, org := range c.Creates {
		if err := t.raise(org, 0); err != nil {
			return nil, err
		}
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		org := cmp.Or(ch.Org, c.Org)
		if ch.Body == nil {
			_, err = t.stmts.del.exec(org, ch.Kind, ch.ID)
		} else {
			_, err = t.stmts.put.exec(org, ch.Kind, ch.ID, ch.Body)
		}
		if err != nil {
			return nil, fmt.Errorf("changing the %s: %w", ch.Kind, err)
		}
	}
	return nil, t.log(c.Entries)
}

// log writes entries at the end of the log.
func (t *tx) log(entries []store.Entry) error {
	if len(entries) > 0 && t.position == 0 {
		err := t.stmts.newest.query(func(row []driver.Value) error {
			t.position, _ = row[0].(int64)
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for the end of the log: %w", err)
		}
	}
	for i := range entries {
		e := &entries[i]
		if _, err := t.stmts.entry.exec(t.position+1, e.Org, e.Activity, store.NonNil(e.Body)); err != nil {
			return fmt.Errorf("writing an entry of the log: %w", err)
		}
		t.position++
	}
	return nil
}

// finds reports whether a statement finds an item.
func (t *tx) finds(s *stmt, org, kind, id string, more ...any) (there bool, err error) {
	err = s.query(func([]driver.Value) error {
		there = true
		return nil
	}, append([]any{org, kind, id}, more...)...)
	if err != nil {
		return false, fmt.Errorf("looking for the %s: %w", kind, err)
	}
	return there, nil
}

// version returns the organization's version as this transaction sees it.
func (t *tx) version(org string) (int64, error) {
	if v, ok := t.raised[org]; ok {
		return v, nil
	}
	v, ok, epoch := t.versions.get(org)
	if ok {
		return v, nil
	}
	err := t.stmts.version.query(func(row []driver.Value) error {
		v, _ = row[0].(int64)
		return nil
	}, org)
	if err != nil {
		return 0, fmt.Errorf("reading the version: %w", err)
	}
	t.versions.learn(org, v, epoch)
	return v, nil
}

// raise creates the organization or raises its version. What is in memory must
// agree with the table: if not, another process wrote, and nothing may be
// written on top of that.
func (t *tx) raise(org string, version int64) (err error) {
	var n int64
	if version == 0 {
		n, err = t.stmts.create.exec(org)
	} else {
		n, err = t.stmts.raise.exec(org, version)
	}
	if err != nil {
		return fmt.Errorf("raising the version: %w", err)
	}
	if n != 1 {
		return errors.New("the organization was changed by something other than this process")
	}
	t.raised[org] = version + 1
	return nil
}
