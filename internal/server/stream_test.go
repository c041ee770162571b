package server_test

import (
	"testing"
	"time"

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// TestStreamHeartbeat: a stream on which nothing happens says every 15 seconds that
// it is still there, by a comment that clients pass over.
func TestStreamHeartbeat(t *testing.T) {
	s := servertest.Start(t, servertest.SQLite(t), config.Default())
	silences, over := make(chan time.Duration), make(chan time.Time)
	s.Whole.StreamsWait(func(d time.Duration) <-chan time.Time {
		select {
		case silences <- d:
		case <-t.Context().Done():
		}
		return over
	})
	stream := s.Root.Open(t, "/latchkey/v1/events/stream", m{"organizationId": s.Root.OrganizationID, "after": "now", "types": []any{"ACTIVITY_TYPE_CREATE_WALLET"}})
	<-stream.Events // the comment that opens it
	for range 3 {
		if d := <-silences; d != 15*time.Second {
			t.Fatalf("it waits for %s", d)
		}
		over <- time.Now()
		if e := <-stream.Events; e.Comment != "nothing new" || e.ID != "" || e.Name != "" {
			t.Fatalf("after the silence came %+v", e)
		}
	}
	<-silences
	s.Root.Submit(t, "create_wallet", m{"walletName": "Main", "accounts": []any{}})
	if e := <-stream.Events; e.Comment != "" || e.ID == "" {
		t.Errorf("and then %+v", e)
	}
}
