package postgres

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
)

// chain is commits of one organization, at one version, each of which appends an
// activity and items that must be new, and that may follow each other. They are
// written by one statement, all or none: a velocity control with many requests at
// once would else cost a statement for each.
type chain struct {
	numbers []int // of the commits in the batch
	claims  map[[2]string][]byte
	// outside is what they follow and none of them writes.
	outside []store.StoredBody
	seen    map[[32]byte]bool // fingerprints
}

// chainable says that a commit can be part of a chain.
func chainable(c *store.Commit) bool {
	if c.Activity == nil || c.Raises() || len(c.Creates) > 0 || len(c.Changes) == 0 || len(c.Entries) > 1 {
		return false
	}
	for i := range c.Changes {
		if ch := &c.Changes[i]; !ch.New || ch.Org != "" {
			return false
		}
	}
	return true
}

// nextChain takes as many of the next commits as can be written together. There
// may be none.
func (b *batch) nextChain(numbers []int) *chain {
	t := &chain{claims: map[[2]string][]byte{}, seen: map[[32]byte]bool{}}
	for _, i := range numbers {
		c := b.commits[i]
		if len(t.numbers) > 0 {
			first := b.commits[t.numbers[0]]
			if c.Org != first.Org || c.Version != first.Version {
				break
			}
		}
		if !chainable(c) || !t.add(i, c) {
			break
		}
	}
	return t
}

// add refuses what would make the whole fail for certain.
func (t *chain) add(number int, c *store.Commit) bool {
	if t.seen[c.Activity.Fingerprint] {
		return false
	}
	for k := range c.Changes {
		if _, taken := t.claims[[2]string{c.Changes[k].Kind, c.Changes[k].ID}]; taken {
			return false
		}
	}
	var outside []store.StoredBody
	for _, f := range c.Follows {
		body, inside := t.claims[[2]string{f.Kind, f.ID}]
		if inside && !bytes.Equal(body, f.Body) {
			return false
		}
		if !inside {
			outside = append(outside, f)
		}
	}
	for k := range c.Changes {
		t.claims[[2]string{c.Changes[k].Kind, c.Changes[k].ID}] = c.Changes[k].Body
	}
	t.outside = append(t.outside, outside...)
	t.seen[c.Activity.Fingerprint] = true
	t.numbers = append(t.numbers, number)
	return true
}

// queueChain adds the statement of a chain. If the organization has another version,
// or what they follow is not there, all are refused as conflicts; if an activity is
// recorded already, that one is refused as such, and the others, which may rest on
// it, as conflicts.
func (b *batch) queueChain(t *chain) {
	first := b.commits[t.numbers[0]]
	var claimKinds, claimIDs []string
	var claimBodies [][]byte
	for _, i := range t.numbers {
		for _, ch := range b.commits[i].Changes {
			claimKinds, claimIDs, claimBodies = append(claimKinds, ch.Kind), append(claimIDs, ch.ID), append(claimBodies, ch.Body)
		}
	}
	var followKinds, followIDs []string
	var followBodies [][]byte
	for _, f := range t.outside {
		followKinds, followIDs, followBodies = append(followKinds, f.Kind), append(followIDs, f.ID), append(followBodies, f.Body)
	}
	args := append([]any{first.Org, first.Version}, b.activityColumns(t.numbers)...)
	args = append(args, claimKinds, claimIDs, claimBodies, followKinds, followIDs, followBodies)
	b.Queue(chainSQL, args...).QueryRow(func(row pgx.Row) error {
		var written, guard int64
		var recorded []int64
		if err := row.Scan(&written, &recorded, &guard); err != nil {
			return err
		}
		for _, i := range t.numbers {
			if written == 0 {
				b.refusals[i] = store.ErrConflict
			}
		}
		for _, k := range recorded {
			b.refusals[t.numbers[k-1]] = store.ErrRecorded
		}
		return nil
	})
}
