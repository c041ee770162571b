package client_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/test/oidctest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := servertest.Main(m)
	oidctest.Clean()
	os.Exit(code)
}

// clientOf is a typed client of a caller at the server.
func clientOf(s *servertest.Server, c *servertest.Caller) *client.Client {
	return clientWith(s, c.OrganizationID, c.Stamper)
}

// clientWith is a client with any stamper, which waits for as long as a busy
// machine takes.
func clientWith(s *servertest.Server, organizationID string, stamper client.Stamper) *client.Client {
	return &client.Client{BaseURL: s.URL, OrganizationID: organizationID, Stamper: stamper, HTTP: &http.Client{Timeout: testkit.Patience}}
}

func expect(s *servertest.Server, c *servertest.Caller) client.Expect {
	return client.Expect{SignerPublicKey: s.Keys.ServerKeys.SignerPublicKey(), OrganizationID: c.OrganizationID, UserID: c.UserID}
}

var ethereum = client.WalletAccountParameters{
	Curve: client.KeyCurveSecp256k1, PathFormat: client.PathFormatBIP32, Path: "m/44'/60'/0'/0/0",
	AddressFormat: client.AddressFormatEthereum,
}

// A wallet is created, read and signed with; the activity tells who did it.
func TestWallet(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, c := t.Context(), clientOf(s, s.Root)
		wallet, activity, err := c.CreateWallet(ctx, client.CreateWalletParameters{
			WalletName: "Treasury", Accounts: []client.WalletAccountParameters{ethereum}, MnemonicLength: 24,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(wallet.Addresses) != 1 || activity.Status != client.ActivityStatusCompleted || len(activity.Votes) != 1 ||
			activity.Votes[0].UserID != s.Root.UserID || time.Since(activity.CreatedAt.Time()).Abs() > time.Hour {
			t.Errorf("%+v of %+v", wallet, activity)
		}
		read, err := c.GetWallet(ctx, client.GetWalletRequest{WalletID: wallet.WalletID})
		if err != nil || read.Wallet.WalletName != "Treasury" || read.Wallet.Exported {
			t.Errorf("%+v, %v", read, err)
		}
		accounts, err := c.ListWalletAccounts(ctx, client.ListWalletAccountsRequest{
			WalletID: wallet.WalletID, IncludeWalletDetails: true, PaginationOptions: &client.Pagination{Limit: 5},
		})
		if err != nil || len(accounts.Accounts) != 1 || accounts.Accounts[0].WalletDetails.WalletID != wallet.WalletID {
			t.Errorf("%+v, %v", accounts, err)
		}
		// false is told from absent.
		no := false
		if _, _, err := c.CreateWalletAccounts(ctx, client.CreateWalletAccountsParameters{
			WalletID: wallet.WalletID, Persist: &no, Accounts: []client.WalletAccountParameters{{
				Curve: client.KeyCurveEd25519, PathFormat: client.PathFormatBIP32, Path: "m/44'/501'/0'", AddressFormat: client.AddressFormatSolana,
			}},
		}); err != nil {
			t.Error(err)
		}
		if accounts, err := c.ListWalletAccounts(ctx, client.ListWalletAccountsRequest{}); err != nil || len(accounts.Accounts) != 1 {
			t.Errorf("%+v, %v", accounts, err)
		}
		signature, _, err := c.SignRawPayload(ctx, client.SignRawPayloadParameters{
			SignWith: wallet.Addresses[0], Payload: "hello", Encoding: client.PayloadEncodingTextUTF8, HashFunction: client.HashFunctionKeccak256,
		})
		if err != nil || len(signature.R) != 64 || len(signature.S) != 64 {
			t.Errorf("%+v, %v", signature, err)
		}
		var again client.CreateWalletResult
		stored, err := c.GetActivity(ctx, client.GetActivityRequest{ActivityID: activity.ID})
		if err != nil {
			t.Fatal(err)
		}
		if err := stored.Activity.DecodeResult(&again); err != nil || !cmp.Equal(again, *wallet) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// Bytes that are sent twice are one activity; a refusal names every field.
func TestPreparedAndRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, c := t.Context(), clientOf(s, s.Root)
		request, err := client.CreateUserTagParameters{UserTagName: "admins"}.Prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		first, one, err := request.Send(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		kept := *request // as if read from a file
		second, two, err := kept.Send(ctx, c)
		if err != nil || first.UserTagID != second.UserTagID || one.ID != two.ID || one.Fingerprint != request.Fingerprint() {
			t.Errorf("%+v and %+v, %v", first, second, err)
		}
		var refusal *client.Error
		if _, _, err := c.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "admins"}); !errors.As(err, &refusal) || refusal.Status != http.StatusConflict {
			t.Errorf("a name twice: %v", err)
		}
		_, activity, err := c.CreateUserTag(ctx, client.CreateUserTagParameters{UserIDs: []string{"x"}})
		if !errors.As(err, &refusal) || activity != nil {
			t.Fatalf("%v", err)
		}
		var paths []string
		for _, f := range refusal.Fields() {
			paths = append(paths, f.Path)
		}
		if diff := cmp.Diff([]string{"userTagName", "userIds.0"}, paths); diff != "" {
			t.Error(diff)
		}
		// The clock is the caller's.
		late := *c
		late.Now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
		if _, _, err := late.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "late"}); !errors.As(err, &refusal) || refusal.Reason != "INVALID_TIME" {
			t.Errorf("an old request: %v", err)
		}
		if _, err := c.In("f9a31c64-d604-42e4-9bef-a773096afad7").Whoami(ctx, client.WhoamiRequest{}); !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized {
			t.Errorf("another organization: %v", err)
		}
		// Older versions go out by Submit.
		old, err := c.Submit(ctx, "create_users", "ACTIVITY_TYPE_CREATE_USERS_V2", map[string]any{"users": []any{map[string]any{
			"userName": "Old", "apiKeys": []any{}, "authenticators": []any{}, "userTags": []any{}, "userEmail": "old@example.com",
		}}})
		if err != nil || old.Err() != nil || old.Type != "ACTIVITY_TYPE_CREATE_USERS_V2" {
			t.Errorf("%+v, %v", old, err)
		}
		var users struct {
			Users []client.User `json:"users"`
		}
		if err := c.Query(ctx, "list_users", nil, &users); err != nil || len(users.Users) != 2 {
			t.Errorf("%+v, %v", users, err)
		}
	})
}

