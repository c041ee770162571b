package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// lists checks the rows by which events are found: each entry about an activity is
// in the list of its organization, and in that of the children of its parent, once
// and at its place of the tree, and nothing else is.
//
// What the tree has is added up for each organization; what a parent's list should
// have is the sum of those of its children.
type lists struct {
	sets     multisets
	own      map[string]*listPair
	children map[string]*listPair // by parent
	// carried are the places of entries that an epoch has listed and not published:
	// the next one has them in its tree, and lists them no more.
	carried map[int64]domain.LogPlace // by position
}

// listPair is what the tree has, and what a list has.
type listPair struct{ wanted, found listed }

// listed are some entries.
type listed struct {
	sum   sum
	count int64
}

func (l *listed) add(other listed) { l.sum, l.count = l.sum.plus(other.sum), l.count+other.count }

func newLists(sets multisets) lists {
	return lists{sets: sets, own: map[string]*listPair{}, children: map[string]*listPair{}, carried: map[int64]domain.LogPlace{}}
}

func pairOf(all map[string]*listPair, org string) *listPair {
	if all[org] == nil {
		all[org] = new(listPair)
	}
	return all[org]
}

func (c *lists) one(e ledger.Listed) listed { return listed{sumOf(c.sets, e), 1} }

// unpublished reads which entries an earlier epoch has listed and not published:
// those from an index on.
func (c *lists) unpublished(stored ledger.Stored, from int64) error {
	for {
		block, err := stored.Block(from / translog.TileWidth)
		if err != nil {
			return err
		}
		for i := int(from % translog.TileWidth); i < len(block); i++ {
			if _, earlier := c.carried[block[i].Position]; !earlier {
				c.carried[block[i].Position] = domain.LogPlace{Epoch: stored.Epoch, Index: from}
			}
			from++
		}
		if len(block) < translog.TileWidth {
			return nil
		}
	}
}

// entry notes an entry of a tree.
func (c *lists) entry(e *store.LogEntry, at domain.LogPlace) {
	if !e.AboutActivity() {
		return
	}
	if listed, ok := c.carried[e.Position]; ok {
		at = listed
	}
	pairOf(c.own, e.Org).wanted.add(c.one(ledger.Listed{At: at, Position: e.Position}))
}

// row notes a row of a list, and says what is wrong with it.
func (c *lists) row(kind, id string, body []byte) (wrong string) {
	list, entries, err := ledger.ReadRow(kind, id, body)
	if err != nil {
		return err.Error()
	}
	all := c.own
	if list.Children {
		all = c.children
	}
	for _, e := range entries {
		pairOf(all, list.Org).found.add(c.one(e))
	}
	return ""
}

// organization notes whose child an organization is.
func (c *lists) organization(org string, body []byte) {
	record := new(domain.Organization)
	if own := c.own[org]; own != nil && json.Unmarshal(body, record) == nil && record.ParentID != "" {
		pairOf(c.children, record.ParentID).wanted.add(own.wanted)
	}
}

// end reports the lists that are not what the tree has.
func (c *lists) end(report func(kind, id, what string) error) error {
	for _, lists := range []struct {
		kind, of string
		all      map[string]*listPair
	}{{store.LogOwn, "the organization", c.own}, {store.LogChildren, "its sub-organizations", c.children}} {
		for _, org := range slices.Sorted(maps.Keys(lists.all)) {
			pair := lists.all[org]
			if pair.wanted == pair.found {
				continue
			}
			what := fmt.Sprintf("the list by which events are found has %d entries, and the tree %d about activities of %s: "+
				"rows are missing, or from another copy of the database", pair.found.count, pair.wanted.count, lists.of)
			if err := report(lists.kind, org, what); err != nil {
				return err
			}
		}
	}
	return nil
}
