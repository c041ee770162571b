package client

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
)

// Bundles that published clients opened, with the key that they are for.
const (
	exampleSigner = "040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794"
	exampleTarget = `{"version":"v1.0.0","data":"7b227461726765745075626c6963223a2230343531613735383038333338393865613162313833636264373335306134303939303738633665663163316531386539373063643736383330333566323565376430313130353232373132623062356137636666303831363835343836393834613934653638333165646163343665373336306661396438333461376138316131222c226f7267616e697a6174696f6e4964223a2266396133316336342d643630342d343265342d396265662d613737333039366166616437222c22757365724964223a2265663765333035632d663038352d346133322d616363662d393339643833373366326163227d","dataSignature":"3045022100c28f7a01b4147a3ec192b7a497eea0d69b4983aae25f7fcc9e238889e18a12bb02200e75767f81e3954b47a24ab8732b4f7005ac8e63fd3ae8271f14c0b64578e761","enclaveQuorumPublic":"040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794"}`
	exampleOrg    = "f9a31c64-d604-42e4-9bef-a773096afad7"
	exampleUser   = "ef7e305c-f085-4a32-accf-939d8373f2ac"
)

var exampleExpect = Expect{SignerPublicKey: exampleSigner, OrganizationID: exampleOrg, UserID: exampleUser}

func TestSealToPublishedTarget(t *testing.T) {
	sealed, err := SealImport(exampleTarget, exampleExpect, []byte("secret"))
	if err != nil || !strings.HasPrefix(sealed, `{"encappedPublic":"04`) {
		t.Errorf("%s, %v", sealed, err)
	}
	if _, err := SealImport(exampleTarget, Expect{SignerPublicKey: exampleSigner, OrganizationID: exampleOrg}, nil); err == nil {
		t.Error("a target of a user who is not expected")
	}
	if _, err := SealOTPCode(exampleTarget, exampleExpect, "123456", p256Public); err != nil {
		t.Error(err)
	}
}

// sealCredential is the server's side of a credential bundle.
func sealCredential(t testing.TB, r *Recipient, scalar []byte) string {
	t.Helper()
	text, err := sealTo(r.public, scalar)
	if err != nil {
		t.Fatal(err)
	}
	var enc, ciphertext []byte
	if _, err := fmt.Sscanf(text, `{"encappedPublic":"%130x","ciphertext":"%x"}`, &enc, &ciphertext); err != nil {
		t.Fatal(err)
	}
	return checksummed(slices.Concat([]byte{2 + enc[64]&1}, enc[1:33], ciphertext))
}

func checksummed(payload []byte) string {
	once := sha256.Sum256(payload)
	twice := sha256.Sum256(once[:])
	return base58.Encode(append(payload, twice[:4]...))
}

