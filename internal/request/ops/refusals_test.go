package ops_test

import (
	"testing"

	. "latchkey/internal/test/servertest"
)

// refusedRequest is a request that must be refused.
type refusedRequest struct {
	name      string
	caller    *Caller
	operation string
	status    int
	code      string // error code; empty: any
	params    m
}

// refuseAll sends each request, as a subtest.
func refuseAll(t *testing.T, requests []refusedRequest) {
	t.Helper()
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			refusal := r.caller.Refused(t, r.status, r.operation, r.params)
			if got := refusal.Get("turnkeyErrorCode").Text(); r.code != "" && got != r.code {
				t.Errorf("error code %s, want %s: %v", got, r.code, refusal)
			}
		})
	}
}

// usersUnchanged returns a check that nothing has changed about the users since.
func usersUnchanged(t *testing.T, s *Server) (check func()) {
	t.Helper()
	before := s.Root.Query(t, "list_users", nil).String()
	return func() {
		t.Helper()
		if after := s.Root.Query(t, "list_users", nil).String(); after != before {
			t.Errorf("refused requests changed something:\n%s\n%s", before, after)
		}
	}
}
