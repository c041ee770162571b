package stamp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/test/testkit"
)

// authenticator is a passkey in software. Its fields are what a good stamp is
// made of; a test changes one.
type authenticator struct {
	kind, challenge, origin string
	more                    string // further members of the client data
	rpID                    string
	flags                   byte
	counter                 uint32
	extensions              []byte
	sign                    func(digest [32]byte) []byte
}

func good(sign func([32]byte) []byte) authenticator {
	digest := sha256.Sum256([]byte(body))
	return authenticator{
		kind: "webauthn.get", challenge: hex.EncodeToString(digest[:]), origin: "http://localhost:3000",
		rpID: "localhost", flags: flagUserPresent, counter: 7, sign: sign,
	}
}

func (a authenticator) stamp(t *testing.T) *Stamp {
	t.Helper()
	clientData := fmt.Sprintf(`{"type":%q,"challenge":%q,"origin":%q%s}`, a.kind, encode(a.challenge), a.origin, a.more)
	rp := sha256.Sum256([]byte(a.rpID))
	authData := append(rp[:], a.flags)
	authData = binary.BigEndian.AppendUint32(authData, a.counter)
	authData = append(authData, a.extensions...)
	hash := sha256.Sum256([]byte(clientData))
	sig := a.sign(sha256.Sum256(slices.Concat(authData, hash[:])))
	s, err := Read(one("X-Stamp-Webauthn", fmt.Sprintf(
		`{"credentialId":"AAECAwQFBgcICQoLDA0ODw","clientDataJson":%q,"authenticatorData":%q,"signature":%q}`,
		encode(clientData), toBase64(authData), toBase64(sig))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func es256(t *testing.T, c elliptic.Curve) (sign func([32]byte) []byte, x, y []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	half := len(point) / 2
	return func(digest [32]byte) []byte {
		sig, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}, point[1 : 1+half], point[1+half:]
}

// cose writes a CBOR map of integers and byte strings, which is all that COSE
// keys are made of.
func cose(pairs ...any) []byte {
	head := func(kind byte, n int) []byte {
		switch {
		case n < 24:
			return []byte{kind<<5 | byte(n)}
		case n < 256:
			return []byte{kind<<5 | 24, byte(n)}
		}
		return []byte{kind<<5 | 25, byte(n >> 8), byte(n)}
	}
	out := head(5, len(pairs)/2)
	for _, v := range pairs {
		switch v := v.(type) {
		case int:
			if v < 0 {
				out = append(out, head(1, -1-v)...)
			} else {
				out = append(out, head(0, v)...)
			}
		case []byte:
			out = append(append(out, head(2, len(v))...), v...)
		}
	}
	return out
}

func TestVerifyPasskeyVector(t *testing.T) {
	rp := sha256.Sum256([]byte("localhost"))
	stored := Passkey{COSEKey: testkit.Unbase64(t, coseKey), RPIDHash: rp[:], Origins: []string{"http://localhost:3000"}}
	s, err := Read(one("X-Stamp-Webauthn", webauthnHeader))
	if err != nil {
		t.Fatal(err)
	}
	var v Verifier
	for range 2 {
		counter, err := v.VerifyPasskey(s, []byte(body), stored)
		if err != nil || counter != 0 {
			t.Errorf("got %d, %v", counter, err)
		}
	}
	// What a vote stores is enough to check it again.
	again, err := Read(one("X-Stamp-Webauthn", s.Signature))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.VerifyPasskey(again, []byte(body), stored); err != nil {
		t.Error(err)
	}
}

func TestVerifyPasskey(t *testing.T) {
	sign, x, y := es256(t, elliptic.P256())
	other, _, _ := es256(t, elliptic.P256())
	_, x384, y384 := es256(t, elliptic.P384())
	rp := sha256.Sum256([]byte("localhost"))
	now := Passkey{COSEKey: cose(1, 2, 3, -7, -1, 1, -2, x, -3, y), RPIDHash: rp[:]}

	tests := []struct {
		name   string
		change func(a *authenticator, p *Passkey)
		want   string // part of the message; empty: verifies
	}{
		{"as it should be", func(*authenticator, *Passkey) {}, ""},
		{"unknown members", func(a *authenticator, _ *Passkey) {
			a.more = `,"crossOrigin":false,"other_keys_can_be_added_here":["do not compare",{"a":null}]`
		}, ""},
		{"user verified, backed up", func(a *authenticator, _ *Passkey) { a.flags = 0x1d }, ""},
		{"extensions", func(a *authenticator, _ *Passkey) { a.flags, a.extensions = 0x81, []byte{0xa0} }, ""},
		{"any origin by star", func(_ *authenticator, p *Passkey) { p.Origins = []string{"https://a.example", "*"} }, ""},
		{"any counter", func(a *authenticator, _ *Passkey) { a.counter = 1<<32 - 1 }, ""},
		{"no counter", func(a *authenticator, _ *Passkey) { a.counter = 0 }, ""},
		{"no origins", func(_ *authenticator, p *Passkey) { p.Origins = nil }, ""},
		{"an empty list of origins", func(_ *authenticator, p *Passkey) { p.Origins = []string{} }, "is not allowed"},
		{"listed origin", func(_ *authenticator, p *Passkey) {
			p.Origins = []string{"https://a.example", "http://localhost:3000"}
		}, ""},

		{"type", func(a *authenticator, _ *Passkey) { a.kind = "webauthn.create" }, `type is "webauthn.create": it must be "webauthn.get"`},
		{"challenge of another body", func(a *authenticator, _ *Passkey) { a.challenge = strings.Repeat("0", 64) }, "challenge does not fit the body"},
		{"challenge as bytes", func(a *authenticator, _ *Passkey) {
			digest := sha256.Sum256([]byte(body))
			a.challenge = string(digest[:])
		}, "challenge does not fit the body"},
		{"challenge in upper case", func(a *authenticator, _ *Passkey) { a.challenge = strings.ToUpper(a.challenge) }, "challenge does not fit the body"},
		{"challenge empty", func(a *authenticator, _ *Passkey) { a.challenge = "" }, "challenge does not fit the body"},
		{"origin", func(_ *authenticator, p *Passkey) { p.Origins = []string{"http://localhost:3001"} }, `origin "http://localhost:3000" is not allowed`},
		{"origin by prefix", func(_ *authenticator, p *Passkey) { p.Origins = []string{"http://localhost"} }, "is not allowed"},
		{"relying party", func(a *authenticator, _ *Passkey) { a.rpID = "example.com" }, "rpIdHash is not that"},
		{"relying party not stored", func(_ *authenticator, p *Passkey) { p.RPIDHash = nil }, "rpIdHash is not that"},
		{"user absent", func(a *authenticator, _ *Passkey) { a.flags = 0x04 }, "user-present flag is not set"},
		{"other key", func(a *authenticator, _ *Passkey) { a.sign = other }, "signature does not fit"},
		{"signature of the wrong thing", func(a *authenticator, _ *Passkey) {
			a.sign = func([32]byte) []byte { return sign(sha256.Sum256([]byte(body))) }
		}, "signature does not fit"},
		{"signature is garbage", func(a *authenticator, _ *Passkey) { a.sign = func([32]byte) []byte { return []byte{1} } }, "signature does not fit"},
		{"no key", func(_ *authenticator, p *Passkey) { p.COSEKey = nil }, "it must be ES256 or RS256"},
		{"ES384 key", func(_ *authenticator, p *Passkey) { p.COSEKey = cose(1, 2, 3, -35, -1, 2, -2, x384, -3, y384) }, "it must be ES256 or RS256"},
		{"ESP256 key", func(_ *authenticator, p *Passkey) { p.COSEKey = cose(1, 2, 3, -9, -1, 1, -2, x, -3, y) }, "it must be ES256 or RS256"},
		{"EdDSA key", func(_ *authenticator, p *Passkey) {
			p.COSEKey = cose(1, 1, 3, -8, -1, 6, -2, testkit.Unhex(t, edwardsKey))
		}, "it must be ES256 or RS256"},
		{"point off the curve", func(_ *authenticator, p *Passkey) { p.COSEKey = cose(1, 2, 3, -7, -1, 1, -2, x, -3, x) }, "it must be ES256 or RS256"},
	}
	var v Verifier
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, p := good(sign), now
			tt.change(&a, &p)
			counter, err := v.VerifyPasskey(a.stamp(t), []byte(body), p)
			if tt.want != "" {
				wantRefusal(t, err, fault.ReasonSignatureInvalid, "could not verify WebAuthN signature: ", tt.want)
				return
			}
			if err != nil || counter != a.counter {
				t.Errorf("got %d, %v", counter, err)
			}
		})
	}

	t.Run("stamp of an API key", func(t *testing.T) {
		s, err := Read(one("X-Stamp", p256Header))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Stamp{s, {}, {Scheme: Webauthn}} {
			_, err := v.VerifyPasskey(s, []byte(body), now)
			wantRefusal(t, err, fault.ReasonSignatureInvalid, "could not verify WebAuthN signature: ", "not that of a passkey")
		}
	})
	t.Run("the cause is kept", func(t *testing.T) {
		p := now
		p.COSEKey = []byte("x")
		_, err := v.VerifyPasskey(good(sign).stamp(t), []byte(body), p)
		if errors.Unwrap(err) == nil {
			t.Error("no cause")
		}
	})
}