func TestOpenCredential(t *testing.T) {
	r, err := NewRecipient()
	if err != nil {
		t.Fatal(err)
	}
	scalar := bytes.Repeat([]byte{0x44}, 32)
	good := sealCredential(t, r, scalar)
	key, err := r.OpenCredential(good)
	if err != nil || key.PublicKey() != p256Public {
		t.Fatalf("%s, %v", key.PublicKey(), err)
	}
	other, err := NewRecipient()
	if err != nil {
		t.Fatal(err)
	}
	other20 := "2"
	if good[20] == '2' {
		other20 = "3"
	}
	for _, tt := range []struct {
		name, text, want string
		recipient        *Recipient
	}{
		{"another recipient", good, "another key", other},
		{"empty", "", "not base58", r},
		{"short", checksummed([]byte{2}), "too short", r},
		{"not base58", "0OIl", "not base58", r},
		{"a character less", good[:len(good)-1], "checksum", r},
		{"a character changed", good[:20] + other20 + good[21:], "checksum", r},
		{"no point", checksummed(make([]byte, 81)), "does not begin with a point", r},
		{"nothing sealed", checksummed(append([]byte{2}, make([]byte, 32)...)), "too short", r},
		{"no key inside", sealCredential(t, r, make([]byte, 32)), "zero or too large", r},
		{"a long key inside", sealCredential(t, r, make([]byte, 33)), "33 bytes long", r},
		{"far too long", strings.Repeat("1", 2000), "too long", r},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.recipient.OpenCredential(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestRecipientIsNotShown(t *testing.T) {
	key, err := ParseKeyFile(fours)
	if err != nil {
		t.Fatal(err)
	}
	r, err := key.Recipient()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d"} {
		if got := fmt.Sprintf(verb, r); got != redacted {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if _, err := r.MarshalText(); err == nil || r.LogValue().String() != redacted {
		t.Error("it is logged or marshalled")
	}
}

// The signature is that of the message, and names the token.
func TestSignUsage(t *testing.T) {
	key, err := ParseKeyFile(fours)
	if err != nil {
		t.Fatal(err)
	}
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"id":"the id"}`)) + ".c2ln"
	for want, sign := range map[string]func() (*ClientSignature, error){
		`{"login":{"publicKey":"02ab"},"tokenId":"the id","type":"USAGE_TYPE_LOGIN"}`: func() (*ClientSignature, error) { return key.SignLogin(token, "02ab") },
		`{"signupV2":{"email":"a@example.com"},"tokenId":"the id","type":"USAGE_TYPE_SIGNUP"}`: func() (*ClientSignature, error) {
			return key.SignSignup(token, RootUserParameters{UserName: "A", UserEmail: "a@example.com"})
		},
	} {
		signed, err := sign()
		if err != nil || signed.Message != want || signed.PublicKey != p256Public || signed.Scheme != ClientSignatureSchemeAPIP256 {
			t.Fatalf("%+v, %v", signed, err)
		}
		raw, err := hex.DecodeString(signed.Signature)
		if err != nil || len(raw) != 64 {
			t.Fatalf("%s, %v", signed.Signature, err)
		}
		digest := sha256.Sum256([]byte(want))
		if !ecdsa.VerifyASN1(&key.secret.p256.PublicKey, digest[:], der(raw)) {
			t.Error("the signature is over something else")
		}
	}
	for _, bad := range []string{"", "a.b", "a.%.c", "a.e30.c", "a.bnVsbA.c"} {
		if _, err := key.SignLogin(bad, "02ab"); err == nil {
			t.Errorf("%q is no token", bad)
		}
	}
}

// der is the other form of a signature: two positive integers.
func der(raw []byte) []byte {
	integer := func(b []byte) []byte {
		b = append([]byte{0}, bytes.TrimLeft(b, "\x00")...)
		if b[1] < 0x80 {
			b = b[1:]
		}
		return append([]byte{2, byte(len(b))}, b...)
	}
	both := slices.Concat(integer(raw[:32]), integer(raw[32:]))
	return append([]byte{0x30, byte(len(both))}, both...)
}

// Whatever opens was signed by the expected key, and says what is expected.
func FuzzOpenBundle(f *testing.F) {
	f.Add(exampleTarget)
	f.Add(strings.Replace(exampleTarget, "v1.0.0", "v1.0.1", 1))
	f.Add(strings.Replace(exampleTarget, "7b22", "7B22", 1))
	f.Add(`{"version":"v1.0.0","data":"","dataSignature":"","enclaveQuorumPublic":"` + exampleSigner + `"}`)
	f.Add("{}")
	r, err := NewRecipient()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := exampleExpect.target(text); err == nil && (got.OrganizationID != exampleOrg || got.UserID != exampleUser || len(got.Public) != 65) {
			t.Errorf("opened %+v, which was not signed", got)
		}
		if _, err := r.OpenExport(text, exampleExpect); err == nil {
			t.Error("opened an export that was not made")
		}
	})
}

// What is read is written the same again.
func FuzzReadCredential(f *testing.F) {
	r, err := NewRecipient()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealCredential(f, r, make([]byte, 32)))
	f.Add("")
	f.Add("1111111111111111111111111111111111111111111111")
	f.Fuzz(func(t *testing.T, text string) {
		enc, ciphertext, err := readCredential(text)
		if err != nil {
			return
		}
		if again := checksummed(slices.Concat([]byte{2 + enc[64]&1}, enc[1:33], ciphertext)); again != text {
			t.Errorf("%q became %q", text, again)
		}
	})
}
