package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

type m = map[string]any

func tag(name string) m { return m{"userTagName": name, "userIds": []any{}} }

// TestPasskey lets a passkey do what an API key can, and nothing when any part
// of its answer is wrong.
func TestPasskey(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		passkey := NewPasskey(t)
		passkey.Register(t, s, s.Root)
		caller := *s.Root
		caller.Stamper = passkey

		if got := caller.Query(t, "whoami", nil).Get("userId").Text(); got != s.Root.UserID {
			t.Errorf("whoami is %s", got)
		}
		vote := caller.Submit(t, "create_user_tag", tag("by passkey")).Get("votes", 0)
		if vote.Get("scheme").Text() != "SIGNATURE_SCHEME_TK_WEBAUTHN" || vote.Get("publicKey").Text() == "" ||
			!strings.Contains(vote.Get("signature").Text(), "clientDataJson") {
			t.Errorf("vote: %v", vote)
		}

		refused := func(name string, change func(*Passkey)) {
			t.Run(name, func(t *testing.T) {
				spoilt := *passkey
				change(&spoilt)
				c := *s.Root
				c.Stamper = &spoilt
				if got := c.Refused(t, 401, "whoami", nil).Get("message").Text(); !strings.HasPrefix(got, "could not verify WebAuthN signature") {
					t.Errorf("message: %s", got)
				}
			})
		}
		refused("other relying party", func(p *Passkey) { p.RPID = "evil.example" })
		setFeature(t, s, domain.Feature{Name: domain.FeatureOrigins, Value: "https://app.example.com, https://example.com"})
		caller.Query(t, "whoami", nil)
		refused("origin that is not allowed", func(p *Passkey) { p.Origin = "https://evil.example" })

		counting := NewPasskey(t)
		counting.Counter = 7
		counting.Register(t, s, s.Root)
		caller.Stamper = counting
		caller.Query(t, "whoami", nil)
		counting.Counter = 3
		caller.Refused(t, 401, "whoami", nil)
		if !strings.Contains(s.Log.Complaints(), "signature counter of a passkey did not grow") {
			t.Error("no warning of a passkey that may have been copied")
		}
		counting.Counter = 20
		caller.Submit(t, "create_user_tag", tag("counted"))
		// A lost reply makes a client send the same stamp again; a copy of the
		// authenticator would make another one.
		body := caller.Body(t, "create_user_tag", tag("again"))
		name, value, err := counting.Stamp(body)
		if err != nil {
			t.Fatal(err)
		}
		caller.Query(t, "whoami", nil)
		for range 2 {
			reply := Send(t, http.MethodPost, s.URL+Path("create_user_tag"), http.Header{name: {value}}, body)
			CheckError(t, reply, 401) // a newer one was seen before it
		}
		name, value, err = counting.Stamp(body)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if reply := Send(t, http.MethodPost, s.URL+Path("create_user_tag"), http.Header{name: {value}}, body); reply.Status != 200 {
				t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
			}
		}
	})
}

