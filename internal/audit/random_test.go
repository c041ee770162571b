package audit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// changesVariable says how many changes TestRandomChanges makes of each store;
// seedVariable repeats a run.
const (
	changesVariable = "LATCHKEY_TEST_CHANGES"
	seedVariable    = "LATCHKEY_TEST_SEED"
)

// TestRandomChanges changes a real database in random ways, one after the other,
// and audits each. What the audit does not find must be of a row that is in no
// head and in no log. Every so often a server is started on it and asked for
// everything.
func TestRandomChanges(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		seed := uint64(testkit.Number(t, seedVariable, 20261116))
		random := &randomChanges{Rand: rand.New(rand.NewPCG(seed, 0)), w: w} // it has to be repeatable
		counts := map[string]int{}
		for n := range testkit.Number(t, changesVariable, 100) {
			after, what, unnoticed := random.change()
			w.db.write(after)
			_, found := audited(t, url)
			switch {
			case len(found) > 0:
				counts["found by the audit"]++
			case unnoticed:
				counts["of a row that nothing guards: "+what]++
			default:
				t.Fatalf("change %d of seed %d is not found: %s", n, seed, what)
			}
			if n%100 == 0 {
				random.serve(t)
				counts["servers that ran"]++
			}
			if t.Failed() {
				t.Fatalf("at change %d of seed %d: %s", n, seed, what)
			}
		}
		t.Logf("seed %d: %v", seed, counts)
	})
}

// randomChanges makes changes of a world.
type randomChanges struct {
	*rand.Rand
	w *world
}

// change returns the rows after one. Unnoticed says that nothing guards the row.
func (r *randomChanges) change() (after tables, what string, unnoticed bool) {
	changes := []func(*tables) (string, bool){
		r.flipItem, r.flipItem, r.flipItem, r.flipItem, r.flipActivity, r.flipActivity, r.flipActivity,
		r.swapItems, r.swapActivities, r.removeItem, r.removeItem, r.removeActivity,
		r.copyItem, r.moveItem, r.copyActivity, r.putBackItem, r.putBackItem, r.putBackActivity,
		r.changeVersion, r.cutItem,
		r.flipEntry, r.flipEntry, r.removeEntry, r.swapEntries, r.copyEntry, r.putBackOrganization,
	}
	for {
		after = r.w.now.clone()
		what, unnoticed = changes[r.IntN(len(changes))](&after)
		if what != "" {
			return after, what, unnoticed
		}
	}
}

// unguarded are the kinds of rows that are in no head: that one is missing is not
// noticed.
func unguarded(kind string) bool {
	return slices.Contains([]string{"message", "mail-event", "token-use", "expiring", "rewrapping", "refused", "auth-proxy", "probe", "node"}, kind)
}

func (r *randomChanges) flip(body []byte) { body[r.IntN(len(body))] ^= 1 << r.IntN(8) }

func (r *randomChanges) flipItem(all *tables) (string, bool) {
	it := &all.items[r.IntN(len(all.items))]
	r.flip(it.body)
	return "a bit of " + it.kind, false
}

func (r *randomChanges) cutItem(all *tables) (string, bool) {
	it := &all.items[r.IntN(len(all.items))]
	it.body = it.body[:r.IntN(len(it.body))]
	return "an end of " + it.kind, false
}

func (r *randomChanges) flipActivity(all *tables) (string, bool) {
	e := &all.entries[r.IntN(len(all.entries))]
	switch r.IntN(6) {
	case 0:
		e.time ^= 1 << r.IntN(40)
		return "a bit of a time", false
	case 1:
		r.flip(e.fingerprint)
		return "a bit of a fingerprint", false
	case 2:
		e.status += "X"
		return "a status", false
	case 3:
		e.typ = e.typ[:len(e.typ)-1]
		return "a type", false
	}
	r.flip(e.body)
	return "a bit of an activity", false
}

