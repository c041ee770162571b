package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/test/oidctest"
	"latchkey/internal/test/servertest"
)

// A code that was sent by mail becomes a login, by each of the two ways.
func TestLoginByCode(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, parent := t.Context(), of(s, s.Root)
		const contact = "owner@example.com"
		owner, err := client.GenerateKey(client.Secp256k1)
		if err != nil {
			t.Fatal(err)
		}
		child, _, err := parent.CreateSubOrganization(ctx, client.CreateSubOrganizationParameters{
			SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{{
				UserName: "Owner", UserEmail: contact, APIKeys: []client.APIKeyParameters{owner.Registration("First")},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		verify := func(key client.PrivateKey) string {
			t.Helper()
			sent, _, err := parent.InitOTP(ctx, client.InitOTPParameters{OTPType: client.OTPTypeEmail, Contact: contact, AppName: "Test"})
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := client.SealOTPCode(sent.OTPEncryptionTargetBundle, expect(s, s.Root), s.MailTo(t, contact).Code, key.PublicKey())
			if err != nil {
				t.Fatal(err)
			}
			verified, _, err := parent.VerifyOTP(ctx, client.VerifyOTPParameters{OTPID: sent.OTPID, EncryptedOTPBundle: sealed})
			if err != nil {
				t.Fatal(err)
			}
			return verified.VerificationToken
		}
		whoami := func(stamper client.Stamper) {
			t.Helper()
			c := at(s, child.SubOrganizationID, stamper)
			if who, err := c.Whoami(ctx, client.WhoamiRequest{}); err != nil || who.Username != "Owner" {
				t.Errorf("%+v, %v", who, err)
			}
		}

		// otp_login: the parent passes on what the key has signed.
		key := newKey(t, client.P256)
		token := verify(key)
		proof, err := key.SignLogin(token, key.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := parent.In(child.SubOrganizationID).OTPLogin(ctx, client.OTPLoginParameters{
			VerificationToken: token, PublicKey: key.PublicKey(), ClientSignature: *proof,
		}); err != nil {
			t.Fatal(err)
		}
		whoami(key.Stamper())

		// stamp_login: the token vouches for the key that signs.
		key = newKey(t, client.P256)
		stamper, err := key.VerificationStamper(verify(key))
		if err != nil {
			t.Fatal(err)
		}
		login := at(s, s.Root.OrganizationID, stamper)
		if _, _, err := login.StampLogin(ctx, client.StampLoginParameters{PublicKey: key.PublicKey()}); err != nil {
			t.Fatal(err)
		}
		whoami(key.Stamper())

		// A session that can do everything, and one that reads.
		recipient, err := key.Recipient()
		if err != nil {
			t.Fatal(err)
		}
		user := at(s, child.SubOrganizationID, key.Stamper())
		session, _, err := user.CreateReadWriteSession(ctx, client.CreateReadWriteSessionParameters{TargetPublicKey: recipient.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		opened, err := recipient.OpenCredential(session.CredentialBundle)
		if err != nil {
			t.Fatal(err)
		}
		whoami(opened.Stamper())
		if _, err := recipient.OpenCredential(session.CredentialBundle + "1"); err == nil {
			t.Error("a damaged bundle is opened")
		}
		reading, _, err := user.CreateReadOnlySession(ctx, client.CreateReadOnlySessionParameters{})
		if err != nil {
			t.Fatal(err)
		}
		whoami(client.NewSessionStamper(reading.Session))
		user.Stamper = client.NewSessionStamper(reading.Session)
		var refusal *client.Error
		if _, _, err := user.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "x"}); !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized {
			t.Errorf("a session that reads writes: %v", err)
		}
	})
}

// A token of an issuer vouches for a key.
func TestLoginByIssuer(t *testing.T) {
	issuer := oidctest.Start(t)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, parent := t.Context(), of(s, s.Root)
		mint := func(publicKey string) string {
			nonce := sha256.Sum256([]byte(publicKey))
			return issuer.Mint(map[string]any{
				"iss": issuer.URL, "aud": "app", "sub": "ada", "nonce": hex.EncodeToString(nonce[:]),
				"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
			}, "ES256")
		}
		child, _, err := parent.CreateSubOrganization(ctx, client.CreateSubOrganizationParameters{
			SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{{
				UserName: "Ada", OAuthProviders: []client.OAuthProviderParameters{{ProviderName: "Issuer", OIDCToken: mint("")}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		key := newKey(t, client.P256)
		stamper, err := key.OIDCStamper(mint(key.PublicKey()))
		if err != nil {
			t.Fatal(err)
		}
		login := at(s, s.Root.OrganizationID, stamper)
		if _, _, err := login.StampLogin(ctx, client.StampLoginParameters{PublicKey: key.PublicKey()}); err != nil {
			t.Fatal(err)
		}
		user := at(s, child.SubOrganizationID, key.Stamper())
		if who, err := user.Whoami(ctx, client.WhoamiRequest{}); err != nil || who.Username != "Ada" {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// A user signs himself up: the verified contact and the key are his.
func TestSignup(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, parent := t.Context(), of(s, s.Root)
		if _, _, err := parent.SetOrganizationFeature(ctx, client.SetOrganizationFeatureParameters{Name: client.FeatureNameSMSAuth}); err != nil {
			t.Fatal(err)
		}
		key := newKey(t, client.P256)
		sent, _, err := parent.InitOTP(ctx, client.InitOTPParameters{OTPType: client.OTPTypeSMS, Contact: "+14155550100", AppName: "Test"})
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := client.SealOTPCode(sent.OTPEncryptionTargetBundle, expect(s, s.Root), s.MailTo(t, "+14155550100").Code, key.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		verified, _, err := parent.VerifyOTP(ctx, client.VerifyOTPParameters{OTPID: sent.OTPID, EncryptedOTPBundle: sealed})
		if err != nil {
			t.Fatal(err)
		}
		user := client.RootUserParameters{UserName: "Owner", UserPhoneNumber: "+14155550100", APIKeys: []client.APIKeyParameters{key.Registration("Phone")}}
		proof, err := key.SignSignup(verified.VerificationToken, user)
		if err != nil {
			t.Fatal(err)
		}
		parameters := client.CreateSubOrganizationParameters{
			SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{user},
			VerificationToken: verified.VerificationToken, ClientSignature: proof,
		}
		other := parameters
		other.RootUsers = []client.RootUserParameters{user}
		other.RootUsers[0].APIKeys = []client.APIKeyParameters{newKey(t, client.P256).Registration("Phone")}
		if _, _, err := parent.CreateSubOrganization(ctx, other); err == nil || !strings.Contains(err.Error(), "signs up another user") {
			t.Errorf("another key: %v", err)
		}
		if _, _, err := parent.CreateSubOrganization(ctx, parameters); err != nil {
			t.Error(err)
		}
	})
}
