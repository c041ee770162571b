package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/pgtest"
)

// gatedDriver lets a test decide what becomes of commits.
type gatedDriver struct {
	store.Driver
	// commit is called in place of the driver's, once the commit is queued as far as
	// its transaction can tell; nil: the driver's is called.
	commit   atomic.Pointer[func(ctx context.Context, c *store.Commit) error]
	followed atomic.Int64 // commits that rested on one that was on its way
}

func (d *gatedDriver) Commit(ctx context.Context, c *store.Commit) error {
	for _, f := range c.Follows {
		if f.Kind == "head" {
			d.followed.Add(1)
		}
	}
	if commit := d.commit.Load(); commit != nil {
		return (*commit)(ctx, c)
	}
	return d.Driver.Commit(ctx, c)
}

// queued tells the transaction of a commit that it is queued, and returns what is left
// of it.
func queued(c *store.Commit) *store.Commit {
	c.During()
	rest := *c
	rest.During = nil
	return &rest
}

// eachGated is [eachKind] with a driver that the test has in its hand.
func eachGated(t *testing.T, test func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) store.Table[note])) {
	eachDriver(t, func(t *testing.T, _ *store.Store, driver store.Driver, org string) {
		d := &gatedDriver{Driver: driver}
		s := storetest.Store(t, d)
		for name, kind := range kinds() {
			t.Run(name, func(t *testing.T) {
				test(t, s, d, org, func(tx *store.Tx) store.Table[note] { return store.In(tx, kind) })
			})
		}
	})
}

// TestPipeline lets many change one organization at once, beside others that only
// append: each sees what those before it did, and nothing happens twice or is lost.
func TestPipeline(t *testing.T) {
	eachGated(t, func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) store.Table[note]) {
		const writers, rounds = 16, 12
		const inserts = rounds * (writers/2 + 1)
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "sum", Name: "sum"}) }))
		var wait sync.WaitGroup
		var won atomic.Int64
		for w := range writers {
			wait.Go(func() {
				for round := range rounds {
					id := fmt.Sprintf("%02d-%02d", round, w)
					request := &domain.Activity{ID: ids.New(), TimestampMs: int64(w), Fingerprint: [32]byte{byte(round), byte(w), byte(len(t.Name()))}, Status: domain.StatusCompleted}
					err := s.Update(t.Context(), org, func(tx *store.Tx) error {
						if known, err := tx.Recorded(request.TimestampMs, request.Fingerprint); err != nil || known != nil {
							return errors.Join(err, errKnown)
						}
						if w%4 == 0 { // only appends
							return tx.Record(request, store.LogDigests{})
						}
						before, err := notes(tx).ListBy("text", "of", "", 0)
						if err != nil {
							return err
						}
						sum, err := notes(tx).Get("sum")
						if err != nil {
							return err
						}
						if listed := len(before); listed != len(strings.Fields(sum.Text)) {
							return fmt.Errorf("%d notes are listed, and the sum says %q", listed, sum.Text)
						}
						name := id
						if w%4 == 1 { // of these one gets the name
							name = fmt.Sprint("round ", round)
						}
						if err := notes(tx).Insert(&note{ID: id, Name: name, Text: "of"}); err != nil {
							return err
						}
						if err := notes(tx).Edit("sum", func(n *note) error { n.Text += " " + id; return nil }); err != nil {
							return err
						}
						return tx.Record(request, store.LogDigests{})
					})
					switch refusal, refused := fault.As(err); {
					case err == nil && w%4 != 0:
						won.Add(1)
					case err != nil && (!refused || refusal.Code != fault.AlreadyExists || w%4 != 1):
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if won.Load() != inserts {
			t.Errorf("%d inserts, not %d", won.Load(), inserts)
		}
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			list, err := notes(tx).ListBy("text", "of", "", 0)
			must(t, err)
			sum, err := notes(tx).Get("sum")
			must(t, err)
			if len(list) != inserts || len(strings.Fields(sum.Text)) != inserts {
				t.Errorf("%d notes; the sum is %q", len(list), sum.Text)
			}
			return nil
		}))
		if d.followed.Load() == 0 {
			t.Error("no commit followed one that was on its way")
		}
	})
}

