package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/internal/store"
)

// The work that is interrupted: in each organization one writer changes the
// state, always two items and an activity that agree on the version they make,
// while others append. What is acknowledged is logged as a line, "C org version"
// or "A org id".
const (
	workOrgs  = 3
	appenders = 6 // in all

	typeChange = "CHANGE"
	typeAppend = "APPEND"
)

// work commits until ctx ends or the driver fails. round makes the ids differ
// from those of other rounds.
func work(ctx context.Context, db store.Driver, round string, ack func(line string)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for o := range workOrgs {
		org := fmt.Sprint("org", o)
		wg.Go(func() {
			for {
				var made int64
				err := retry(ctx, db, org, func(v int64) *store.Commit {
					made = v + 1
					return changeTo(org, made)
				})
				if err != nil {
					return
				}
				ack(fmt.Sprintf("C %s %d", org, made))
			}
		})
	}
	for w := range appenders {
		org := fmt.Sprint("org", w%workOrgs)
		wg.Go(func() {
			for i := 0; ; {
				id := fmt.Sprintf("append-%s-%d-%d", round, w, i)
				v, err := db.Version(ctx, org)
				if err != nil {
					return
				}
				if v == 0 { // not created yet
					time.Sleep(time.Millisecond)
					continue
				}
				a := activity(id)
				a.Type = typeAppend
				err = db.Commit(ctx, &store.Commit{Org: org, Version: v, Activity: a})
				if errors.Is(err, store.ErrConflict) {
					continue
				}
				if err != nil {
					return
				}
				ack("A " + org + " " + id)
				i++
			}
		})
	}
}

// changeTo is the commit that makes a version.
func changeTo(org string, version int64) *store.Commit {
	n := strconv.FormatInt(version, 10)
	a := activity("change-" + n)
	a.Type, a.Body = typeChange, []byte(n)
	return &store.Commit{Org: org, Version: version - 1, Activity: a, Changes: []store.Change{
		put("counter", "first", n), put("counter", "second", n+strings.Repeat(" ", 5000)),
		put("history", n, n), del("history", strconv.FormatInt(version-3, 10)),
	}}
}

// ledger is what was acknowledged so far.
type ledger struct {
	mu      sync.Mutex
	changed map[string]int64    // newest version by organization
	added   map[string][]string // ids by organization, not yet checked
	all     map[string]map[string]bool
	count   int
}

func newLedger() *ledger {
	return &ledger{changed: map[string]int64{}, added: map[string][]string{}, all: map[string]map[string]bool{}}
}

// ack adds a line.
func (l *ledger) ack(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := strings.Fields(line)
	if len(f) != 3 {
		return // the end of a line that was cut
	}
	l.count++
	switch f[0] {
	case "C":
		n, _ := strconv.ParseInt(f[2], 10, 64)
		l.changed[f[1]] = max(l.changed[f[1]], n)
	case "A":
		l.added[f[1]] = append(l.added[f[1]], f[2])
		if l.all[f[1]] == nil {
			l.all[f[1]] = map[string]bool{}
		}
		l.all[f[1]][f[2]] = true
	}
}

// check compares the database with the ledger: what was acknowledged is there,
// and nothing is there by half.
func (l *ledger) check(t *testing.T, db store.Driver) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for o := range workOrgs {
		org := fmt.Sprint("org", o)
		s := read(t, db, org)
		if s.version < l.changed[org] {
			t.Fatalf("%s is at version %d, but %d was acknowledged", org, s.version, l.changed[org])
		}
		s.check(t, org)
		for _, id := range l.added[org] {
			got, err := db.Activity(t.Context(), org, id)
			if err != nil || got == nil {
				t.Fatalf("%s: %s was acknowledged, but is %v, %v", org, id, got, err)
			}
		}
		l.added[org] = nil
	}
}

// state is an organization as work leaves it.
type state struct {
	version       int64
	first, second []byte
	history       []store.Item
	changes       []store.ActivityRow
}

// read reads one state. A server may still be busy with what a killed client
// sent it, so the version can change during the reads.
func read(t *testing.T, db store.Driver, org string) (s state) {
	t.Helper()
	for {
		var errs [6]error
		s.version, errs[0] = db.Version(t.Context(), org)
		s.first, errs[1] = db.Get(t.Context(), org, "counter", "first")
		s.second, errs[2] = db.Get(t.Context(), org, "counter", "second")
		s.history, errs[3] = db.Scan(t.Context(), org, "history", store.Range{})
		s.changes, errs[4] = db.Activities(t.Context(), org, store.ActivityQuery{Types: []string{typeChange}})
		var after int64
		after, errs[5] = db.Version(t.Context(), org)
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		if after == s.version {
			return s
		}
	}
}

// check expects that all parts of the state are of the same version.
func (s *state) check(t *testing.T, org string) {
	t.Helper()
	if int64(len(s.changes)) != s.version {
		t.Fatalf("%s is at version %d, but has %d changes", org, s.version, len(s.changes))
	}
	for _, c := range s.changes {
		if c.ID != "change-"+string(c.Body) {
			t.Fatalf("%s: activity %s has the body %s", org, c.ID, c.Body)
		}
	}
	if len(s.history) != int(min(s.version, 3)) {
		t.Fatalf("%s at version %d has a history of %d", org, s.version, len(s.history))
	}
	if s.version == 0 {
		if s.first != nil || s.second != nil {
			t.Fatalf("%s was never created and has items", org)
		}
		return
	}
	n := strconv.FormatInt(s.version, 10)
	if string(s.first) != n || string(s.second) != n+strings.Repeat(" ", 5000) {
		t.Fatalf("%s at version %d has items of %s and %.10s", org, s.version, s.first, s.second)
	}
}

// checkAll looks again for everything ever acknowledged.
func (l *ledger) checkAll(t *testing.T, db store.Driver) {
	t.Helper()
	l.check(t, db)
	for org, ids := range l.all {
		list, err := db.Activities(t.Context(), org, store.ActivityQuery{Types: []string{typeAppend}})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, a := range list {
			have[a.ID] = true
		}
		for id := range ids {
			if !have[id] {
				t.Errorf("%s: %s was acknowledged and is gone", org, id)
			}
		}
	}
}
