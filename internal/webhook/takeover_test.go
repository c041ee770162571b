package webhook_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// quick is a config whose lease ends soon.
func quick() config.Config {
	c := config.Default()
	c.Webhooks.Timeout = time.Second
	return c
}

// restart ends the receiver's program and starts it again at the same address.
func (r *receiver) restart(t testing.TB, between func()) {
	t.Helper()
	address := r.http.Listener.Addr().String()
	r.http.CloseClientConnections()
	r.http.Close()
	between()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: r}}
	r.http.Start()
	t.Cleanup(r.http.Close)
}

// What happens while the receiver, the server or both are away comes later, in
// order.
func TestRestarts(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := Start(t, url, quick())
		root := s.Root
		r := newReceiver(t)
		id := subscribe(t, root, r.URL, `{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"]}`)
		wanted := tags(t, root, 0, 3)
		r.activities(t, wanted...)
		r.restart(t, func() {
			wanted = append(wanted, tags(t, root, 3, 6)...)
			awaitState(t, root, id, "RETRYING")
		})
		r.activities(t, wanted...)
		r.restart(t, func() {
			wanted = append(wanted, tags(t, root, 6, 9)...)
			s.Stop(t)
		})
		s = Start(t, url, quick())
		root = s.As(root)
		all := r.activities(t, append(wanted, tags(t, root, 9, 10)...)...)
		got := order(t, all)
		if !slices.Equal(got[:9], wanted) || len(got) != 10 {
			t.Errorf("events of %v, want %v and one more", got, wanted)
		}
	})
}

// A server that has lost its lease writes nothing any more, and forgets what it
// knew: it goes on from what the holder left.
func TestFencing(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := Start(t, url, quick())
		before := tag(t, s.Root, "Before")
		r := newReceiver(t)
		id := subscribe(t, s.Root, r.URL, `{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"]}`)
		wanted := tags(t, s.Root, 0, 2)
		r.activities(t, wanted...)
		testWaiting(t, s.Root, id, 0) // it is committed
		err := s.Store.UpdateDeliveries(context.Background(), func(tx store.Deliveries) error {
			lease, err := tx.Lease()
			if err != nil {
				return err
			}
			lease.Holder, lease.Term, lease.Until = "another server", lease.Term+1, time.Now().Add(time.Second)
			if err := tx.SetLease(lease); err != nil {
				return err
			}
			// The other one has begun anew, say.
			return tx.SetProgress(&domain.WebhookProgress{OrganizationID: s.Root.OrganizationID, EndpointID: id, Begun: true})
		})
		if err != nil {
			t.Fatal(err)
		}
		more := tag(t, s.Root, "More")
		again := slices.Concat([]string{before}, wanted, []string{more})
		r.await(t, "what the other one has left to do", func(all []received) bool {
			var ids []string
			for i := range all {
				ids = append(ids, activityOf(t, all[i].body))
			}
			ids = slices.Compact(ids) // again, if the receiver took more than its second
			return len(ids) >= len(again) && slices.Equal(ids[len(ids)-len(again):], again)
		})
		testWaiting(t, s.Root, id, 0)
	})
}

// Two servers on one database deliver each event once, and one goes on where the
// other stopped.
func TestTwoServers(t *testing.T) {
	url := Postgres(t)
	c := config.Default()
	c.Webhooks.Timeout = testkit.Patience // no lease ends because the machine stood still
	first := Start(t, url, c)
	second := Start(t, url, c)
	root := first.Root
	r := newReceiver(t)
	id := subscribe(t, root, r.URL, `{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"]}`)
	var wanted []string
	for n := range 10 {
		at := []*Caller{root, second.As(root)}[n%2]
		wanted = append(wanted, tags(t, at, n, n+1)...)
	}
	r.activities(t, wanted...)
	first.Stop(t)
	root = second.As(root)
	wanted = append(wanted, tags(t, root, 10, 15)...)
	all := r.activities(t, wanted...)
	if got := order(t, all); !slices.Equal(got, wanted) || len(all) != len(wanted) {
		t.Errorf("%d deliveries of %v, want one of each of %v", len(all), got, wanted)
	}
	testWaiting(t, root, id, 0)
}

// Receivers that never answer cost only themselves: while more of them hang than
// there are slots, one that is known to answer gets its events.
func TestEndlessReceivers(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		c := config.Default()
		c.Webhooks.Timeout = time.Hour // they hang until the end of the test
		s := Start(t, url, c)
		r := newReceiver(t)
		subscribe(t, s.Root, r.URL, "")
		r.activities(t, tags(t, s.Root, 0, 1)...)
		var hanging sync.WaitGroup
		hanging.Add(slots)
		release := make(chan struct{})
		endless := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			hanging.Done()
			<-release
		}))
		t.Cleanup(endless.Close)
		t.Cleanup(func() { close(release) })
		for range 2 {
			other := s.CreateOrganization(t, "With endless receivers")
			for range 20 {
				subscribe(t, other, endless.URL, "")
			}
			tag(t, other, "For all of them")
		}
		hanging.Wait()
		r.activities(t, tags(t, s.Root, 1, 4)...)
	})
}

// slots is how many unproven receivers are delivered to at the same time.
const slots = 32
