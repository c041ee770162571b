package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/store"
	"latchkey/internal/store/storetest"
)

// lookups counts the entries of indexes that were looked up alone, and in bulk.
type lookups struct {
	store.Driver
	alone, inBulk atomic.Int64
}

func (l *lookups) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) ([]store.IndexRow, error) {
	found, err := l.Driver.ScanIndex(ctx, org, kind, r, of)
	switch {
	case r.Limit != 1:
		l.inBulk.Add(int64(len(found)))
	case r.From == of.Prefix: // else it goes on behind a row that is not used
		l.alone.Add(1)
	}
	return found, err
}

// shelf is notes with ciphertexts, which are found by a word.
type shelf struct {
	t   *testing.T
	org string
}

func (b shelf) in(tx *store.Tx) store.Table[note] {
	return store.In(tx, kinds()["stored"]).WithCiphertexts("key/")
}

// find returns the name and the ciphertext of the first note with a word.
func (b shelf) find(s *store.Store, word string) (text string, err error) {
	err = s.View(b.t.Context(), b.org, func(tx *store.Tx) error {
		text = "no note"
		found, err := b.in(tx).ListBy("text", word, "", 1)
		if err != nil || len(found) == 0 {
			return err
		}
		sealed, err := tx.Ciphertexts().Sealed("key/" + found[0].ID)
		text = found[0].Name + " " + string(sealed)
		return err
	})
	return text, err
}

func (b shelf) want(s *store.Store, word, text string) {
	b.t.Helper()
	if got, err := b.find(s, word); got != text || err != nil {
		b.t.Errorf("of %q: %q, want %q (%v)", word, got, text, err)
	}
}

func (b shelf) change(s *store.Store, fn func(*store.Tx) error) {
	b.t.Helper()
	must(b.t, s.Update(b.t.Context(), b.org, fn))
}

// word has the units first: the first words have less in common than all.
func word(i int) string { return fmt.Sprintf("w%d%d", i%10, i/10) }

// ofWord is what is found by a word.
func ofWord(i int) string { return fmt.Sprintf("n%02d of %s", i, word(i)) }

// fill makes notes, of which each has a word.
func (b shelf) fill(s *store.Store, n int) {
	b.change(s, func(tx *store.Tx) (err error) {
		for i := range n {
			id := fmt.Sprintf("n%02d", i)
			err = errors.Join(err, b.in(tx).Insert(&note{ID: id, Name: id, Text: word(i)}), tx.Ciphertexts().Seal("key/"+id, []byte("of "+word(i))))
		}
		return err
	})
}

