package curve

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"latchkey/internal/test/testkit"
)

// The keys and signatures of one private scalar (0x44 repeated) over one body.
const (
	body       = `{"organizationId":"f9a31c64-d604-42e4-9bef-a773096afad7"}`
	p256Key    = "025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"
	p256Sig    = "304502202777358fe2dd74acbe0ff52053236e57dd4fe3dce8bd31d51ff65ef0d389ee28022100d47322c48a293d1e0611608c947c2635d241248302518041c9a6eae767151ee5"
	k256Key    = "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991"
	k256Sig    = "3045022100de69fd452cd24614c0d03fd3002f0fa13cea9b70d1a067a1a8872a6f5bc20e6202204d3f20148809d5817461244d5478a65be9a689197e46d0ab302bc17da118db0a"
	edwardsKey = "d759793bbc13a2819a827c76adb6fba8a49aee007f49f2d0992d99b825ad2c48"
	edwardsSig = "a4cba2a95a13113c109722034e61efa49f826c08648affda3344c3577503835d48cfdf897e9d6f77cccd2c0340951f24cdd96db00162c87da3bdafd0e2a5210b"
	p256Order  = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
)

func TestParsePublicKey(t *testing.T) {
	tests := []struct {
		name  string
		curve Curve
		text  string
		want  string // part of the error; empty: the key is good
	}{
		{"P-256", P256, p256Key, ""},
		{"secp256k1", Secp256k1, k256Key, ""},
		{"Ed25519", Ed25519, edwardsKey, ""},
		{"upper case", P256, strings.ToUpper(p256Key), ""},
		{"no curve", "", p256Key, "use one of API_KEY_CURVE_P256, API_KEY_CURVE_SECP256K1, API_KEY_CURVE_ED25519"},
		{"other curve", "API_KEY_CURVE_P384", p256Key, `"API_KEY_CURVE_P384" is not supported`},
		{"empty", P256, "", "0 bytes long"},
		{"not hex", P256, "zz" + p256Key[2:], "not hex"},
		{"prefixed", P256, "0x" + p256Key, "without a prefix"},
		{"odd digits", P256, p256Key[1:], "not hex"},
		{"short", P256, p256Key[2:], "33 bytes (66 hex digits"},
		{"very long", P256, strings.Repeat("02", 5000), "10000 characters long"},
		{"uncompressed P-256", P256, "04" + strings.Repeat("11", 64), "send the compressed form"},
		{"uncompressed secp256k1", Secp256k1, "04" + strings.Repeat("11", 64), "send the compressed form"},
		{"wrong tag P-256", P256, "04" + p256Key[2:], "not a compressed point"},
		{"hybrid tag secp256k1", Secp256k1, "06" + k256Key[2:], "not a compressed point"},
		{"P-256 x beyond the field", P256, "02" + strings.Repeat("ff", 32), "not a compressed point"},
		{"secp256k1 x beyond the field", Secp256k1, "02" + strings.Repeat("ff", 32), "not a compressed point"},
		{"P-256 x off the curve", P256, "02" + strings.Repeat("00", 31) + "01", "not a compressed point"},
		{"secp256k1 x off the curve", Secp256k1, "02" + strings.Repeat("00", 31) + "05", "not a compressed point"},
		{"Ed25519 of 33 bytes", Ed25519, p256Key, "64 hex digits"},
		{"Ed25519 y off the curve", Ed25519, "02" + strings.Repeat("00", 31), "not a point"},
		{"Ed25519 y = p", Ed25519, "ed" + strings.Repeat("ff", 30) + "7f", "not canonical"},
		{"Ed25519 y = p+1, sign set", Ed25519, "ee" + strings.Repeat("ff", 31), "not canonical"},
		// All points of order 1, 2, 4 and 8 (those of order 8 by both y).
		{"order 1", Ed25519, "01" + strings.Repeat("00", 31), "small order"},
		{"order 1, negative zero", Ed25519, "01" + strings.Repeat("00", 30) + "80", "small order"},
		{"order 2", Ed25519, "ec" + strings.Repeat("ff", 30) + "7f", "small order"},
		{"order 2, negative zero", Ed25519, "ec" + strings.Repeat("ff", 31), "small order"},
		{"order 4", Ed25519, strings.Repeat("00", 32), "small order"},
		{"order 4, negative", Ed25519, strings.Repeat("00", 31) + "80", "small order"},
		{"order 8", Ed25519, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "small order"},
		{"order 8, negative", Ed25519, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", "small order"},
		{"order 8, other y", Ed25519, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "small order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, err := ParsePublicKey(tt.curve, tt.text)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got key %q and error %v, want an error with %q", key, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if key.Curve() != tt.curve || key.String() != strings.ToLower(tt.text) {
				t.Errorf("got %s on %s", key, key.Curve())
			}
		})
	}
}

