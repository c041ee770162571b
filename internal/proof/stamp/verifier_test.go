package stamp

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/test/testkit"
)

// offCurve looks like a compressed key, but P-256 has no point with x = 1.
const offCurve = "020000000000000000000000000000000000000000000000000000000000000001"

func TestEIP191Digest(t *testing.T) {
	const want = "c36292a5b3f5d38bec0c54447228c5ba4452fa7d655b7116ed43e5cd64768388"
	if got := eip191([]byte(body)); hex.EncodeToString(got[:]) != want {
		t.Errorf("got %x, want %s", got, want)
	}
}

func TestVerifyAPIKey(t *testing.T) {
	const bare = "could not verify api key signature"
	tests := []struct {
		name   string
		key    string
		scheme Scheme
		sig    string
		body   string
		parts  []string // nil: verifies; one empty part: the bare message
	}{
		{"P-256, s in the upper half", p256Key, P256, p256Sig, body, nil},
		{"P-256, s in the lower half", p256Key, P256, otherHalf(t, curve.P256, p256Sig), body, nil},
		{"secp256k1", k256Key, Secp256k1, k256Sig, body, nil},
		{"secp256k1, s in the upper half", k256Key, Secp256k1, otherHalf(t, curve.Secp256k1, k256Sig), body, nil},
		{"EIP-191", k256Key, Secp256k1EIP191, eip191Sig, body, nil},
		{"EIP-191, s in the upper half", k256Key, Secp256k1EIP191, otherHalf(t, curve.Secp256k1, eip191Sig), body, nil},
		{"Ed25519", edwardsKey, Ed25519, edwardsSig, body, nil},
		{"upper case", strings.ToUpper(p256Key), P256, strings.ToUpper(p256Sig), body, nil},

		{"P-256, other body", p256Key, P256, p256Sig, body + "\n", []string{""}},
		{"P-256, no body", p256Key, P256, p256Sig, "", []string{""}},
		{"secp256k1, other body", k256Key, Secp256k1, k256Sig, body + " ", []string{""}},
		{"EIP-191, other body", k256Key, Secp256k1EIP191, eip191Sig, body[1:], []string{""}},
		{"Ed25519, other body", edwardsKey, Ed25519, edwardsSig, body + "\n", []string{""}},
		{"P-256, other key", "0257e977f6db7e33c3fe7acf2842ed987009caf56d458682fca447b7d3d762ab34", P256, p256Sig, body, []string{""}},
		{"P-256, the key's negative", "03" + p256Key[2:], P256, p256Sig, body, []string{""}},
		{"secp256k1, hash of EIP-191", k256Key, Secp256k1, eip191Sig, body, []string{""}},
		{"EIP-191, hash of secp256k1", k256Key, Secp256k1EIP191, k256Sig, body, []string{""}},
		{"zero", p256Key, P256, "3006020100020100", body, []string{""}},
		{"secp256k1 zero", k256Key, Secp256k1, "3006020100020100", body, []string{""}},

		{"secp256k1 key with the scheme of P-256", k256Key, P256, k256Sig, body, []string{""}}, // its x is on both curves
		{"key not on the scheme's curve", offCurve, P256, k256Sig, body, []string{": public key is not a compressed point of the curve P-256"}},
		{"Ed25519, small order", strings.Repeat("00", 32), Ed25519, edwardsSig, body, []string{": public key is a point of small order"}},
		{"cut", p256Key, P256, p256Sig[:len(p256Sig)-2], body, []string{": signature must be DER: "}},
		{"trailing byte", p256Key, P256, p256Sig + "00", body, []string{": signature must be DER: 1 bytes follow"}},
		{"raw r and s", p256Key, P256, strings.Repeat("11", 64), body, []string{": signature must be DER: "}},
		{"Ed25519, cut", edwardsKey, Ed25519, edwardsSig[2:], body, []string{": signature must be 64 bytes"}},
		{"Ed25519, DER", edwardsKey, Ed25519, p256Sig, body, []string{": signature must be 64 bytes"}},
	}
	var v Verifier
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read(one("X-Stamp", apiKeyHeader(tt.key, tt.scheme, tt.sig)))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // with a new key, and with a remembered one
				err = v.VerifyAPIKey(s, []byte(tt.body))
				switch {
				case tt.parts == nil && err != nil:
					t.Error(err)
				case tt.parts != nil && tt.parts[0] == "":
					wantRefusal(t, err, fault.ReasonSignatureInvalid, bare)
				case tt.parts != nil:
					wantRefusal(t, err, fault.ReasonSignatureInvalid, bare, tt.parts...)
				}
			}
		})
	}

	t.Run("stamp of a passkey", func(t *testing.T) {
		s, err := Read(one("X-Stamp-Webauthn", webauthnHeader))
		if err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, v.VerifyAPIKey(s, []byte(body)), fault.ReasonSignatureInvalid, bare, "not that of an API key")
		wantRefusal(t, v.VerifyAPIKey(&Stamp{}, nil), fault.ReasonSignatureInvalid, bare, "not that of an API key")
		wantRefusal(t, v.VerifyAPIKey(&Stamp{Scheme: P256, PublicKey: p256Key}, nil), fault.ReasonSignatureInvalid, bare, "DER")
	})
}

