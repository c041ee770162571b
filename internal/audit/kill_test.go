package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/ledger"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/test/servertest"
)

// dying is a driver of a process that is killed at one of its commits, just before
// or just after the database made it durable. It has no other one after that.
type dying struct {
	store.Driver
	after bool // it dies after the commit, which is not acknowledged

	mu   sync.Mutex
	left int // commits until then; 0: it is dead
}

var errDead = errors.New("the process is dead")

// Commit implements [store.Driver].
func (d *dying) Commit(ctx context.Context, c *store.Commit) error {
	d.mu.Lock()
	if d.left > 0 {
		d.left--
	}
	dead := d.left == 0
	dies := dead && d.after
	d.after = d.after && !dies
	d.mu.Unlock()
	if dead && !dies {
		return errDead
	}
	return errors.Join(d.Driver.Commit(ctx, c), deadIf(dies))
}

func deadIf(dies bool) error {
	if dies {
		return errDead
	}
	return nil
}

// killed runs processes on a database, each of which records activities and puts
// them into the log.
type killed struct {
	t        *testing.T
	url      string
	config   config.Config
	root     *servertest.Caller
	key      client.PrivateKey
	clock    time.Time
	recorded []string // ids of what was acknowledged
}

func (k *killed) driver() store.Driver {
	k.t.Helper()
	var db store.Driver
	var err error
	if path, isFile := strings.CutPrefix(k.url, "sqlite:"); isFile {
		db, err = sqlite.Open(k.t.Context(), path, sqlite.Config{})
	} else {
		db, err = postgres.Open(k.t.Context(), k.url, postgres.Config{})
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return db
}

// process lives until its driver dies, or it has done its work. It reports whether
// it came to an end by itself.
func (k *killed) process(db store.Driver) (lived bool) {
	s := store.New(db)
	defer s.Close()
	discard := slog.New(slog.DiscardHandler)
	keys, err := server.OpenKeys(k.t.Context(), s, &k.config, discard)
	if err != nil {
		return false
	}
	defer keys.Vault.Close()
	log := ledger.New(ledger.Config{
		Store: s, Keys: keys.LogKeys, Log: discard, Node: "node", Installation: keys.Installation, Epochs: keys.Epochs, Memory: keys.State,
		Now: func() time.Time {
			k.clock = k.clock.Add(time.Second) // each checkpoint is due at once
			return k.clock
		},
		OnRefusal: func(reason string) { k.t.Errorf("refused: %s", reason) },
	})
	for range 2 {
		id, err := record(k.t, s, k.root, k.key, len(k.recorded))
		if err != nil {
			return false
		}
		k.recorded = append(k.recorded, id)
		if err := log.Advance(k.t.Context()); err != nil {
			return false
		}
	}
	return true
}

// TestKillAtEveryWrite kills a process before and after each of its commits. The
// next one goes on: nothing that was acknowledged is missing from the tree, and the
// audit finds nothing, neither before it starts nor after.
func TestKillAtEveryWrite(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		s := servertest.Start(t, url, config.Default())
		k := &killed{t: t, url: url, root: s.Root, key: s.Root.Key, clock: time.Now()}
		s.Stop(t)
		k.config = config.Default()
		k.config.Store, k.config.MasterKey = url, servertest.MasterKey(t, url)
		kills := 0
		for at, lived := 1, false; !lived; at++ {
			for _, after := range []bool{false, true} {
				lived = k.process(&dying{Driver: k.driver(), after: after, left: at})
				if !lived {
					kills++
				}
				if _, found := audited(t, url); len(found) > 0 {
					t.Fatalf("killed at commit %d: %+v", at, found)
				}
			}
		}
		if !k.process(k.driver()) {
			t.Fatal("a process that nothing kills does not live")
		}
		counts, found := audited(t, url)
		if len(found) > 0 || counts.Waiting > 0 {
			t.Errorf("in the end: %+v, %+v", counts, found)
		}
		all, damaged, err := exported(t, url, "", k.root.OrganizationID)
		if err != nil || damaged > 0 {
			t.Fatalf("%d damaged: %v", damaged, err)
		}
		inTree := map[string]bool{}
		for _, e := range all {
			if e.Activity != nil {
				inTree[e.Activity.ID] = true
			}
		}
		for _, id := range k.recorded {
			if !inTree[id] {
				t.Errorf("activity %s was acknowledged, and is not in the tree", id)
			}
		}
		if kills < 8 {
			t.Errorf("%d kills: this proves little", kills)
		}
		t.Logf("%d kills, %d acknowledged activities, %d entries", kills, len(k.recorded), len(all))
	})
}