func TestVerifyPasskeyRSA(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := func(digest [32]byte) []byte {
		sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}
	pss := func(digest [32]byte) []byte {
		sig, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], nil)
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}
	n, e := key.N.Bytes(), big.NewInt(int64(key.E)).Bytes()
	rp := sha256.Sum256([]byte("localhost"))
	tests := []struct {
		name string
		cose []byte
		sign func([32]byte) []byte
		want string
	}{
		{"RS256", cose(1, 3, 3, -257, -1, n, -2, e), pkcs1, ""},
		{"RS256 with a PSS signature", cose(1, 3, 3, -257, -1, n, -2, e), pss, "signature does not fit"},
		{"PS256", cose(1, 3, 3, -37, -1, n, -2, e), pss, "it must be ES256 or RS256"},
		{"RS512", cose(1, 3, 3, -259, -1, n, -2, e), pkcs1, "it must be ES256 or RS256"},
		{"1024 bits", cose(1, 3, 3, -257, -1, n[:128], -2, e), pkcs1, "it must be ES256 or RS256"},
		{"exponent 1", cose(1, 3, 3, -257, -1, n, -2, []byte{1}), pkcs1, "signature does not fit"},
		{"no exponent", cose(1, 3, 3, -257, -1, n), pkcs1, "it must be ES256 or RS256"},
	}
	var v Verifier
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := v.VerifyPasskey(good(tt.sign).stamp(t), []byte(body), Passkey{COSEKey: tt.cose, RPIDHash: rp[:]})
			if tt.want != "" {
				wantRefusal(t, err, fault.ReasonSignatureInvalid, "could not verify WebAuthN signature: ", tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
