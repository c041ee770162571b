package passkey_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/proof/passkey"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/test/testkit"
)

// What Verify accepts has one form, and is accepted again in that form and in
// others of the same meaning; it fits no other challenge. What it refuses is
// refused as a client can read it.
func FuzzVerify(f *testing.F) {
	add := func(a passkey.Answer) {
		f.Add(a.Challenge, testkit.Unbase64(f, a.CredentialID), testkit.Unbase64(f, a.ClientDataJSON), testkit.Unbase64(f, a.AttestationObject))
	}
	add(published)
	for _, v := range vectors(f) {
		add(v.answer())
	}
	for _, algorithm := range []passkeytest.Algorithm{passkeytest.ES256, passkeytest.RS256} {
		key := passkeytest.New(f, algorithm)
		for _, key.Format = range algorithm.Formats() {
			add(key.Register(challenge, origin))
		}
	}
	f.Add("", []byte{}, []byte("{}"), []byte{0xa0})
	f.Fuzz(func(t *testing.T, challenge string, id, clientData, object []byte) {
		a := passkey.Answer{
			Challenge: challenge, CredentialID: passkeytest.Encode(id),
			ClientDataJSON: passkeytest.Encode(clientData), AttestationObject: passkeytest.Encode(object),
		}
		got, err := passkey.Verify(a, nil)
		if err != nil {
			if got != nil {
				t.Errorf("got %+v with an error", got)
			}
			_ = checkRefusal(t, err)
			return
		}
		if got.CredentialID != a.CredentialID || len(id) == 0 || len(id) > 1023 || len(got.COSEKey) == 0 || len(got.RPIDHash) != 32 || len(got.AAGUID) != 16 {
			t.Errorf("got %+v", got)
		}
		if !slices.Contains([]string{"none", "packed", "fido-u2f", "apple", "android-key", "tpm"}, got.Attestation) {
			t.Errorf("format %q", got.Attestation)
		}
		std := passkey.Answer{
			Challenge: challenge + "=", CredentialID: base64.StdEncoding.EncodeToString(id),
			ClientDataJSON: base64.StdEncoding.EncodeToString(clientData), AttestationObject: base64.StdEncoding.EncodeToString(object),
		}
		again, err := passkey.Verify(std, []string{"*"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Error(diff)
		}
		// The key, put back into a registration of its own, is the same key.
		key := passkeytest.Key{ID: id, RPID: "localhost", Flags: passkeytest.UserPresent}
		r := passkeytest.Registration{Challenge: "Bw", ID: id, ClientData: passkeytest.ClientData("webauthn.create", "Bw", "x"), Format: "none", Statement: map[string]any{}}
		r.AuthData = key.AuthData(id, got.COSEKey, nil)
		again, err = passkey.Verify(r.Answer(), nil)
		if err != nil || !slices.Equal(again.COSEKey, got.COSEKey) {
			t.Errorf("the key is not stable: %v", err)
		}
		a.Challenge += "A"
		if _, err := passkey.Verify(a, nil); err == nil {
			t.Error("fits another challenge")
		}
		if _, err := passkey.Verify(a, []string{"https://not.the.origin.of.any.seed"}); err == nil {
			t.Error("fits every origin")
		}
	})
}