// TestPipelineRestsOnWhatCameAbout holds a change back while another one runs on what
// it makes. What the other one is told follows from what became of the first.
func TestPipelineRestsOnWhatCameAbout(t *testing.T) {
	errLost := errors.New("the database is gone")
	outcomes := map[string]struct {
		commit func(ctx context.Context, d store.Driver, c *store.Commit) error
		there  bool // afterwards
	}{
		"committed": {func(ctx context.Context, d store.Driver, c *store.Commit) error { return d.Commit(ctx, c) }, true},
		"failed":    {func(context.Context, store.Driver, *store.Commit) error { return errLost }, false},
		"in doubt, and there": {func(ctx context.Context, d store.Driver, c *store.Commit) error {
			return errors.Join(d.Commit(ctx, c), errLost)
		}, true},
	}
	type table = store.Table[note]
	followers := map[string]struct {
		run func(notes table) error
		// what it is told if the first is there, and if it is not; 0: that it is done
		there, missing fault.Code
	}{
		"takes the same name":    {func(notes table) error { return notes.Insert(&note{ID: "b", Name: "the name"}) }, fault.AlreadyExists, 0},
		"takes another name":     {func(notes table) error { return notes.Insert(&note{ID: "b", Name: "another"}) }, 0, 0},
		"reads, writes nothing":  {func(notes table) error { _, err := notes.Get("a"); return err }, 0, fault.NotFound},
		"lists, writes nothing":  {func(notes table) error { return wantOne(notes.List("", 1)) }, 0, fault.NotFound},
		"deletes what was there": {func(notes table) error { return notes.Delete("a") }, 0, fault.NotFound},
	}
	for outcomeName, outcome := range outcomes {
		for followerName, follower := range followers {
			t.Run(outcomeName+"/"+followerName, func(t *testing.T) {
				eachGated(t, func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) table) {
					isQueued, release, ran := make(chan struct{}), make(chan struct{}), make(chan struct{})
					var commits atomic.Int64
					gate := func(ctx context.Context, c *store.Commit) error {
						switch commits.Add(1) {
						case 1: // so that it stands in the pipeline
							return store.ErrConflict
						case 2:
							c = queued(c)
							close(isQueued)
							<-release
							return outcome.commit(ctx, d.Driver, c)
						}
						return d.Driver.Commit(ctx, c)
					}
					d.commit.Store(&gate)
					defer d.commit.Store(nil)
					var wait sync.WaitGroup
					var first, second error
					var released atomic.Bool
					wait.Go(func() {
						first = s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "a", Name: "the name"}) })
					})
					<-isQueued
					wait.Go(func() {
						once := sync.OnceFunc(func() { close(ran) })
						second = s.Update(t.Context(), org, func(tx *store.Tx) error {
							defer once()
							return follower.run(notes(tx))
						})
						if !released.Load() {
							t.Error("it was told something that rests on what was not committed")
						}
					})
					<-ran
					released.Store(true)
					close(release)
					wait.Wait()
					if (first == nil) != (outcomeName == "committed") {
						t.Errorf("the first: %v", first)
					}
					want := follower.missing
					if outcome.there {
						want = follower.there
					}
					if want == 0 {
						must(t, second)
					} else {
						wantCode(t, second, want)
					}
				})
			})
		}
	}
}

// wantOne is an error unless a list has one record.
func wantOne(list []*note, err error) error {
	if err == nil && len(list) != 1 {
		err = fault.Missing("there is none")
	}
	return err
}