// TestBulk: after some lookups those of the same kind are answered from what was read
// together, but never with what was changed since.
func TestBulk(t *testing.T) {
	eachDriver(t, func(t *testing.T, first *store.Store, driver store.Driver, org string) {
		b, counted := shelf{t, org}, &lookups{Driver: driver}
		const all = 60
		b.fill(first, all)
		must(t, first.Update(t.Context(), org, func(tx *store.Tx) error { // read with the others, of no use to those who look for a word
			return b.in(tx).Insert(&note{ID: "n99", Name: "n99", Text: "longer"})
		}))
		s := b.bulked(counted)
		if counted.alone.Load() != store.BulkAfter || counted.inBulk.Load() < all {
			t.Fatalf("looked up %d alone, and read %d in bulk", counted.alone.Load(), counted.inBulk.Load())
		}

		b.change(s, func(tx *store.Tx) error { // another version
			return b.in(tx).Insert(&note{ID: "n98", Name: "n98", Text: "more"})
		})
		for i := store.BulkAfter; i < 40; i++ {
			b.want(s, word(i), ofWord(i))
		}
		if n := counted.alone.Load(); n != store.BulkAfter {
			t.Errorf("looked up %d alone that had been read in bulk", n-store.BulkAfter)
		}
		b.want(s, word(39), ofWord(39)) // again: the caller that was given it keeps what it made
		if n := counted.alone.Load(); n != store.BulkAfter+1 {
			t.Errorf("looked up %d alone, of which one had been taken from the bulk", n-store.BulkAfter)
		}
		b.want(s, word(40)+"0", "no note")
		b.want(s, "longer", "n99 ")

		// What was changed since.
		b.change(s, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/n41", []byte("new")) })
		b.want(s, word(41), "n41 new")
		b.change(s, func(tx *store.Tx) error { return b.in(tx).Delete("n42") })
		b.want(s, word(42), "no note")
		b.change(s, func(tx *store.Tx) error {
			return b.in(tx).Edit("n43", func(n *note) error { n.Text = word(44); return nil })
		})
		b.want(s, word(43), "no note")
		b.want(s, word(44), ofWord(43)) // it comes before its own
		b.change(s, func(tx *store.Tx) error { return tx.Ciphertexts().Delete("key/n45") })
		b.want(s, word(45), "n45 ")
		b.change(s, func(tx *store.Tx) error {
			return b.in(tx).Edit("n46", func(n *note) error { n.Name = "renamed"; return nil })
		})
		b.want(s, word(46), "renamed of "+word(46))
		// In a transaction, what it wrote itself.
		b.change(s, func(tx *store.Tx) error {
			must(t, b.in(tx).Delete("n47"))
			if found, err := b.in(tx).ListBy("text", word(47), "", 1); len(found) > 0 || err != nil {
				t.Errorf("what the transaction deleted is found: %v", err)
			}
			tx.Discard()
			return nil
		})
		b.want(s, word(47), ofWord(47))
		// By another server.
		b.change(first, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/n48", []byte("newer")) })
		b.want(s, word(48), "n48 newer")
		b.want(s, word(49), ofWord(49))
	})
}

func isIntegrity(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Reason == fault.ReasonIntegrity
}

// bulking returns a store that has just begun to read in bulk the notes whose words have
// two digits.
func (b shelf) bulking(driver store.Driver) *store.Store {
	b.t.Helper()
	s := storetest.Store(b.t, driver)
	for i := range store.BulkAfter {
		b.want(s, word(i), ofWord(i))
	}
	return s
}

// bulked returns one that has read them.
func (b shelf) bulked(driver store.Driver) *store.Store {
	b.t.Helper()
	s := b.bulking(driver)
	s.AwaitBulk()
	return s
}

// TestBulkOfOthers: a bulk answers a caller that looks for one record by a whole key, in
// the index and with the ciphertexts of which it is.
func TestBulkOfOthers(t *testing.T) {
	eachDriver(t, func(t *testing.T, first *store.Store, driver store.Driver, org string) {
		b := shelf{t, org}
		b.fill(first, 20)
		other := *kinds()["stored"]
		other.Name = "note-other"
		b.change(first, func(tx *store.Tx) (err error) {
			for i := range 3 {
				id := fmt.Sprint("p", i)
				err = errors.Join(err, b.in(tx).Insert(&note{ID: id, Name: id, Text: "w99"}), tx.Ciphertexts().Seal("key/"+id, []byte(id)))
			}
			return errors.Join(err, tx.Ciphertexts().Seal("seed/n10", []byte("seed")),
				store.In(tx, &other).Insert(&note{ID: "n10", Name: "other", Text: word(10)}))
		})
		for name, find := range map[string]struct {
			list func(tx *store.Tx) ([]*note, error)
			want string
		}{
			"a page": {func(tx *store.Tx) ([]*note, error) { return b.in(tx).ListBy("text", "w99", "p0", 1) }, "p1"},
			"all":    {func(tx *store.Tx) ([]*note, error) { return b.in(tx).ListBy("text", "w99", "", 0) }, "p0 p1 p2"},
			"two":    {func(tx *store.Tx) ([]*note, error) { return b.in(tx).ListBy("text", "w99", "", 2) }, "p0 p1"},
			"another kind": {func(tx *store.Tx) ([]*note, error) {
				return store.In(tx, &other).WithCiphertexts("key/").ListBy("text", word(10), "", 1)
			}, "other"},
			"another ciphertext": {func(tx *store.Tx) ([]*note, error) {
				found, err := store.In(tx, kinds()["stored"]).WithCiphertexts("seed/").ListBy("text", word(10), "", 1)
				sealed, problem := tx.Ciphertexts().Sealed("seed/n10")
				return append(found, &note{Name: string(sealed)}), errors.Join(err, problem)
			}, "n10 seed"},
		} {
			s := b.bulked(driver)
			var names []string
			must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
				found, err := find.list(tx)
				for _, n := range found {
					names = append(names, n.Name)
				}
				return err
			}))
			if got := strings.Join(names, " "); got != find.want {
				t.Errorf("%s: %q, want %q", name, got, find.want)
			}
		}
	})
}