func TestParseEd25519AcceptsRealKeys(t *testing.T) {
	for i := range 50 {
		seed := sha256.Sum256([]byte{byte(i)})
		public := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
		if _, err := ParsePublicKey(Ed25519, hex.EncodeToString(public)); err != nil {
			t.Errorf("key %x: %v", public, err)
		}
	}
}

func TestVerifyDigest(t *testing.T) {
	digest := sha256.Sum256([]byte(body))
	for _, c := range []struct {
		curve    Curve
		key, sig string
		order    *big.Int
	}{
		{P256, p256Key, p256Sig, new(big.Int).SetBytes(unhex(t, p256Order))},
		{Secp256k1, k256Key, k256Sig, secp256k1.Params().N},
	} {
		key, err := ParsePublicKey(c.curve, c.key)
		if err != nil {
			t.Fatal(err)
		}
		r, s, err := ParseDER(unhex(t, c.sig))
		if err != nil {
			t.Fatal(err)
		}
		plus := func(v []byte, n *big.Int) []byte { return n.Add(n, new(big.Int).SetBytes(v)).Bytes() }
		order := func() *big.Int { return new(big.Int).Set(c.order) }
		otherS := new(big.Int).Sub(c.order, new(big.Int).SetBytes(s)).Bytes()
		otherDigest := digest
		otherDigest[31] ^= 1
		tests := []struct {
			name   string
			digest [32]byte
			r, s   []byte
			want   bool
		}{
			{"as signed", digest, r, s, true},
			{"s in the other half", digest, r, otherS, true},
			{"leading zeros", digest, append(make([]byte, 40), r...), append([]byte{0}, s...), true},
			{"other digest", otherDigest, r, s, false},
			{"exchanged", digest, s, r, false},
			{"r zero", digest, nil, s, false},
			{"s zero", digest, r, []byte{0}, false},
			{"both zero", digest, nil, nil, false},
			{"r = n", digest, order().Bytes(), s, false},
			{"s = n", digest, r, order().Bytes(), false},
			{"r + n", digest, plus(r, order()), s, false},
			{"s + n", digest, r, plus(s, order()), false},
			{"s long", digest, r, append(s[:len(s):len(s)], 0), false},
		}
		for _, tt := range tests {
			t.Run(string(c.curve)+"/"+tt.name, func(t *testing.T) {
				if got := key.VerifyDigest(tt.digest, tt.r, tt.s); got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		}
		if key.VerifyMessage([]byte(body), unhex(t, edwardsSig)) {
			t.Errorf("%s: VerifyMessage accepted", c.curve)
		}
	}
	if (PublicKey{}).VerifyDigest(digest, []byte{1}, []byte{1}) || (PublicKey{}).VerifyMessage(nil, nil) {
		t.Error("the zero key verified something")
	}
}

func TestVerifyMessage(t *testing.T) {
	key, err := ParsePublicKey(Ed25519, edwardsKey)
	if err != nil {
		t.Fatal(err)
	}
	sig := unhex(t, edwardsSig)
	tests := []struct {
		name    string
		message string
		sig     []byte
		want    bool
	}{
		{"as signed", body, sig, true},
		{"other message", body + "\n", sig, false},
		{"short", body, sig[:63], false},
		{"long", body, append(sig[:64:64], 0), false},
		{"empty", body, nil, false},
		{"zero", body, make([]byte, 64), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := key.VerifyMessage([]byte(tt.message), tt.sig); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if key.VerifyDigest(sha256.Sum256([]byte(body)), sig[:32], sig[32:]) {
		t.Error("VerifyDigest accepted an Ed25519 key")
	}
}

var unhex = testkit.Unhex