func setFeature(t *testing.T, s *Server, f domain.Feature) {
	t.Helper()
	err := s.Store.Update(context.Background(), s.Root.OrganizationID, func(tx *store.Tx) error {
		return tx.Organizations().Edit(s.Root.OrganizationID, func(o *domain.Organization) error {
			o.Features = append(o.Features, f)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplay checks what the same bytes get when they come again.
func TestReplay(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		body := s.Root.Body(t, "create_user_tag", tag("once"))
		first := s.Root.MustPost(t, "create_user_tag", body).Get("activity", "id").Text()
		if again := s.Root.MustPost(t, "create_user_tag", body).Get("activity", "id").Text(); again != first {
			t.Errorf("the same bytes made another activity")
		}
		// Every user of the organization may ask again.
		if theirs := ada.MustPost(t, "create_user_tag", body).Get("activity", "id").Text(); theirs != first {
			t.Errorf("the same bytes from another user made another activity")
		}
		// One byte more is another request.
		s.Root.RefusedBody(t, 409, "create_user_tag", append(bytes.Clone(body), '\n'))

		// A known request is answered at any age.
		old := backdate(t, s, s.Root.Body(t, "create_user_tag", tag("old")))
		if reply := s.Root.Post(t, "create_user_tag", old); reply.Status != http.StatusOK {
			t.Errorf("a known request that is now old: HTTP %d %s", reply.Status, reply.Body)
		}
		// An unknown one is not.
		unknown := withTime(t, s.Root.Body(t, "create_user_tag", tag("unknown")), time.Now().Add(-2*time.Hour))
		if got := s.Root.RefusedBody(t, 400, "create_user_tag", unknown).Get("turnkeyErrorCode").Text(); got != "INVALID_TIME" {
			t.Errorf("a stale request: %s", got)
		}
		// The borders of the window.
		for _, at := range []time.Duration{-59 * time.Minute, 4 * time.Minute} {
			fresh := withTime(t, s.Root.Body(t, "create_user_tag", tag(at.String())), time.Now().Add(at))
			s.Root.MustPost(t, "create_user_tag", fresh)
		}
	})
}

// backdate performs a request as if it had been sent two hours ago, through an
// engine whose clock stands there.
func backdate(t *testing.T, s *Server, body []byte) []byte {
	t.Helper()
	then := time.Now().Add(-2 * time.Hour)
	body = withTime(t, body, then)
	catalog := ops.Catalog()
	past := engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: func() time.Time { return then }})
	name, value, err := s.Root.Stamper.Stamp(body)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := past.Submit(context.Background(), catalog.Endpoint("create_user_tag"),
		engine.Request{Header: http.Header{name: {value}}, Body: body, Event: new(engine.Event)})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("in the past: %v %v", reply, err)
	}
	return body
}

func withTime(t *testing.T, body []byte, at time.Time) []byte {
	t.Helper()
	var members m
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	members["timestampMs"] = strconv.FormatInt(at.UnixMilli(), 10)
	changed, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

var until = testkit.Until

// TestRevocation deletes a key while its owner keeps using it: no request that
// starts after the deletion was acknowledged is served.
func TestRevocation(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		key := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
		spare := s.Stranger(t, s.Root)
		s.Root.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{m{
			"apiKeyName": "spare", "publicKey": spare.Key.PublicKey(), "curveType": client.P256.CurveType(),
		}}})
		var wait sync.WaitGroup
		var served atomic.Int32
		revoked := make(chan struct{})
		for range 4 {
			wait.Go(func() {
				for !t.Failed() {
					var after bool
					select {
					case <-revoked:
						after = true
					default:
					}
					if status := ada.Post(t, "whoami", ada.Body(t, "whoami", nil)).Status; after {
						if status != http.StatusUnauthorized {
							t.Errorf("a revoked key got HTTP %d", status)
						}
						return
					}
					served.Add(1)
				}
			})
		}
		until(t, "the key is in use", func() bool { return served.Load() >= 10 })
		s.Root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		close(revoked)
		wait.Wait()
	})
}

// TestTwoNodes runs two servers over one PostgreSQL: what one acknowledged the
// other knows at once, and both can write the same organization.
func TestTwoNodes(t *testing.T) {
	url := pgtest.URL(t)
	one := Start(t, url, config.Default())
	two := Start(t, url, config.Default())
	root := one.Root
	elsewhere := two.As(root)

	for i := range 20 {
		root.Submit(t, "create_user_tag", tag(fmt.Sprint("one ", i)))
		if got := len(elsewhere.Query(t, "list_user_tags", nil).Get("userTags").List()); got != i+1 {
			t.Fatalf("the other node sees %d tags of %d", got, i+1)
		}
	}
	var wait sync.WaitGroup
	for i := range 40 {
		node := root
		if i%2 == 1 {
			node = elsewhere
		}
		wait.Go(func() { node.Submit(t, "create_user_tag", tag(fmt.Sprint("both ", i))) })
	}
	wait.Wait()
	if got := len(root.Query(t, "list_user_tags", nil).Get("userTags").List()); got != 60 {
		t.Errorf("%d tags of 60", got)
	}
	// The same bytes on both nodes at once are still one activity.
	body := root.Body(t, "create_user_tag", tag("same"))
	replies := make([]Reply, 50)
	for i := range replies {
		node := root
		if i%2 == 1 {
			node = elsewhere
		}
		wait.Go(func() { replies[i] = node.Post(t, "create_user_tag", body) })
	}
	wait.Wait()
	for _, r := range replies {
		if r.Status != http.StatusOK || !bytes.Equal(r.Body, replies[0].Body) {
			t.Errorf("answers differ: HTTP %d %s", r.Status, r.Body)
		}
	}
}

