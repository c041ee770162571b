package feed_test

import (
	"fmt"
	"net/http"
	"testing"

	"latchkey/client"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestStream: what happens is told as it happens, in order, with nothing between a
// page of the feed and the stream that goes on from it.
func TestStream(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		s.Root.Submit(t, "create_user_tag", tag("before"))
		_, cursor := readAll(t, s.Root, 1, nil)
		whole := s.Root.Open(t, streamPath, ask(s.Root, nil))
		rest := s.Root.Open(t, streamPath, ask(s.Root, m{"after": cursor}))
		failed := s.Root.Open(t, streamPath, ask(s.Root, m{"statuses": []any{"ACTIVITY_STATUS_FAILED"}}))
		for i := range 10 {
			s.Root.Submit(t, "create_user_tag", tag(fmt.Sprint("tag ", i)))
		}
		s.Root.Refused(t, 409, "create_user_tag", tag("before"))
		events, _ := readAll(t, s.Root, 12, nil)
		for name, c := range map[string]struct {
			stream *Stream
			want   []Value
		}{"whole": {whole, events}, "rest": {rest, events[1:]}, "failed": {failed, events[11:]}} {
			for i, want := range c.want {
				got, ok := c.stream.Next()
				if !ok || fmt.Sprint(got.Data) != fmt.Sprint(want) || got.ID != want.Get("cursor").Text() {
					t.Fatalf("%s: event %d is %v (%v), want %v", name, i, got, ok, want)
				}
			}
		}
	})
}

// TestRevoked: a stream ends when its key, its user or its organization is gone,
// whichever node that was done on, and says why.
func TestRevoked(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := Start(t, url, config.Default())
		elsewhere := s
		if s.Kind == "postgres" {
			elsewhere = Start(t, url, config.Default())
		}
		ada, bob := s.NewUser(t, s.Root, "Ada", client.P256), s.NewUser(t, s.Root, "Bob", client.P256)
		ann := newChild(t, s, s.Root, "Ann")
		second, err := client.GenerateKey(client.P256)
		if err != nil {
			t.Fatal(err)
		}
		s.Root.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{m{
			"apiKeyName": "second", "publicKey": second.PublicKey(), "curveType": client.P256.CurveType(),
		}}})
		root := s.Root.Open(t, streamPath, ask(s.Root, m{"after": "now", "types": []any{"ACTIVITY_TYPE_DELETE_API_KEYS", "ACTIVITY_TYPE_DELETE_USERS"}}))
		key := ""
		for _, k := range ada.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List() {
			if k.Get("credential", "publicKey").Text() == ada.Key.PublicKey() {
				key = k.Get("apiKeyId").Text()
			}
		}
		for _, c := range []struct {
			who *Caller
			end func(there *Caller)
		}{
			{ada, func(there *Caller) {
				there.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
			}},
			{bob, func(there *Caller) { there.Submit(t, "delete_users", m{"userIds": []any{bob.UserID}}) }},
			{ann, func(*Caller) {
				elsewhere.As(ann).Submit(t, "delete_sub_organization", m{"deleteWithoutExport": true})
			}},
		} {
			stream := c.who.Open(t, streamPath, ask(c.who, m{"after": "now", "types": []any{"ACTIVITY_TYPE_CREATE_WALLET"}}))
			c.end(elsewhere.As(s.Root))
			last, ok := stream.Next()
			if !ok || last.Name != "error" || last.Data.Get("code").Number() != 16 {
				t.Errorf("the stream ended with %v", last)
			}
			if more, ok := stream.Next(); ok {
				t.Errorf("after its end: %v", more)
			}
			CheckError(t, c.who.PostTo(t, streamPath, ask(c.who, nil)), http.StatusUnauthorized)
		}
		// The others go on, and end without a reason when the server drains.
		for _, want := range []string{"ACTIVITY_TYPE_DELETE_API_KEYS", "ACTIVITY_TYPE_DELETE_USERS"} {
			if e, ok := root.Next(); !ok || e.Data.Get("activity", "type").Text() != want {
				t.Errorf("%v, want %s", e, want)
			}
		}
		s.Stop(t)
		if e, ok := root.Next(); ok {
			t.Errorf("at the end: %v", e)
		}
	})
}

// TestTooManyStreams: an organization has so many, and another one others.
func TestTooManyStreams(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		var streams []*Stream
		for range 100 {
			streams = append(streams, s.Root.Open(t, streamPath, ask(s.Root, nil)))
		}
		CheckError(t, s.Root.PostTo(t, streamPath, ask(s.Root, nil)), http.StatusTooManyRequests)
		other := s.CreateOrganization(t, "Other")
		other.Open(t, streamPath, ask(other, nil)).Close()
		s.Root.Submit(t, "create_user_tag", tag("for all"))
		for i, stream := range streams {
			if e, ok := stream.Next(); !ok || e.Data.Get("activity", "type").Text() != "ACTIVITY_TYPE_CREATE_USER_TAG" {
				t.Errorf("stream %d: %v", i, e)
			}
			stream.Close()
		}
	})
}
