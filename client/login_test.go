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

// A code that was sent by mail becomes a login, by each of the two ways, and a
// login becomes sessions.
func TestLoginByCode(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		l := newCodeLogin(t, s)
		l.expectOwner(l.otpLogin().Stamper())
		key := l.stampLogin()
		l.expectOwner(key.Stamper())
		l.readWriteSession(key)
		l.readOnlySession(key)
	})
}

// codeLogin is a sub-organization whose owner logs in with codes.
type codeLogin struct {
	t      *testing.T
	s      *servertest.Server
	parent *client.Client
	child  string // id of the sub-organization
}

const ownerContact = "owner@example.com"

func newCodeLogin(t *testing.T, s *servertest.Server) *codeLogin {
	t.Helper()
	parent := clientOf(s, s.Root)
	child, _, err := parent.CreateSubOrganization(t.Context(), client.CreateSubOrganizationParameters{
		SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{{
			UserName: "Owner", UserEmail: ownerContact,
			APIKeys: []client.APIKeyParameters{newKey(t, client.Secp256k1).Registration("First")},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &codeLogin{t: t, s: s, parent: parent, child: child.SubOrganizationID}
}

// as is the client of a stamper in the sub-organization.
func (l *codeLogin) as(stamper client.Stamper) *client.Client {
	return clientWith(l.s, l.child, stamper)
}

func (l *codeLogin) expectOwner(stamper client.Stamper) {
	l.t.Helper()
	if who, err := l.as(stamper).Whoami(l.t.Context(), client.WhoamiRequest{}); err != nil || who.Username != "Owner" {
		l.t.Errorf("%+v, %v", who, err)
	}
}

// verify requests a code, and returns the verification token that it gives for
// a key.
func (l *codeLogin) verify(key client.PrivateKey) string {
	l.t.Helper()
	ctx := l.t.Context()
	sent, _, err := l.parent.InitOTP(ctx, client.InitOTPParameters{OTPType: client.OTPTypeEmail, Contact: ownerContact, AppName: "Test"})
	if err != nil {
		l.t.Fatal(err)
	}
	code := l.s.MailTo(l.t, ownerContact).Code
	sealed, err := client.SealOTPCode(sent.OTPEncryptionTargetBundle, expect(l.s, l.s.Root), code, key.PublicKey())
	if err != nil {
		l.t.Fatal(err)
	}
	verified, _, err := l.parent.VerifyOTP(ctx, client.VerifyOTPParameters{OTPID: sent.OTPID, EncryptedOTPBundle: sealed})
	if err != nil {
		l.t.Fatal(err)
	}
	return verified.VerificationToken
}

// otpLogin logs a key in: the parent passes on what the key has signed.
func (l *codeLogin) otpLogin() client.PrivateKey {
	l.t.Helper()
	key := newKey(l.t, client.P256)
	token := l.verify(key)
	proof, err := key.SignLogin(token, key.PublicKey())
	if err != nil {
		l.t.Fatal(err)
	}
	if _, _, err := l.parent.In(l.child).OTPLogin(l.t.Context(), client.OTPLoginParameters{
		VerificationToken: token, PublicKey: key.PublicKey(), ClientSignature: *proof,
	}); err != nil {
		l.t.Fatal(err)
	}
	return key
}

// stampLogin logs a key in: the token vouches for the key that signs.
func (l *codeLogin) stampLogin() client.PrivateKey {
	l.t.Helper()
	key := newKey(l.t, client.P256)
	stamper, err := key.VerificationStamper(l.verify(key))
	if err != nil {
		l.t.Fatal(err)
	}
	login := clientWith(l.s, l.s.Root.OrganizationID, stamper)
	if _, _, err := login.StampLogin(l.t.Context(), client.StampLoginParameters{PublicKey: key.PublicKey()}); err != nil {
		l.t.Fatal(err)
	}
	return key
}

// readWriteSession opens a session that can do everything.
func (l *codeLogin) readWriteSession(key client.PrivateKey) {
	l.t.Helper()
	recipient, err := key.Recipient()
	if err != nil {
		l.t.Fatal(err)
	}
	session, _, err := l.as(key.Stamper()).CreateReadWriteSession(l.t.Context(), client.CreateReadWriteSessionParameters{
		TargetPublicKey: recipient.PublicKey(),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	opened, err := recipient.OpenCredential(session.CredentialBundle)
	if err != nil {
		l.t.Fatal(err)
	}
	l.expectOwner(opened.Stamper())
	if _, err := recipient.OpenCredential(session.CredentialBundle + "1"); err == nil {
		l.t.Error("a damaged bundle is opened")
	}
}

// readOnlySession opens a session that reads, and writes with it in vain.
func (l *codeLogin) readOnlySession(key client.PrivateKey) {
	l.t.Helper()
	ctx := l.t.Context()
	reading, _, err := l.as(key.Stamper()).CreateReadOnlySession(ctx, client.CreateReadOnlySessionParameters{})
	if err != nil {
		l.t.Fatal(err)
	}
	stamper := client.NewSessionStamper(reading.Session)
	l.expectOwner(stamper)
	var refusal *client.Error
	if _, _, err := l.as(stamper).CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "x"}); !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized {
		l.t.Errorf("a session that reads writes: %v", err)
	}
}

// A token of an issuer vouches for a key.
func TestLoginByIssuer(t *testing.T) {
	issuer := oidctest.Start(t)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, parent := t.Context(), clientOf(s, s.Root)
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
		login := clientWith(s, s.Root.OrganizationID, stamper)
		if _, _, err := login.StampLogin(ctx, client.StampLoginParameters{PublicKey: key.PublicKey()}); err != nil {
			t.Fatal(err)
		}
		user := clientWith(s, child.SubOrganizationID, key.Stamper())
		if who, err := user.Whoami(ctx, client.WhoamiRequest{}); err != nil || who.Username != "Ada" {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// Users sign up on their own: the verified contact and the key are theirs.
func TestSignup(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, parent := t.Context(), clientOf(s, s.Root)
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
