package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/store"
)

// link is a commit that appends an activity and an entry behind another one.
func link(org string, number int, body, after string) *store.Commit {
	c := &store.Commit{
		Org: org, Version: 1, Activity: activity("by " + body),
		Changes: []store.Change{{Kind: "chain", ID: fmt.Sprintf("%05d", number), Body: []byte(body), New: true}},
	}
	if number > 1 {
		c.Follows = []store.StoredBody{{Kind: "chain", ID: fmt.Sprintf("%05d", number-1), Body: []byte(after)}}
	}
	return c
}

// testFollows: an entry follows exactly what it says, and raises no version.
func testFollows(t *testing.T, db store.Driver) {
	create(t, db, "org")
	create(t, db, "other")
	refused := func(c *store.Commit, err error) {
		t.Helper()
		commit(t, db, c, err)
		wantItem(t, db, c.Org, "chain", c.Changes[0].ID, nil)
		wantActivity(t, db, c.Org, c.Activity.ID, nil)
	}
	refused(link("org", 2, "b", "a"), store.ErrConflict) // nothing is there
	commit(t, db, link("org", 1, "a", ""), nil)
	wantVersion(t, db, "org", 1)
	refused(link("org", 2, "b", "A"), store.ErrConflict)   // it has another body
	refused(link("other", 2, "b", "a"), store.ErrConflict) // it is elsewhere
	refused(link("org", 3, "c", "b"), store.ErrConflict)   // one is missing
	commit(t, db, link("org", 2, "b", "a"), nil)
	commit(t, db, link("org", 2, "x", "a"), store.ErrConflict) // it is taken
	wantItem(t, db, "org", "chain", "00002", []byte("b"))
	recorded := link("org", 3, "c", "b")
	recorded.Activity = activity("by a")
	commit(t, db, recorded, store.ErrRecorded)
	wantItem(t, db, "org", "chain", "00003", nil)
	// A vote raises the version, and is in line all the same.
	vote := link("org", 3, "c", "b")
	vote.Activity, vote.Replaces = activity("by a"), true
	commit(t, db, vote, nil)
	wantVersion(t, db, "org", 2)
	wantItem(t, db, "org", "chain", "00003", []byte("c"))
	commit(t, db, link("org", 4, "d", "c"), store.ErrConflict) // of the old version
}

