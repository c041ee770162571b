package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// decide lets each of steps decide on one of the next commits, and the last one on all
// after it, until the test has called what it returns.
func (d *gatedDriver) decide(steps ...func(ctx context.Context, c *store.Commit) error) (end func()) {
	var commits atomic.Int64
	gate := func(ctx context.Context, c *store.Commit) error {
		return steps[min(int(commits.Add(1)), len(steps))-1](ctx, c)
	}
	d.commit.Store(&gate)
	return func() { d.commit.Store(nil) }
}

// conflicts refuses a commit, so that its transaction stands in the pipeline.
func conflicts(context.Context, *store.Commit) error { return store.ErrConflict }

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
					defer d.decide(conflicts, func(ctx context.Context, c *store.Commit) error {
						c = queued(c)
						close(isQueued)
						<-release
						return outcome.commit(ctx, d.Driver, c)
					}, d.Driver.Commit)()
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

// TestPipelineInDoubt lets a caller go away while a writer has its commit: what it
// wrote is not on its way any more, and not in the database yet. One that runs on a
// later state must not commit what it then reads.
func TestPipelineInDoubt(t *testing.T) {
	for name, ahead := range map[string]bool{"in turn": false, "ahead": true} {
		t.Run(name, func(t *testing.T) {
			eachGated(t, func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) store.Table[note]) {
				update := func(fn func(notes store.Table[note]) error) error {
					return s.Update(t.Context(), org, func(tx *store.Tx) error { return fn(notes(tx)) })
				}
				insert := func(id string) error {
					return update(func(notes store.Table[note]) error { return notes.Insert(&note{ID: id, Name: id}) })
				}
				must(t, insert("code"))
				goesAway, isWritten, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
				queuedFirst, queuedSecond := make(chan struct{}), make(chan struct{})
				var first *store.Commit
				defer d.decide(conflicts, func(_ context.Context, c *store.Commit) error {
					first = queued(c)
					close(queuedFirst)
					<-goesAway
					return context.Canceled
				}, func(ctx context.Context, c *store.Commit) error { // the writer has it together with the first
					c = queued(c)
					close(queuedSecond)
					<-isWritten
					defer close(written)
					return errors.Join(d.Driver.Commit(context.WithoutCancel(ctx), first), d.Driver.Commit(ctx, c))
				}, func(ctx context.Context, c *store.Commit) error {
					c = queued(c)
					<-written
					return d.Driver.Commit(ctx, c)
				})()
				var wait sync.WaitGroup
				gone := make(chan struct{})
				wait.Go(func() {
					defer close(gone)
					if err := update(func(notes store.Table[note]) error {
						return notes.Edit("code", func(n *note) error { n.Text = "used"; return nil })
					}); !errors.Is(err, context.Canceled) {
						t.Errorf("the first: %v", err)
					}
				})
				<-queuedFirst
				wait.Go(func() { _ = insert("second") })
				<-queuedSecond
				passes := make(chan struct{})
				if ahead { // another one has the turn
					runs := make(chan struct{})
					begins := sync.OnceFunc(func() { close(runs) })
					wait.Go(func() {
						_ = update(func(notes store.Table[note]) error {
							begins()
							<-passes
							return notes.Insert(&note{ID: "third", Name: "third"})
						})
					})
					<-runs
				}
				runs, read := make(chan struct{}), make(chan struct{})
				begins, reads := sync.OnceFunc(func() { close(runs) }), sync.OnceFunc(func() { close(read) })
				wait.Go(func() {
					var saw string
					if err := update(func(notes store.Table[note]) error {
						begins()
						<-gone
						defer reads()
						return notes.Edit("code", func(n *note) error { saw, n.Text = n.Text, "used again"; return nil })
					}); err != nil || saw != "used" {
						t.Errorf("it ended with %v, and rests on %q", err, saw)
					}
				})
				<-runs
				close(goesAway)
				<-read
				close(passes)
				close(isWritten)
				wait.Wait()
			})
		})
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
		end := d.decide(failAtRandom(d))
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
		end()
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

