package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/test/servertest"
)

// The snippets of docs/go-client.md, and a test that runs them.

func TestSnippetsRun(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, c, want := t.Context(), clientOf(s, s.Root), expect(s, s.Root)
		p := client.CreateWalletParameters{WalletName: "One"}
		for _, line := range []string{"by activity", "refused: 409 REQUEST_INVALID"} { // the name is taken at the second time
			if got := outcomes(ctx, c, p); !strings.Contains(got, line) {
				t.Errorf("%s, want %s", got, line)
			}
		}
		if got := outcomes(ctx, c, client.CreateWalletParameters{}); !strings.Contains(got, "walletName must not be empty") {
			t.Error(got)
		}
		wallet, err := again(ctx, c, client.CreateWalletParameters{WalletName: "Two"})
		if err != nil {
			t.Fatal(err)
		}
		if words, err := exportWallet(ctx, c, want, wallet.WalletID); err != nil || len(strings.Fields(string(words))) != 12 {
			t.Errorf("%d words, %v", len(strings.Fields(string(words))), err)
		}
		if err := importKey(ctx, c, want, bytes.Repeat([]byte{7}, 32)); err != nil {
			t.Error(err)
		}
		if activity, err := older(ctx, c); err != nil || activity.Err() != nil {
			t.Errorf("%+v, %v", activity, err)
		}
		child, _, err := c.CreateSubOrganization(ctx, client.CreateSubOrganizationParameters{
			SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{{
				UserName: "Owner", APIKeys: []client.APIKeyParameters{newKey(t, client.P256).Registration("First")},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if users, err := inChild(ctx, c, child.SubOrganizationID); err != nil || len(users.Users) != 1 || users.Users[0].UserName != "Owner" {
			t.Errorf("%+v, %v", users, err)
		}
		const contact = "root@example.com"
		if _, _, err := c.UpdateUserEmail(ctx, client.UpdateUserEmailParameters{UserID: s.Root.UserID, UserEmail: contact}); err != nil {
			t.Fatal(err)
		}
		stamper, err := login(ctx, c, want, contact, func() string { return s.MailTo(t, contact).Code })
		if err != nil {
			t.Fatal(err)
		}
		session := *c
		session.Stamper = stamper
		if who, err := session.Whoami(ctx, client.WhoamiRequest{}); err != nil || who.UserID != s.Root.UserID {
			t.Errorf("%+v, %v", who, err)
		}

		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		if _, _, err := c.UpdateRootQuorum(ctx, client.UpdateRootQuorumParameters{Threshold: 2, UserIDs: []string{s.Root.UserID, bob.UserID}}); err != nil {
			t.Fatal(err)
		}
		_, fingerprint, waits := strings.Cut(outcomes(ctx, c, client.CreateWalletParameters{WalletName: "Three"}), "waits for votes: ")
		if !waits {
			t.Fatal("it does not wait")
		}
		if err := approve(ctx, clientOf(s, bob), strings.TrimSpace(fingerprint)); err != nil {
			t.Error(err)
		}
	})
}

func outcomes(ctx context.Context, c *client.Client, p client.CreateWalletParameters) (said string) {
	fmt := printer{&said}
	wallet, activity, err := c.CreateWallet(ctx, p)
	var (
		refused  *client.Error
		pending  *client.PendingError
		rejected *client.RejectedError
		failed   *client.FailedError
	)
	switch {
	case err == nil:
		fmt.Println(wallet.WalletID, "by activity", activity.ID)
	case errors.As(err, &pending):
		fmt.Println("waits for votes:", pending.Activity.Fingerprint)
	case errors.As(err, &rejected):
		fmt.Println("a user rejected it:", rejected.Activity.Votes)
	case errors.As(err, &failed):
		fmt.Println("approved, and could not be done:", failed.Message)
	case errors.As(err, &refused) && refused.Status == http.StatusBadRequest:
		for _, problem := range refused.Fields() {
			fmt.Println(problem.Path, problem.Description)
		}
	case errors.As(err, &refused):
		fmt.Println("refused:", refused.Status, refused.Reason, refused.Message)
	default:
		fmt.Println("no answer; whether it happened is not known:", err)
	}
	return said
}

// printer keeps what a snippet prints.
type printer struct{ text *string }

func (p printer) Println(a ...any) { *p.text += fmt.Sprintln(a...) }

func approve(ctx context.Context, approver *client.Client, fingerprint string) error {
	activity, err := approver.ApproveActivity(ctx, client.ApproveActivityParameters{Fingerprint: fingerprint})
	if err != nil {
		return err
	}
	if err := activity.Err(); err != nil {
		return err // more votes are needed, say
	}
	var wallet client.CreateWalletResult
	return activity.DecodeResult(&wallet)
}

func again(ctx context.Context, c *client.Client, p client.CreateWalletParameters) (*client.CreateWalletResult, error) {
	request, err := p.Prepare(c)
	if err != nil {
		return nil, err
	}
	// Keep request.Operation, request.ResultKey and request.Body, if it must survive this process.
	for {
		wallet, activity, err := request.Send(ctx, c)
		var refused *client.Error // with 5xx the server could not tell
		if activity != nil || ctx.Err() != nil || errors.As(err, &refused) && refused.Status < 500 {
			return wallet, err
		}
		time.Sleep(time.Second)
	}
}

func importKey(ctx context.Context, c *client.Client, want client.Expect, secret []byte) error {
	target, _, err := c.InitImportPrivateKey(ctx, client.InitImportPrivateKeyParameters{UserID: want.UserID})
	if err != nil {
		return err
	}
	sealed, err := client.SealImport(target.ImportBundle, want, secret)
	if err != nil {
		return err
	}
	_, _, err = c.ImportPrivateKey(ctx, client.ImportPrivateKeyParameters{
		UserID: want.UserID, PrivateKeyName: "Imported", EncryptedBundle: sealed,
		Curve: client.KeyCurveSecp256k1, AddressFormats: []client.AddressFormat{client.AddressFormatEthereum},
	})
	return err
}

func exportWallet(ctx context.Context, c *client.Client, want client.Expect, walletID string) ([]byte, error) {
	recipient, err := client.NewRecipient()
	if err != nil {
		return nil, err
	}
	export, _, err := c.ExportWallet(ctx, client.ExportWalletParameters{WalletID: walletID, TargetPublicKey: recipient.PublicKey()})
	if err != nil {
		return nil, err
	}
	return recipient.OpenExport(export.ExportBundle, want)
}

func login(ctx context.Context, c *client.Client, want client.Expect, contact string, ask func() string) (client.Stamper, error) {
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		return nil, err
	}
	sent, _, err := c.InitOTP(ctx, client.InitOTPParameters{OTPType: client.OTPTypeEmail, Contact: contact, AppName: "My app"})
	if err != nil {
		return nil, err
	}
	sealed, err := client.SealOTPCode(sent.OTPEncryptionTargetBundle, want, ask(), key.PublicKey())
	if err != nil {
		return nil, err
	}
	verified, _, err := c.VerifyOTP(ctx, client.VerifyOTPParameters{OTPID: sent.OTPID, EncryptedOTPBundle: sealed})
	if err != nil {
		return nil, err
	}
	proof, err := key.SignLogin(verified.VerificationToken, key.PublicKey())
	if err != nil {
		return nil, err
	}
	_, _, err = c.OTPLogin(ctx, client.OTPLoginParameters{
		VerificationToken: verified.VerificationToken, PublicKey: key.PublicKey(), ClientSignature: *proof,
	})
	return key.Stamper(), err
}

func older(ctx context.Context, c *client.Client) (*client.Activity, error) {
	return c.Submit(ctx, "create_users", "ACTIVITY_TYPE_CREATE_USERS_V2", map[string]any{
		"users": []any{map[string]any{
			"userName": "Carol", "userEmail": "carol@example.com",
			"apiKeys": []any{}, "authenticators": []any{}, "userTags": []any{},
		}},
	})
}

func inChild(ctx context.Context, c *client.Client, childID string) (*client.ListUsersReply, error) {
	return c.In(childID).ListUsers(ctx, client.ListUsersRequest{})
}