// TestContention changes one organization from many sides at once: every
// change is made, none is lost.
func TestContention(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const writers = 64
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		var wait sync.WaitGroup
		for i := range writers {
			wait.Go(func() {
				s.Root.Submit(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{ada.UserID}})
			})
		}
		wait.Wait()
		if got := len(s.Root.Query(t, "get_user", m{"userId": ada.UserID}).Get("user", "userTags").List()); got != writers {
			t.Errorf("%d of %d changes to one user are there", got, writers)
		}
	})
}

// FuzzEnvelope sends arbitrary bytes through the spine, signed: they are
// refused as a fault or answered, never an internal error, and only a valid
// envelope gets through.
func FuzzEnvelope(f *testing.F) {
	s := Start(f, SQLite(f), config.Default())
	catalog := ops.Catalog()
	e := engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: time.Now})
	for _, seed := range []string{
		string(s.Root.Body(f, "create_user_tag", tag("seed"))),
		`{}`, `[]`, `null`, `{"type":`, `{"type":"a","type":"b"}`, "{\"\xff\":1}",
		`{"type":"ACTIVITY_TYPE_CREATE_USER_TAG","timestampMs":"1","organizationId":"x","parameters":{}}`,
		`{"type":null,"timestampMs":null,"organizationId":null,"parameters":null,"generateAppProofs":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		name, value, err := s.Root.Stamper.Stamp(body)
		if err != nil {
			t.Fatal(err)
		}
		request := engine.Request{Header: http.Header{name: {value}}, Body: body, Event: new(engine.Event)}
		reply, err := e.Submit(context.Background(), catalog.Endpoint("create_user_tag"), request)
		checkOutcome(t, reply, err)
		reply, err = e.Query(context.Background(), catalog.Query("list_activities"), request)
		checkOutcome(t, reply, err)
	})
}

func checkOutcome(t *testing.T, reply *engine.Reply, err error) {
	t.Helper()
	if err == nil {
		if !reply.Body.IsValid() {
			t.Errorf("the reply is not JSON: %s", reply.Body)
		}
		return
	}
	if _, ok := fault.As(err); !ok {
		t.Errorf("not a fault: %v", err)
	}
}

// TestOutage kills the database under a running server: clients are told to
// try again, and when it is back everything acknowledged is there.
func TestOutage(t *testing.T) {
	database := pgtest.Start(t)
	s := Start(t, database.URL(t), config.Default())
	s.Root.Submit(t, "create_user_tag", tag("before"))
	body := s.Root.Body(t, "create_user_tag", tag("during"))

	database.Kill(t)
	refusal := s.Root.RefusedBody(t, http.StatusServiceUnavailable, "create_user_tag", body)
	if refusal.Get("code").Number() != 14 || strings.Contains(refusal.String(), "127.0.0.1") {
		t.Errorf("refusal: %v", refusal)
	}
	CheckError(t, Send(t, http.MethodGet, s.URL+"/readyz", http.Header{}, nil), http.StatusServiceUnavailable)
	if reply := Send(t, http.MethodGet, s.URL+"/healthz", http.Header{}, nil); reply.Status != http.StatusOK {
		t.Errorf("the process is up, but healthz says %d", reply.Status)
	}

	database.Restart(t)
	// Connections that were open break when they are first used again; the
	// client does what it is told.
	var reply Reply
	until(t, "the server takes requests", func() bool {
		reply = s.Root.Post(t, "create_user_tag", body)
		return reply.Status != http.StatusServiceUnavailable
	})
	if reply.Status != http.StatusOK {
		t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
	}
	until(t, "the server is ready", func() bool {
		return Send(t, http.MethodGet, s.URL+"/readyz", http.Header{}, nil).Status == http.StatusOK
	})
	if got := len(s.Root.Query(t, "list_user_tags", nil).Get("userTags").List()); got != 2 {
		t.Errorf("%d tags of 2", got)
	}
}