// TestAhead lets many change different things of one organization at once, some of
// which fail. All that was committed is then done again, one after the other by
// version, on a model: each must have read what was there at its version, also if it
// ran ahead.
func TestAhead(t *testing.T) {
	for name, failing := range map[string]bool{"all succeed": false, "some fail": true} {
		t.Run(name, func(t *testing.T) {
			eachGated(t, func(t *testing.T, s *store.Store, d *gatedDriver, org string, notes func(*store.Tx) store.Table[note]) {
				end := func() {}
				if failing {
					end = d.decide(failAtRandom(d))
				}
				const writers, rounds = 16, 24
				var mu sync.Mutex
				var all []*step
				var wait sync.WaitGroup
				for w := range writers {
					wait.Go(func() {
						for round := range rounds {
							one := newStep(fmt.Sprintf("%s %d.%d", t.Name(), w, round))
							err := s.Update(t.Context(), org, func(tx *store.Tx) error {
								one.tx, one.ranAhead = tx, tx.RunsAheadForTest()
								return one.do(stored{tx, notes(tx)})
							})
							if err != nil && !failing {
								t.Error(err)
							}
							mu.Lock()
							all = append(all, one)
							mu.Unlock()
						}
					})
				}
				wait.Wait()
				end()
				must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
					all = slices.DeleteFunc(all, func(one *step) bool {
						there, err := tx.Ciphertexts().Sealed(one.token)
						must(t, err)
						return there == nil
					})
					return nil
				}))
				slices.SortFunc(all, func(a, b *step) int { return strings.Compare(a.version(), b.version()) })
				m := model{notes: map[string]string{}, sealed: map[string]string{}}
				ahead := 0
				for _, one := range all {
					again := *one
					must(t, again.do(m))
					if again.saw != one.saw {
						t.Errorf("%s, at version %s, ahead %t, saw %q; there was %q", one.token, one.version(), one.ranAhead, one.saw, again.saw)
					}
					if one.ranAhead {
						ahead++
					}
				}
				if len(all) < writers || ahead == 0 && !failing && strings.HasSuffix(t.Name(), "/stored") {
					t.Errorf("of %d changes %d ran ahead", len(all), ahead)
				}
			})
		})
	}
}

// TestVotesInPipeline lets many vote on one activity while others change the
// organization: no vote is lost, also if it is by the bytes of the request.
func TestVotesInPipeline(t *testing.T) {
	eachGated(t, func(t *testing.T, s *store.Store, _ *gatedDriver, org string, notes func(*store.Tx) store.Table[note]) {
		const voters, rounds = 6, 12
		request := &domain.Activity{ID: ids.New(), TimestampMs: 1, Fingerprint: sha256.Sum256([]byte(t.Name())), Status: domain.StatusConsensusNeeded}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Record(request, store.LogDigests{}) }))
		recorded := func(tx *store.Tx) (*domain.Activity, error) {
			return tx.Recorded(request.TimestampMs, request.Fingerprint)
		}
		var wait sync.WaitGroup
		for w := range voters {
			wait.Go(func() {
				for round := range rounds {
					id := fmt.Sprintf("%d.%d", w, round)
					if err := s.Update(t.Context(), org, func(tx *store.Tx) error {
						a, err := recorded(tx)
						if err != nil {
							return err
						}
						a.Votes = append(a.Votes, domain.Vote{UserID: id})
						return tx.Replace(a, store.LogDigests{})
					}); err != nil {
						t.Error(err)
					}
				}
			})
			wait.Go(func() {
				for round := range rounds {
					id := fmt.Sprintf("%d.%d", w, round)
					if err := s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: id, Name: id}) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			a, err := recorded(tx)
			must(t, err)
			if len(a.Votes) != voters*rounds {
				t.Errorf("%d votes, not %d", len(a.Votes), voters*rounds)
			}
			return nil
		}))
	})
}