// TestBulkAndPending: a transaction on a state that is not committed yet has nothing read
// in bulk, which would be taken for what belongs to that state.
func TestBulkAndPending(t *testing.T) {
	eachDriver(t, func(t *testing.T, first *store.Store, driver store.Driver, org string) {
		b, d := shelf{t, org}, &gatedDriver{Driver: driver}
		b.fill(first, 20)
		s := storetest.Store(t, d)
		changed, looked := make(chan struct{}), make(chan struct{})
		end := d.decide(conflicts, func(ctx context.Context, c *store.Commit) error {
			c = queued(c)
			close(changed)
			<-looked
			s.AwaitBulk()
			return d.Driver.Commit(ctx, c)
		}, func(ctx context.Context, c *store.Commit) error { return d.Driver.Commit(ctx, c) })
		defer end()
		var both sync.WaitGroup
		both.Go(func() {
			b.change(s, func(tx *store.Tx) error {
				return errors.Join(tx.Ciphertexts().Seal("key/n14", []byte("new")), tx.Ciphertexts().Seal("key/n15", []byte("new")))
			})
		})
		<-changed
		looks := sync.OnceFunc(func() { close(looked) })
		both.Go(func() {
			b.change(s, func(tx *store.Tx) error {
				for i := range store.BulkAfter {
					if found, err := b.in(tx).ListBy("text", word(i), "", 1); err != nil || len(found) != 1 {
						return errors.Join(err, errors.New("not found"))
					}
				}
				sealed, err := tx.Ciphertexts().Sealed("key/n14")
				if string(sealed) != "new" {
					t.Errorf("it does not run on what is not committed: %q", sealed)
				}
				looks()
				return errors.Join(err, tx.Ciphertexts().Seal("key/n16", []byte("newer")))
			})
		})
		both.Wait()
		b.want(s, word(15), "n15 new")
		b.want(s, word(16), "n16 newer")
	})
}

// TestBulkIsBounded: what is read begins as what was looked up, in as many steps as
// that takes, up to a number of bytes.
func TestBulkIsBounded(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		const each = 600
		b := shelf{t, org}
		b.change(s, func(tx *store.Tx) (err error) {
			for i := range each {
				err = errors.Join(err, b.in(tx).Insert(&note{
					ID: fmt.Sprintf("n%03d", i), Name: fmt.Sprint(i), Text: fmt.Sprintf("a%03d b%03d c%03d", i, i, i),
				}))
			}
			return err
		})
		of := store.Reference{Prefix: "b000\x1f", Kind: "note-stored", WithKind: "sealed", WithPrefix: "key/"}
		read := func(common string, most int) (int, int) {
			n, size, err := store.ReadBulk(t.Context(), driver, org, "note-stored.text", of, common, most)
			must(t, err)
			return n, size
		}
		if n, _ := read("", 1<<20); n != 3*each {
			t.Errorf("read %d of all", n)
		}
		n, size := read("b", 1<<20)
		if n != each {
			t.Errorf("read %d that begin with b", n)
		}
		for most, want := range map[int]int{size: each, size - 1: each - 1, 0: 0} {
			if n, took := read("b", most); n != want || took > most {
				t.Errorf("read %d, of %d bytes, want %d of at most %d", n, took, want, most)
			}
		}
	})
}

