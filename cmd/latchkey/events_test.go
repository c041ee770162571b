package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestEventsThroughKills kills the server, and PostgreSQL, again and again while
// activities are submitted and events are read. Who goes on after the last cursor
// sees every activity that was acknowledged, once, and all readers in one order.
// `make events` does it with 10,000 activities.
func TestEventsThroughKills(t *testing.T) {
	t.Parallel()
	n := testkit.Number(t, "LATCHKEY_TEST_EVENTS", 120)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		k := &killed{n: n, address: testkit.Reserve(t), data: filepath.Join(t.TempDir(), "data")}
		k.test(t, func(int) { k.restart(t) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Start(t)
		k := &killed{n: n, address: testkit.Reserve(t), data: filepath.Join(t.TempDir(), "data"), store: db.URL(t)}
		k.test(t, func(i int) {
			if i%2 == 1 {
				k.restart(t)
				return
			}
			db.Kill(t)
			db.Restart(t)
		})
	})
}

// killed is a server that is killed while it is used.
type killed struct {
	n                    int
	address, data, store string
	process              *exec.Cmd
	client               *client.Client
	acknowledged         atomic.Int64
}

func (k *killed) start(t *testing.T) {
	t.Helper()
	k.process = exec.Command("latchkey", "dev", "--listen", k.address, "--data", k.data)
	if k.store != "" {
		k.process.Args = append(k.process.Args, "--store", k.store)
	}
	if err := k.process.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the server answers", func() bool { return answers("http://" + k.address) })
}

func (k *killed) kill() {
	_ = k.process.Process.Kill()
	_ = k.process.Wait() // killed
}

func (k *killed) restart(t *testing.T) {
	k.kill()
	k.start(t)
}

func (k *killed) test(t *testing.T, disturb func(int)) {
	k.start(t)
	defer func() { k.kill() }()
	dev, err := readDevFile(k.data)
	if err != nil {
		t.Fatal(err)
	}
	stamper, err := client.NewAPIKeyStamper(client.P256, dev.APIPrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	k.client = &client.Client{BaseURL: "http://" + k.address, Stamper: stamper, OrganizationID: dev.OrganizationID}
	const writers = 4
	written := make([][]string, writers)
	var pages, stream []string
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() { written[w] = k.write(t, w, k.n/writers) })
	}
	total := k.n / writers * writers
	work.Go(func() { pages = k.readPages(t, total) })
	work.Go(func() { stream = k.readStream(t, total) })
	const kills = 4
	for i := range kills * max(1, k.n/1000) {
		part := int64((i + 1) * total / (kills*max(1, k.n/1000) + 1))
		testkit.Until(t, "some were acknowledged", func() bool { return k.acknowledged.Load() >= part })
		disturb(i)
	}
	work.Wait()
	if !slices.Equal(pages, stream) {
		t.Errorf("pages and stream differ: %d and %d events", len(pages), len(stream))
	}
	at := map[string]int{}
	for i, fingerprint := range pages {
		at[fingerprint] = i
	}
	if len(at) != total || len(pages) != total {
		t.Errorf("%d events, of %d activities, and %d were acknowledged", len(pages), len(at), total)
	}
	for w, list := range written {
		for i, fingerprint := range list {
			place, seen := at[fingerprint]
			if !seen || i > 0 && at[list[i-1]] > place {
				t.Errorf("writer %d: activity %d was not seen, or before the one before it", w, i)
			}
		}
	}
}

// write submits activities one after the other, each until it is acknowledged. That
// they fail for a name that is taken does not matter: they are recorded.
func (k *killed) write(t *testing.T, writer, n int) (fingerprints []string) {
	for i := range n {
		body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_CREATE_USER_TAG","timestampMs":"%d","organizationId":%q,"parameters":{"userTagName":"tag %d %d","userIds":[]}}`,
			time.Now().UnixMilli(), k.client.OrganizationID, writer, i)
		testkit.Until(t, "the activity is acknowledged", func() bool {
			_, err := k.client.Post(t.Context(), "/public/v1/submit/create_user_tag", body)
			var reply *client.Error
			return err == nil || errors.As(err, &reply) && reply.Status < 500
		})
		fingerprints = append(fingerprints, fmt.Sprintf("sha256:%x", sha256.Sum256(body)))
		k.acknowledged.Add(1)
	}
	return fingerprints
}

// looked is what is looked for: a development server does something of its own.
var looked = []string{"ACTIVITY_TYPE_CREATE_USER_TAG"}

func (k *killed) readPages(t *testing.T, want int) (seen []string) {
	q := client.EventsRequest{Limit: 50, Types: looked}
	testkit.Until(t, "the feed has all", func() bool {
		page, err := k.client.Events(t.Context(), q)
		if err != nil {
			return false // it is down
		}
		for _, e := range page.Events {
			seen = append(seen, e.Activity.Fingerprint)
		}
		q.After = page.Cursor
		return len(seen) >= want
	})
	return seen
}

func (k *killed) readStream(t *testing.T, want int) (seen []string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := client.EventsRequest{Types: looked}
	testkit.Until(t, "the stream had all", func() bool {
		_ = k.client.StreamEvents(ctx, q, func(e *client.EventView) error { // it ends when the server does
			seen, q.After = append(seen, e.Activity.Fingerprint), e.Cursor
			if len(seen) >= want {
				cancel()
			}
			return nil
		})
		return len(seen) >= want
	})
	return seen
}