// failAtRandom lets commits fail, before and after they were made.
func failAtRandom(d *gatedDriver) func(ctx context.Context, c *store.Commit) error {
	return func(ctx context.Context, c *store.Commit) error {
		switch rand.IntN(8) {
		case 0:
			queued(c)
			time.Sleep(time.Millisecond) // others run on what it would have made
			return errors.New("lost before it was made")
		case 1:
			return errors.Join(d.Driver.Commit(ctx, c), errors.New("lost after it was made"))
		case 2:
			return store.ErrConflict
		}
		return d.Driver.Commit(ctx, c)
	}
}

// step reads something of an organization, and writes something that follows from it.
type step struct {
	token      string
	reads      int    // how
	from, to   string // ids
	saw        string
	tx         *store.Tx // the last one that did it
	ranAhead   bool
	isInserted bool // what was written is listed
}

func newStep(token string) *step {
	const rows = 64
	id := func() string { return fmt.Sprintf("%s %02d", token[:strings.IndexByte(token, ' ')], rand.IntN(rows)) }
	return &step{token: token, reads: rand.IntN(4), from: id(), to: id(), isInserted: rand.IntN(8) == 0}
}

// version is that of the transaction, as a text in order.
func (s *step) version() string { return fmt.Sprintf("%8s", s.tx.VersionForTest()) }

func (s *step) do(in organization) (err error) {
	switch s.reads {
	case 0:
		s.saw, err = in.note(s.from)
	case 1:
		s.saw, err = in.named(s.from)
	case 2:
		s.saw, err = in.listed()
	case 3:
		s.saw, err = in.ciphertext(s.from)
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("of%.4x", sha256.Sum256([]byte(s.token+s.saw)))
	if s.isInserted {
		text = "listed " + text
	}
	if err := in.setNote(s.to, text); err != nil {
		return err
	}
	return errors.Join(in.setCiphertext(s.to, text), in.setCiphertext(s.token, "done"))
}

// organization is what a step works on.
type organization interface {
	note(id string) (text string, err error)
	named(name string) (text string, err error)
	listed() (ids string, err error)
	ciphertext(name string) (string, error)
	setNote(id, text string) error
	setCiphertext(name, text string) error
}

// stored is an organization in a store.
type stored struct {
	tx    *store.Tx
	notes store.Table[note]
}

func textOf(n *note, err error) (string, error) {
	if err != nil || n == nil {
		return "", err
	}
	return n.Text, nil
}

func (s stored) note(id string) (string, error) {
	return store.Derived(s.tx, "text of "+id, func() (string, error) { return textOf(s.notes.Lookup(id)) })
}

func (s stored) named(name string) (string, error) { return textOf(s.notes.Find("name", name)) }

func (s stored) listed() (string, error) {
	list, err := s.notes.ListBy("text", "listed", "", 0)
	found := ""
	for _, n := range list {
		found += n.ID + ";"
	}
	return found, err
}

func (s stored) ciphertext(name string) (string, error) {
	body, err := s.tx.Ciphertexts().Sealed(name)
	return string(body), err
}

func (s stored) setNote(id, text string) error {
	there, err := s.notes.Lookup(id)
	if err != nil {
		return err
	}
	if there == nil {
		return s.notes.Insert(&note{ID: id, Name: id, Text: text})
	}
	return s.notes.Edit(id, func(n *note) error { n.Text = text; return nil })
}

func (s stored) setCiphertext(name, text string) error {
	return s.tx.Ciphertexts().Seal(name, []byte(text))
}

// model is an organization as it should be.
type model struct{ notes, sealed map[string]string }

func (m model) note(id string) (string, error)         { return m.notes[id], nil }
func (m model) named(name string) (string, error)      { return m.notes[name], nil }
func (m model) ciphertext(name string) (string, error) { return m.sealed[name], nil }
func (m model) setNote(id, text string) error          { m.notes[id] = text; return nil }
func (m model) setCiphertext(name, text string) error  { m.sealed[name] = text; return nil }
func (m model) listed() (found string, err error) {
	for _, id := range slices.Sorted(maps.Keys(m.notes)) {
		if strings.HasPrefix(m.notes[id], "listed ") {
			found += id + ";"
		}
	}
	return found, nil
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