// What needs two approvals waits for the second user, who approves or rejects.
func TestPending(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, root := t.Context(), clientOf(s, s.Root)
		bob := s.NewUser(t, s.Root, "Bob", client.Ed25519)
		second := clientOf(s, bob)
		if _, _, err := root.UpdateRootQuorum(ctx, client.UpdateRootQuorumParameters{Threshold: 2, UserIDs: []string{s.Root.UserID, bob.UserID}}); err != nil {
			t.Fatal(err)
		}
		submit := func(name string) (*client.Prepared[client.CreateUserTagResult], *client.Activity) {
			t.Helper()
			request, err := client.CreateUserTagParameters{UserTagName: name}.Prepare(root)
			if err != nil {
				t.Fatal(err)
			}
			result, activity, err := request.Send(ctx, root)
			var pending *client.PendingError
			if !errors.As(err, &pending) || result != nil || pending.Activity != activity || activity.Status != client.ActivityStatusConsensusNeeded {
				t.Fatalf("%+v, %+v, %v", result, activity, err)
			}
			return request, activity
		}
		request, activity := submit("approved")
		voted, err := second.ApproveActivity(ctx, client.ApproveActivityParameters{Fingerprint: activity.Fingerprint})
		if err != nil || voted.ID != activity.ID || voted.Err() != nil || len(voted.Votes) != 2 {
			t.Fatalf("%+v, %v", voted, err)
		}
		var tag client.CreateUserTagResult
		if err := voted.DecodeResult(&tag); err != nil {
			t.Fatal(err)
		}
		if result, _, err := request.Send(ctx, root); err != nil || result.UserTagID != tag.UserTagID {
			t.Errorf("%+v, %v", result, err)
		}

		request, activity = submit("rejected")
		voted, err = second.RejectActivity(ctx, client.RejectActivityParameters{Fingerprint: activity.Fingerprint})
		var rejected *client.RejectedError
		if err != nil || !errors.As(voted.Err(), &rejected) {
			t.Errorf("%+v, %v", voted, err)
		}
		if _, _, err := request.Send(ctx, root); !errors.As(err, &rejected) {
			t.Errorf("sent again: %v", err)
		}

		// The name is taken when the second approves: allowed, and failed.
		_, one := submit("twice")
		_, two := submit("twice")
		if _, err := second.ApproveActivity(ctx, client.ApproveActivityParameters{Fingerprint: one.Fingerprint}); err != nil {
			t.Fatal(err)
		}
		voted, err = second.ApproveActivity(ctx, client.ApproveActivityParameters{Fingerprint: two.Fingerprint})
		var failed *client.FailedError
		if err != nil || !errors.As(voted.Err(), &failed) || failed.Code != 6 || !strings.Contains(failed.Message, "already exists") {
			t.Errorf("%+v, %v", voted, err)
		}
	})
}

func newKey(t *testing.T, c client.Curve) client.PrivateKey {
	t.Helper()
	key, err := client.GenerateKey(c)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