// testFollowsAtOnce lets writers append to one chain: each entry names the one
// before it, and none is missing.
func testFollowsAtOnce(t *testing.T, db store.Driver) {
	create(t, db, "org")
	const writers, each = 8, 12
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for n := range each {
				if err := appendLink(t.Context(), db, fmt.Sprintf("%d.%d", w, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	chain, err := db.Scan(t.Context(), "org", "chain", store.Range{})
	if err != nil || len(chain) != writers*each {
		t.Fatalf("the chain has %d entries: %v", len(chain), err)
	}
	for i, item := range chain {
		if item.ID != fmt.Sprintf("%05d", i+1) {
			t.Fatalf("entry %d is %s", i+1, item.ID)
		}
		_, after, _ := strings.Cut(string(item.Body), " ")
		before := "."
		if i > 0 {
			before, _, _ = strings.Cut(string(chain[i-1].Body), " ")
		}
		if before != after {
			t.Errorf("entry %d follows %s, but %s is there", i+1, after, before)
		}
	}
	wantVersion(t, db, "org", 1)
}

// testFollowsTogether: commits that follow each other and are on their way at the same
// time are told what became of each, and nothing else is stored.
func testFollowsTogether(t *testing.T, db store.Driver) {
	const links = 20
	for _, tt := range []struct {
		name  string
		spoil func(c *store.Commit) // what is wrong with the fifth
		want  error
	}{
		{"good", func(*store.Commit) {}, nil},
		{"recorded", func(c *store.Commit) { c.Activity = activity("recorded before") }, store.ErrRecorded},
		{"twice", func(c *store.Commit) { c.Activity = activity("by entry 2") }, store.ErrRecorded},
		{"old", func(c *store.Commit) { c.Version = 7 }, store.ErrConflict},
		{"elsewhere", func(c *store.Commit) { c.Follows[0].Body = []byte("another") }, store.ErrConflict},
		{"taken", func(c *store.Commit) { c.Changes[0].ID, c.Follows = "00001", nil }, store.ErrConflict},
	} {
		org := "org " + tt.name
		create(t, db, org)
		commit(t, db, &store.Commit{Org: org, Version: 1, Activity: activity("recorded before")}, nil)
		commits, outcomes := make([]*store.Commit, links), make([]error, links)
		var wait sync.WaitGroup
		for i := range commits {
			c := link(org, i+1, fmt.Sprint("entry ", i+1), fmt.Sprint("entry ", i))
			if i == 4 {
				tt.spoil(c)
			}
			queued := make(chan struct{})
			c.During = func() { close(queued) }
			commits[i] = c
			wait.Go(func() { outcomes[i] = db.Commit(t.Context(), c) })
			<-queued
		}
		wait.Wait()
		for i, c := range commits {
			switch err := outcomes[i]; {
			case i == 4 && tt.want != nil && !errors.Is(err, tt.want) && !errors.Is(err, store.ErrConflict),
				i > 4 && tt.want != nil && !errors.Is(err, store.ErrConflict),
				i < 4 && err != nil && !errors.Is(err, store.ErrConflict),
				tt.want == nil && err != nil:
				t.Errorf("%s: link %d: %v", tt.name, i+1, err)
			case err == nil:
				wantItem(t, db, org, "chain", c.Changes[0].ID, c.Changes[0].Body)
			case i != 4:
				wantItem(t, db, org, "chain", c.Changes[0].ID, nil)
				wantActivity(t, db, org, c.Activity.ID, nil)
			}
		}
		wantVersion(t, db, org, 1)
	}
}

// appendLink appends an entry behind the newest, and tries again if another is
// faster.
func appendLink(ctx context.Context, db store.Driver, name string) error {
	for {
		chain, err := db.Scan(ctx, "org", "chain", store.Range{})
		if err != nil {
			return err
		}
		after, last := "", "."
		if len(chain) > 0 {
			after = string(chain[len(chain)-1].Body)
			last, _, _ = strings.Cut(after, " ")
		}
		err = db.Commit(ctx, link("org", len(chain)+1, name+" "+last, after))
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// testFollowsChanges: a change names what the change before it wrote, and is refused if
// that is not there, even where another change has made the version that it expects.
func testFollowsChanges(t *testing.T, db store.Driver) {
	const changes = 20
	state := func(v int64) string { return fmt.Sprint("state ", v) }
	change := func(org string, v int64) *store.Commit {
		c := &store.Commit{
			Org: org, Version: v, Activity: activity(fmt.Sprint("at ", v)), Followed: true,
			Changes: []store.Change{put("state", "newest", state(v+1)), put("k", fmt.Sprint(v), "x")},
		}
		if v > 1 {
			c.Follows = []store.StoredBody{{Kind: "state", ID: "newest", Body: []byte(state(v))}}
		}
		return c
	}
	for _, tt := range []struct {
		name  string
		spoil func(c *store.Commit) // what is wrong with the change of version 5
		want  error
	}{
		{"good", func(*store.Commit) {}, nil},
		{"recorded", func(c *store.Commit) { c.Activity = activity("recorded before") }, store.ErrRecorded},
		{"elsewhere", func(c *store.Commit) { c.Follows[0].Body = []byte("another") }, store.ErrConflict},
	} {
		org := "org " + tt.name
		create(t, db, org)
		commit(t, db, &store.Commit{Org: org, Version: 1, Activity: activity("recorded before")}, nil)
		outcomes := make([]error, changes+1)
		var wait sync.WaitGroup
		for v := int64(1); v <= changes; v++ {
			c := change(org, v)
			if v == 5 {
				tt.spoil(c)
			}
			if v == changes { // one that only appends follows too
				c.Changes, c.Followed = nil, false
			}
			queued := make(chan struct{})
			c.During = func() { close(queued) }
			wait.Go(func() { outcomes[v] = db.Commit(t.Context(), c) })
			<-queued
		}
		wait.Wait()
		for v := int64(1); v <= changes; v++ {
			want := error(nil)
			switch {
			case v == 5:
				want = tt.want
			case v > 5 && tt.want != nil:
				want = store.ErrConflict
			}
			if !errors.Is(outcomes[v], want) {
				t.Errorf("%s: the change of version %d: %v, want %v", tt.name, v, outcomes[v], want)
			}
		}
		last := int64(changes)
		if tt.want != nil {
			last = 5
		}
		wantVersion(t, db, org, last)
		wantItem(t, db, org, "state", "newest", []byte(state(last)))
	}

	create(t, db, "org")
	commit(t, db, change("org", 1), nil)
	other := change("org", 2)
	other.Changes[0].Body = []byte("another state 3")
	commit(t, db, other, nil)
	commit(t, db, change("org", 3), store.ErrConflict)
	onlyAppends := change("org", 3)
	onlyAppends.Changes = nil
	commit(t, db, onlyAppends, store.ErrConflict)
	wantVersion(t, db, "org", 3)
	wantActivity(t, db, "org", "at 3", nil)
	onlyAppends.Follows[0].Body = []byte("another state 3")
	commit(t, db, onlyAppends, nil)
	wantVersion(t, db, "org", 3)
}