func (r *randomChanges) swapItems(all *tables) (string, bool) {
	a, b := &all.items[r.IntN(len(all.items))], &all.items[r.IntN(len(all.items))]
	if bytes.Equal(a.body, b.body) {
		return "", false
	}
	a.body, b.body = b.body, a.body
	return "the bodies of " + a.kind + " and " + b.kind, false
}

func (r *randomChanges) swapActivities(all *tables) (string, bool) {
	a, b := &all.entries[r.IntN(len(all.entries))], &all.entries[r.IntN(len(all.entries))]
	if a.id == b.id {
		return "", false
	}
	switch r.IntN(3) {
	case 0:
		a.body, b.body = b.body, a.body
	case 1:
		a.time, b.time = b.time, a.time
	default:
		a.fingerprint, b.fingerprint = b.fingerprint, a.fingerprint
	}
	return "a column of two activities", false
}

func (r *randomChanges) removeItem(all *tables) (string, bool) {
	i := r.IntN(len(all.items))
	kind := all.items[i].kind
	all.items = slices.Delete(all.items, i, i+1)
	return "a missing " + kind, unguarded(kind)
}

func (r *randomChanges) removeActivity(all *tables) (string, bool) {
	i := r.IntN(len(all.entries))
	all.entries = slices.Delete(all.entries, i, i+1)
	return "a missing activity", false
}

// elsewhere is an item with another organization, kind or id.
func (r *randomChanges) elsewhere(all *tables, it item) (item, bool) {
	other := all.items[r.IntN(len(all.items))]
	switch r.IntN(3) {
	case 0:
		it.org = other.org
	case 1:
		it.kind = other.kind
	default:
		it.id = "another"
	}
	_, taken := all.get(it.org, it.kind, it.id)
	return it, !taken
}

func (r *randomChanges) copyItem(all *tables) (string, bool) {
	it, ok := r.elsewhere(all, all.items[r.IntN(len(all.items))])
	if !ok {
		return "", false
	}
	all.items = append(all.items, it)
	return "a copy of " + it.kind, false
}

func (r *randomChanges) moveItem(all *tables) (string, bool) {
	i := r.IntN(len(all.items))
	it, ok := r.elsewhere(all, all.items[i])
	if !ok {
		return "", false
	}
	all.items[i] = it
	return "a moved " + it.kind, false
}

func (r *randomChanges) copyActivity(all *tables) (string, bool) {
	e := all.entries[r.IntN(len(all.entries))]
	if r.IntN(2) == 0 {
		e.id += "x"
		e.time++
	} else {
		e.org = r.w.stranger.OrganizationID
	}
	all.entries = append(all.entries, e)
	return "a copy of an activity", false
}

// putBackItem puts an older row in the place of the newer one, or one back that
// was deleted since.
func (r *randomChanges) putBackItem(all *tables) (string, bool) {
	old := r.w.earlier.items[r.IntN(len(r.w.earlier.items))]
	i := slices.IndexFunc(all.items, func(it item) bool { return it.org == old.org && it.kind == old.kind && it.id == old.id })
	switch {
	case i < 0:
		all.items = append(all.items, old)
	case bytes.Equal(all.items[i].body, old.body):
		return "", false
	default:
		all.items[i] = old
	}
	return "an old " + old.kind, unguarded(old.kind)
}

func (r *randomChanges) putBackActivity(all *tables) (string, bool) {
	for i, e := range all.entries {
		j := slices.IndexFunc(r.w.earlier.entries, func(old entry) bool { return old.id == e.id && old.org == e.org && !bytes.Equal(old.body, e.body) })
		if j >= 0 {
			all.entries[i] = r.w.earlier.entries[j]
			return "an old activity", false
		}
	}
	return "", false
}

