package client_test

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/test/servertest"
)

// A passkey is registered and stamps requests.
func TestPasskey(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, root := t.Context(), clientOf(s, s.Root)
		const origin = "https://localhost"
		for _, algorithm := range []passkeytest.Algorithm{passkeytest.ES256, passkeytest.RS256} {
			key := passkeytest.New(t, algorithm)
			challenge := passkeytest.Encode([]byte("a challenge"))
			answer := key.Register(challenge, origin)
			if _, _, err := root.CreateAuthenticators(ctx, client.CreateAuthenticatorsParameters{
				UserID: s.Root.UserID, Authenticators: []client.AuthenticatorParameters{{
					AuthenticatorName: "Passkey " + key.CredentialID(), Challenge: challenge, Attestation: client.AttestationParameters{
						CredentialID: answer.CredentialID, ClientDataJSON: answer.ClientDataJSON, AttestationObject: answer.AttestationObject,
						Transports: []client.AuthenticatorTransport{client.AuthenticatorTransportInternal},
					},
				}},
			}); err != nil {
				t.Fatal(err)
			}
			c := clientOf(s, s.Root)
			c.Stamper = client.NewPasskeyStamper(func(challenge []byte) (client.Assertion, error) { return assert(key, challenge, origin) })
			tag, activity, err := c.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "by " + key.CredentialID()})
			if err != nil || tag.UserTagID == "" || activity.Votes[0].Scheme != "SIGNATURE_SCHEME_TK_WEBAUTHN" {
				t.Errorf("%+v, %v", activity, err)
			}
		}
		c := clientOf(s, s.Root)
		c.Stamper = client.NewPasskeyStamper(func([]byte) (client.Assertion, error) { return client.Assertion{}, errors.New("cancelled") })
		if _, err := c.Whoami(ctx, client.WhoamiRequest{}); err == nil || !strings.Contains(err.Error(), "cancelled") {
			t.Errorf("%v", err)
		}
		c.Stamper = client.NewPasskeyStamper(func([]byte) (client.Assertion, error) { return client.Assertion{}, nil })
		if _, err := c.Whoami(ctx, client.WhoamiRequest{}); err == nil || !strings.Contains(err.Error(), "not complete") {
			t.Errorf("%v", err)
		}
	})
}

// assert is what a browser and an authenticator do with a challenge.
func assert(key *passkeytest.Key, challenge []byte, origin string) (client.Assertion, error) {
	clientData := passkeytest.ClientData("webauthn.get", passkeytest.Encode(challenge), origin)
	data := binary.BigEndian.AppendUint32(append(key.RPIDHash(), passkeytest.UserPresent), key.Counter())
	hash := sha256.Sum256(clientData)
	digest := sha256.Sum256(slices.Concat(data, hash[:]))
	signature, err := key.Private.Sign(rand.Reader, digest[:], crypto.SHA256)
	return client.Assertion{CredentialID: key.ID, ClientDataJSON: clientData, AuthenticatorData: data, Signature: signature}, err
}