// TestBulkOfForeignRows: what another program wrote is found out although it was read
// in bulk, and costs only the callers that need it; what was put right since is used.
func TestBulkOfForeignRows(t *testing.T) {
	eachDriver(t, func(t *testing.T, first *store.Store, driver store.Driver, org string) {
		b := shelf{t, org}
		b.fill(first, 20)
		var rows, foreign []store.StoredBody
		for i := 10; i < 16; i += 3 {
			rows = append(rows, store.StoredBody{Kind: "note-stored.text", ID: fmt.Sprintf("%s\x1fn%d", word(i), i)},
				store.StoredBody{Kind: "note-stored", ID: fmt.Sprint("n", i+1)}, store.StoredBody{Kind: "sealed", ID: fmt.Sprint("key/n", i+2)})
		}
		for i := range rows {
			body, err := driver.Get(t.Context(), org, rows[i].Kind, rows[i].ID)
			must(t, err)
			rows[i].Body = body
			changed := rows[i]
			changed.Body = bytes.Clone(body)
			changed.Body[len(body)-1]++
			foreign = append(foreign, changed)
		}
		must(t, driver.ReplaceBodies(t.Context(), org, foreign))
		counted := &lookups{Driver: driver}
		s := b.bulked(counted)
		found := 0
		s.OnFinding(func(store.Finding) { found++ })
		must(t, driver.ReplaceBodies(t.Context(), org, rows[3:]))
		for i := store.BulkAfter; i < 20; i++ {
			if i < 10 || i > 12 {
				b.want(s, word(i), ofWord(i))
			} else if got, err := b.find(s, word(i)); !isIntegrity(err) {
				t.Errorf("of %s: %q, %v", word(i), got, err)
			}
		}
		if found != 3 {
			t.Errorf("%d findings", found)
		}
		if n := counted.alone.Load() - store.BulkAfter; n != 6 {
			t.Errorf("looked up %d alone", n)
		}
	})
}

// TestBulkBesideChanges: a caller that looks beside changes, of this server and of
// another one, and beside bulks, finds nothing older than what was committed before.
func TestBulkBesideChanges(t *testing.T) {
	eachDriver(t, func(t *testing.T, other *store.Store, driver store.Driver, org string) {
		const notes, rounds = 30, 40
		b := shelf{t, org}
		b.fill(other, notes)
		counted := &lookups{Driver: driver}
		s := storetest.Store(t, counted)
		var committed [notes]atomic.Int64
		set := func(by *store.Store, i int, to int64) {
			id := fmt.Sprintf("n%02d", i)
			b.change(by, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/"+id, []byte(strconv.FormatInt(to, 10))) })
			committed[i].Store(to)
		}
		for i := range notes {
			set(s, i, 1)
		}
		done := make(chan struct{})
		var looking sync.WaitGroup
		for range 4 {
			looking.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					s.HurryBulks()
					i := rand.IntN(notes)
					before := committed[i].Load()
					text, err := b.find(s, word(i))
					_, number, _ := strings.Cut(text, " ")
					if n, _ := strconv.ParseInt(number, 10, 64); err != nil || n < before {
						t.Errorf("of %s: %s, after %d (%v)", word(i), text, before, err)
						return
					}
				}
			})
		}
		for to := range int64(rounds) {
			by := s
			if to%8 == 7 {
				by = other
			}
			set(by, rand.IntN(notes), to+2)
		}
		close(done)
		looking.Wait()
		if counted.inBulk.Load() == 0 {
			t.Error("nothing was read in bulk")
		}
	})
}