func (r *randomChanges) flipEntry(all *tables) (string, bool) {
	e := &all.log[r.IntN(len(all.log))]
	switch r.IntN(4) {
	case 0:
		e.activity = r.w.signed + "x"
	case 1:
		e.org = r.w.child + "x"
	default:
		r.flip(e.body)
	}
	return "a column of an entry of the log", false
}

func (r *randomChanges) removeEntry(all *tables) (string, bool) {
	i := r.IntN(len(all.log))
	all.log = slices.Delete(all.log, i, i+1)
	return "a missing entry of the log", false
}

func (r *randomChanges) swapEntries(all *tables) (string, bool) {
	a, b := &all.log[r.IntN(len(all.log))], &all.log[r.IntN(len(all.log))]
	if a.position == b.position {
		return "", false
	}
	a.position, b.position = b.position, a.position
	return "the positions of two entries of the log", false
}

// copyEntry copies an entry to a position that is free, and not beyond the end,
// where entries wait for the tree: on PostgreSQL there can be such ones.
func (r *randomChanges) copyEntry(all *tables) (string, bool) {
	i := r.IntN(len(all.log) - 1)
	e := all.log[r.IntN(len(all.log))]
	if e.position = all.log[i].position + 1; e.position == all.log[i+1].position {
		all.log[i+1].body, all.log[i+1].activity, all.log[i+1].org = e.body, e.activity, e.org
		if bytes.Equal(e.body, r.w.now.log[i+1].body) {
			return "", false
		}
		return "an entry of the log in the place of another", false
	}
	all.log = append(all.log, e)
	return "a copy of an entry of the log", false
}

// putBackOrganization puts an earlier state of a whole organization back, with its
// version and its head.
func (r *randomChanges) putBackOrganization(all *tables) (string, bool) {
	org := r.w.root.OrganizationID
	all.versions[org] = r.w.earlier.versions[org]
	all.items = slices.DeleteFunc(all.items, func(it item) bool { return it.org == org })
	for _, it := range r.w.earlier.items {
		if it.org == org {
			all.items = append(all.items, it)
		}
	}
	return "an earlier state of an organization", false
}

func (r *randomChanges) changeVersion(all *tables) (string, bool) {
	orgs := []string{r.w.root.OrganizationID, r.w.stranger.OrganizationID, r.w.child, "instance"}
	org := orgs[r.IntN(len(orgs))]
	switch r.IntN(3) {
	case 0:
		delete(all.versions, org)
	case 1:
		all.versions[org] += int64(1 + r.IntN(5))
	default:
		all.versions["00000000-0000-0000-0000-00000000000"+strconv.Itoa(r.IntN(10))] = 1
	}
	return "a version", false
}

// serve starts a server on the changed database and asks it for everything. What
// it answers depends on the change; it must answer, and live. A change of what
// belongs to the installation may keep it from starting.
func (r *randomChanges) serve(t *testing.T) {
	t.Helper()
	s, err := r.w.tryStart(t)
	if err != nil {
		return
	}
	defer s.Stop(t)
	for _, c := range []*servertest.Caller{s.As(r.w.root), s.As(r.w.ada), s.As(r.w.stranger)} {
		for _, operation := range []string{"whoami", "list_users", "list_policies", "list_wallets", "list_activities", "list_private_keys", "list_suborgs"} {
			answered(t, operation, post(t, c, operation, nil))
		}
		answered(t, "sign_raw_payload", post(t, c, "sign_raw_payload", r.w.payload(fmt.Sprintf("%08x", r.Uint32()))))
		answered(t, "create_wallet", post(t, c, "create_wallet", m{"walletName": fmt.Sprint(r.Uint64()), "accounts": []any{}}))
	}
}

func answered(t *testing.T, operation string, reply servertest.Reply) {
	t.Helper()
	if reply.Status == 500 && reply.JSON(t).Get("turnkeyErrorCode").Text() != "INTEGRITY" || reply.Status > 500 {
		t.Errorf("%s: HTTP %d: %s", operation, reply.Status, reply.Body)
	}
}
