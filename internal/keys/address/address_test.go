package address

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"

	"latchkey/internal/keys/curve"
)

const (
	// The generators of two curves, and a published key of the third.
	k256Key    = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	k256Full   = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
	p256Key    = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
	edwardsKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" // RFC 8032 section 7.1
)

// TestPublished holds examples that the standards and chains themselves print.
func TestPublished(t *testing.T) {
	tests := []struct {
		name   string
		format Format
		key    string
		want   string
	}{
		{"BIP-173 P2WPKH", BitcoinMainnetP2WPKH, k256Key, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		{"BIP-173 P2WPKH testnet", BitcoinTestnetP2WPKH, k256Key, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"},
		{"BIP-173 P2WSH", BitcoinMainnetP2WSH, k256Key, "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"},
		{"BIP-173 P2WSH testnet", BitcoinTestnetP2WSH, k256Key, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7"},
		{"BIP-84", BitcoinMainnetP2WPKH, "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"BIP-49", BitcoinTestnetP2SH, "03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f", "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2"},
		{"BIP-86", BitcoinMainnetP2TR, "03cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115", "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"},
		{"scalar 1", Ethereum, k256Key, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Of(tt.format, curve.KeySecp256k1, unhex(t, tt.key))
			if err != nil || got != tt.want {
				t.Errorf("got %s and %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestOfRefuses(t *testing.T) {
	p := "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
	tests := []struct {
		name   string
		format Format
		curve  curve.KeyCurve
		key    string
		want   string
	}{
		{"unknown format", "ADDRESS_FORMAT_EHTEREUM", curve.KeySecp256k1, k256Key, `"ADDRESS_FORMAT_EHTEREUM" is not supported`},
		{"no format", "", curve.KeySecp256k1, k256Key, "is not supported"},
		{"curve of another format", Solana, curve.KeySecp256k1, k256Key, "ADDRESS_FORMAT_SOLANA does not go with the curve \"CURVE_SECP256K1\": use CURVE_ED25519"},
		{"curve, two allowed", Compressed, curve.KeyP256, p256Key, "use CURVE_SECP256K1 or CURVE_ED25519"},
		{"P-256", Uncompressed, curve.KeyP256, p256Key, "use CURVE_SECP256K1"},
		{"unknown curve", Ethereum, "CURVE_SECP256R1", k256Key, "use CURVE_SECP256K1"},
		{"name of an API key's curve", Ethereum, curve.KeyCurve(curve.Secp256k1), k256Key, "use CURVE_SECP256K1"},
		{"empty", Ethereum, curve.KeySecp256k1, "", "0 bytes long: a compressed secp256k1 key is 33 bytes"},
		{"short", Ethereum, curve.KeySecp256k1, k256Key[:64], "32 bytes long"},
		{"long", Ethereum, curve.KeySecp256k1, k256Key + "00", "34 bytes long"},
		{"uncompressed", Ethereum, curve.KeySecp256k1, k256Full, "65 bytes long"},
		{"tag of the uncompressed form", Ethereum, curve.KeySecp256k1, "04" + k256Key[2:], "not a compressed point"},
		{"tag 0", Ethereum, curve.KeySecp256k1, "00" + k256Key[2:], "not a compressed point"},
		{"x without a y", Compressed, curve.KeySecp256k1, "02" + strings.Repeat("00", 31) + "05", "not a compressed point"},
		{"x not below p", Compressed, curve.KeySecp256k1, "02" + p, "not a compressed point"},
		{"Ed25519 empty", Solana, curve.KeyEd25519, "", "0 bytes long: an Ed25519 key is 32 bytes"},
		{"Ed25519 short", Solana, curve.KeyEd25519, edwardsKey[2:], "31 bytes long"},
		{"Ed25519 long", Solana, curve.KeyEd25519, "00" + edwardsKey, "33 bytes long"},
		{"Ed25519 no point", Solana, curve.KeyEd25519, "02" + strings.Repeat("00", 31), "not a point of the curve Ed25519"},
		{"Ed25519 y not below p", Sui, curve.KeyEd25519, strings.Repeat("ff", 32), "not canonical"},
		{"Ed25519 small order", TONV4R2, curve.KeyEd25519, strings.Repeat("00", 32), "small order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Of(tt.format, tt.curve, unhex(t, tt.key))
			if err == nil || !strings.Contains(err.Error(), tt.want) || got != "" {
				t.Errorf("got %q and %v, want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	names := Format("").Enum()
	if len(names) != 38 {
		t.Errorf("there are %d formats", len(names))
	}
	for i, f := range Formats() {
		if string(f) != names[i] || !strings.HasPrefix(names[i], prefix) || slices.Index(names, names[i]) != i {
			t.Errorf("format %d is %s and %s", i, f, names[i])
		}
		if IsTaproot(f) != strings.HasSuffix(names[i], "_P2TR") {
			t.Errorf("%s: taproot %t", f, IsTaproot(f))
		}
		if len(f.Curves()) == 0 {
			t.Errorf("%s goes with no curve", f)
		}
	}
	if c := Format("x").Curves(); len(c) != 0 {
		t.Errorf("an unknown format goes with %v", c)
	}
	Compressed.Curves()[0] = "spoiled"
	if c := Compressed.Curves()[0]; c != curve.KeySecp256k1 {
		t.Errorf("a caller can change the table: %s", c)
	}
}

func TestCAIP2Prefix(t *testing.T) {
	for f, want := range map[Format]string{Ethereum: "eip155", Solana: "solana", Cosmos: "", "x": ""} {
		if got := f.CAIP2Prefix(); got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	const checksummed = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
	lower, upper := strings.ToLower(checksummed), "0x"+strings.ToUpper(checksummed[2:])
	long := "0x" + strings.Repeat("ab", 32)
	tests := []struct {
		name   string
		format Format
		a, b   string
		want   bool
	}{
		{"same", Ethereum, checksummed, checksummed, true},
		{"lower", Ethereum, checksummed, lower, true},
		{"upper", Ethereum, upper, lower, true},
		{"other", Ethereum, checksummed, lower[:41] + "0", false},
		{"upper prefix", Ethereum, lower, "0X" + lower[2:], false},
		{"without prefix", Ethereum, lower, lower[2:], false},
		{"short", Ethereum, "0xab", "0xAB", false},
		{"Tron", Tron, "TEst", "TEST", false},
		{"Sui", Sui, long, "0x" + strings.ToUpper(long[2:]), false},
		{"Sui same", Sui, long, long, true},
		{"hex", Compressed, k256Key, strings.ToUpper(k256Key), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Equal(tt.format, tt.a, tt.b); got != tt.want {
				t.Errorf("got %t", got)
			}
			if got := Equal(tt.format, tt.b, tt.a); got != tt.want {
				t.Errorf("not symmetric")
			}
		})
	}
}

func TestKey(t *testing.T) {
	ours := load(t).HD
	for _, r := range ours {
		want := r.Address
		if r.AddressFormat == Ethereum {
			want = strings.ToLower(want)
		}
		if got := Key(r.Address); got != want || Key(got) != want {
			t.Errorf("%s: got %s, want %s", r.AddressFormat, got, want)
		}
	}
	for _, text := range []string{"", "0x", "0X" + strings.Repeat("A", 40), "0x" + strings.Repeat("A", 39) + "G", "0x" + strings.Repeat("A", 19) + "G" + strings.Repeat("A", 20), "0x" + strings.Repeat("A", 41)} {
		if got := Key(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The tweaked key must be the one that a tweaked secret signs for, which the
// vault computes by other means (BIP-341, taproot_tweak_seckey).
func TestTaprootOutputKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var secret, tweak secp256k1.ModNScalar
		secret.SetByteSlice(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret"))
		if secret.IsZero() {
			t.Skip("not a secret")
		}
		public := secp256k1.NewPrivateKey(&secret).PubKey().SerializeCompressed()
		if public[0] == 3 {
			secret.Negate()
		}
		hash := taggedHash("TapTweak", public[1:])
		tweak.SetBytes(&hash)
		output := secp256k1.NewPrivateKey(secret.Add(&tweak))

		got, err := TaprootOutputKey(public)
		if err != nil {
			t.Fatal(err)
		}
		if want := output.PubKey().SerializeCompressed()[1:]; hex.EncodeToString(want) != hex.EncodeToString(got[:]) {
			t.Fatalf("got %x, want %x", got, want)
		}
		digest := taggedHash("test", public)
		signature, err := schnorr.Sign(output, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := schnorr.ParsePubKey(got[:])
		if err != nil || !signature.Verify(digest[:], verifier) {
			t.Fatalf("does not verify: %v", err)
		}
	})
	for _, bad := range []string{"", k256Key[2:], k256Full, "02" + strings.Repeat("00", 31) + "05"} {
		if _, err := TaprootOutputKey(unhex(t, bad)); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// CRC-16/XMODEM's check value, from the catalogue of CRC algorithms.
func TestCRC16(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x31c3 {
		t.Errorf("got %#x", got)
	}
}

// TestAll: a key has one address in each format of its curve.
func TestAll(t *testing.T) {
	for _, c := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyEd25519} {
		raw, err := hex.DecodeString(map[curve.KeyCurve]string{curve.KeySecp256k1: k256Key, curve.KeyEd25519: edwardsKey}[c])
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, f := range Formats() {
			if slices.Contains(f.Curves(), c) {
				text, full, err := WithFull(f, c, raw)
				if err != nil {
					t.Fatal(err)
				}
				if same, err := curve.Uncompressed(c, raw); err != nil || !bytes.Equal(full, same) {
					t.Errorf("%s: the key is %x in full, not %x (%v)", f, full, same, err)
				}
				want = append(want, text)
			}
		}
		if got := All(c, raw); len(got) < 5 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c, got, want)
		}
		if got := All(c, raw[1:]); got != nil {
			t.Errorf("%s: a key cut short has %v", c, got)
		}
	}
	if got := All(curve.KeyP256, make([]byte, 33)); got != nil {
		t.Errorf("P-256: %v", got)
	}
}