// TestPipelineFails lets commits of a busy organization fail at random, before and
// after they were made: what was acknowledged is there once, what was refused is not,
// and a refusal had its reason.
func TestPipelineFails(t *testing.T) {
	eachGated(t, func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) store.Table[note]) {
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "log", Name: "log"}) }))
		gate := func(ctx context.Context, c *store.Commit) error {
			switch rand.IntN(8) {
			case 0:
				queued(c)
				return errors.New("lost before it was made")
			case 1:
				return errors.Join(d.Driver.Commit(ctx, c), errors.New("lost after it was made"))
			case 2:
				return store.ErrConflict
			}
			return d.Driver.Commit(ctx, c)
		}
		d.commit.Store(&gate)
		const writers, rounds = 12, 10
		var mu sync.Mutex
		outcomes := map[string]error{} // by token
		taken := map[string]bool{}     // names that were refused
		var wait sync.WaitGroup
		for w := range writers {
			wait.Go(func() {
				for round := range rounds {
					token, name := fmt.Sprintf("%d.%d", round, w), fmt.Sprint("round ", round)
					err := s.Update(t.Context(), org, func(tx *store.Tx) error {
						text, err := derivedText(tx, t.Name(), notes(tx), "log")
						if err != nil {
							return err
						}
						if err := notes(tx).Insert(&note{ID: token, Name: name}); err != nil {
							return err
						}
						return notes(tx).Edit("log", func(n *note) error { n.Text = text + " " + token; return nil })
					})
					mu.Lock()
					outcomes[token] = err
					if refusal, ok := fault.As(err); ok && refusal.Code == fault.AlreadyExists {
						taken[name] = true
					}
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		d.commit.Store(nil)
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			log, err := notes(tx).Get("log")
			must(t, err)
			seen := map[string]int{}
			for _, token := range strings.Fields(log.Text) {
				seen[token]++
			}
			for token, err := range outcomes {
				n, lookupErr := notes(tx).Lookup(token)
				must(t, lookupErr)
				refusal, ok := fault.As(err)
				refused := ok && refusal.Code == fault.AlreadyExists
				if there := n != nil; there != (seen[token] == 1) || seen[token] > 1 || err == nil && !there || refused && there {
					t.Errorf("%s ended with %v, is there %d times in the log, as a note: %v", token, err, seen[token], n)
				}
			}
			for name := range taken {
				if n, err := notes(tx).Find("name", name); err != nil || n == nil {
					t.Errorf("%q was refused as taken, and no note has it (%v)", name, err)
				}
			}
			return nil
		}))
	})
}

// derivedText is the text of a note, derived under a name; it must be that of the
// transaction's state.
func derivedText(tx *store.Tx, name string, notes store.Table[note], id string) (string, error) {
	return store.Derived(tx, name, func() (string, error) {
		n, err := notes.Get(id)
		if err != nil {
			return "", err
		}
		return n.Text, nil
	})
}

// TestPipelinesOnNodes lets two nodes change one organization, each with a pipeline of
// its own.
func TestPipelinesOnNodes(t *testing.T) {
	url := pgtest.URL(t)
	var nodes []*store.Store
	for range 2 {
		driver, err := postgres.Open(t.Context(), url, postgres.Config{})
		must(t, err)
		s := storetest.Store(t, driver)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		nodes = append(nodes, s)
	}
	org := ids.New()
	must(t, nodes[0].CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
		return tx.Organizations().Insert(&domain.Organization{ID: org, Name: "Test"})
	}))
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			notes := func(tx *store.Tx) store.Table[note] { return store.In(tx, kind) }
			must(t, nodes[0].Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "n", Name: "n"}) }))
			const writers, rounds = 6, 10
			var wait sync.WaitGroup
			for w := range 2 * writers {
				wait.Go(func() {
					for round := range rounds {
						if err := nodes[w%2].Update(t.Context(), org, func(tx *store.Tx) error {
							text, err := derivedText(tx, t.Name(), notes(tx), "n")
							if err != nil {
								return err
							}
							if err := notes(tx).Insert(&note{ID: fmt.Sprintf("%d-%d", w, round), Name: fmt.Sprintf("%d-%d", w, round)}); err != nil {
								return err
							}
							return notes(tx).Edit("n", func(n *note) error { n.Text = text + "x"; return nil })
						}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			for _, s := range nodes {
				must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
					n, err := notes(tx).Get("n")
					must(t, err)
					list, err := notes(tx).List("", 0)
					must(t, err)
					if len(n.Text) != 2*writers*rounds || len(list) != 2*writers*rounds+1 {
						t.Errorf("%d changes and %d notes, not %d", len(n.Text), len(list), 2*writers*rounds)
					}
					return nil
				}))
			}
		})
	}
}