// Wallets pad r and s to 32 bytes and put a zero before a byte with the sign
// bit, but strip nothing. About one signature in 128 thus has an integer that
// is not minimal; these are found by signing many bodies.
func TestVerifyAPIKeyNotMinimal(t *testing.T) {
	private := secp256k1.PrivKeyFromBytes(testkit.Unhex(t, strings.Repeat("44", 32)))
	wallet := func(v [32]byte) string {
		if v[0] >= 0x80 {
			return fmt.Sprintf("022100%x", v)
		}
		return fmt.Sprintf("0220%x", v)
	}
	var v Verifier
	found := 0
	for i := 0; found < 3; i++ {
		if i == 5000 {
			t.Fatalf("only %d found", found)
		}
		message := fmt.Appendf(nil, `{"n":%d}`, i)
		digest := eip191(message)
		sig := secp.Sign(private, digest[:])
		r, s := sig.R(), sig.S()
		// A zero byte before one without the sign bit.
		if rb := r.Bytes(); rb[0] != 0 || rb[1] >= 0x80 {
			continue
		}
		found++
		integers := wallet(r.Bytes()) + wallet(s.Bytes())
		der := fmt.Sprintf("30%02x", len(integers)/2) + integers
		st, err := Read(one("X-Stamp", apiKeyHeader(k256Key, Secp256k1EIP191, der)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := secp.ParseDERSignature(testkit.Unhex(t, der)); err == nil {
			t.Errorf("%s is canonical: the search is wrong", der)
		}
		if err := v.VerifyAPIKey(st, message); err != nil {
			t.Errorf("%s: %v", der, err)
		}
	}
}

// otherHalf replaces s by n-s, which verifies just as well.
func otherHalf(t *testing.T, c curve.Curve, sig string) string {
	t.Helper()
	r, s, err := curve.ParseDER(testkit.Unhex(t, sig))
	if err != nil {
		t.Fatal(err)
	}
	order := secp256k1.Params().N
	if c == curve.P256 {
		order = new(big.Int).SetBytes(testkit.Unhex(t, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
	}
	s = new(big.Int).Sub(order, new(big.Int).SetBytes(s)).Bytes()
	integers := fmt.Sprintf("02%02x00%x02%02x00%x", len(r)+1, r, len(s)+1, s)
	return fmt.Sprintf("30%02x", len(integers)/2) + integers
}

func TestVerifierConcurrently(t *testing.T) {
	s, err := Read(one("X-Stamp", p256Header))
	if err != nil {
		t.Fatal(err)
	}
	var v Verifier
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := v.VerifyAPIKey(s, []byte(body)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestPointOffCurve(t *testing.T) {
	s, err := Read(one("X-Stamp", apiKeyHeader(offCurve, P256, p256Sig)))
	if err != nil {
		t.Fatal(err)
	}
	var v Verifier
	for range 2 {
		if v.VerifyAPIKey(s, nil) == nil {
			t.Error("a point that is not on the curve was taken for a key")
		}
	}
}

func BenchmarkVerifyAPIKeyP256(b *testing.B) {
	var v Verifier
	s, err := Read(one("X-Stamp", p256Header))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := v.VerifyAPIKey(s, []byte(body)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadAPIKey(b *testing.B) {
	h := one("X-Stamp", p256Header)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(h); err != nil {
			b.Fatal(err)
		}
	}
}
