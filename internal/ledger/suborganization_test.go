package ledger_test

import (
	"net/http"
	"strings"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/translog"
)

// TestOwnHistory: owners of a sub-organization verify their own history with their
// own receipts and the published keys: its numbers have no gap, and nothing of
// others is shown to them.
func TestOwnHistory(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		keys := keysOf(t, s)
		owner := s.Stranger(t, s.Root)
		created := s.Root.Submit(t, "create_sub_organization", map[string]any{
			"subOrganizationName": "Child", "rootQuorumThreshold": 1,
			"rootUsers": []any{map[string]any{
				"userName": "Owner", "authenticators": []any{}, "oauthProviders": []any{},
				"apiKeys": []any{map[string]any{"apiKeyName": "key", "publicKey": owner.Key.PublicKey(), "curveType": client.P256.CurveType()}},
			}},
		})
		owner.OrganizationID = created.Get("result", "createSubOrganizationResultV8", "subOrganizationId").Text()
		var activities []string
		for _, name := range []string{"one", "two", "three"} {
			activities = append(activities, owner.Submit(t, "create_wallet", map[string]any{"walletName": name, "accounts": []any{}}).Get("id").Text())
			s.Root.Submit(t, "create_wallet", map[string]any{"walletName": name, "accounts": []any{}}) // of the parent, in between
		}
		for i, id := range activities {
			r := receipt(t, owner, map[string]any{"organizationId": owner.OrganizationID, "activityId": id})
			proven, err := translog.VerifyReceipt(r, keys, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := proven.Record.Sequence, int64(i)+2; got != want { // its creation is number 1
				t.Errorf("activity %d has number %d, want %d", i, got, want)
			}
			if strings.Contains(r.Record, s.Root.OrganizationID) {
				t.Errorf("the record names another organization: %s", r.Record)
			}
			fromParent := receipt(t, s.Root, map[string]any{"organizationId": owner.OrganizationID, "activityId": id})
			if fromParent.Record != r.Record || fromParent.Salt != r.Salt {
				t.Errorf("the parent is shown another record: %s", fromParent.Record)
			}
		}
		for _, of := range []string{s.Root.OrganizationID, owner.OrganizationID} {
			reply := owner.PostTo(t, "/latchkey/v1/receipt", map[string]any{"organizationId": of, "activityId": created.Get("id").Text()})
			if reply.Status == http.StatusOK || strings.Contains(string(reply.Body), "salt") {
				t.Errorf("a receipt of another organization: HTTP %d: %s", reply.Status, reply.Body)
			}
		}
	})
}
