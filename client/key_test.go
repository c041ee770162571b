package client

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

const (
	p256Public    = "025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"
	k256Public    = "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991"
	edwardsPublic = "d759793bbc13a2819a827c76adb6fba8a49aee007f49f2d0992d99b825ad2c48"
)

var fours = strings.Repeat("44", 32)

func TestParseKeyFile(t *testing.T) {
	p256Order := "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
	k256Order := "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	tests := []struct {
		name   string
		text   string
		curve  Curve
		public string
		file   string // what KeyFile returns
		want   string // part of the error; empty: the key is good
	}{
		{"P-256", fours + ":p256", P256, p256Public, fours + ":p256", ""},
		{"P-256 without curve", fours, P256, p256Public, fours + ":p256", ""},
		{"secp256k1", fours + ":secp256k1", Secp256k1, k256Public, fours + ":secp256k1", ""},
		{"Ed25519 seed", fours + ":ed25519", Ed25519, edwardsPublic, fours + edwardsPublic + ":ed25519", ""},
		{"Ed25519 whole", fours + edwardsPublic + ":ed25519", Ed25519, edwardsPublic, fours + edwardsPublic + ":ed25519", ""},
		{"white space", "\n " + fours + ":p256\r\n", P256, p256Public, fours + ":p256", ""},
		{"leading zeros stay", strings.Repeat("00", 31) + "01:p256", P256, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", strings.Repeat("00", 31) + "01:p256", ""},

		{"empty", "", "", "", "", "not <hex>:<curve>"},
		{"colon", ":", "", "", "", "no known curve"},
		{"no curve, 64 bytes", fours + edwardsPublic, "", "", "", "not <hex>:<curve>"},
		{"other curve", fours + ":p384", "", "", "", "no known curve: it must end in :p256"},
		{"curve in upper case", fours + ":P256", "", "", "", "no known curve"},
		{"two curves", fours + ":p256:p256", "", "", "", "no known curve"},
		{"exchanged", "p256:" + fours, "", "", "", "no known curve"},
		{"not hex", "zz" + fours[2:] + ":p256", "", "", "", "not hex"},
		{"short", fours[2:] + ":p256", "", "", "", "31 bytes long: 32 are needed"},
		{"long P-256", fours + fours + ":p256", "", "", "", "64 bytes long"},
		{"public key instead", p256Public + ":p256", "", "", "", "33 bytes long"},
		{"zero P-256", strings.Repeat("00", 32), "", "", "", "zero or too large"},
		{"zero secp256k1", strings.Repeat("00", 32) + ":secp256k1", "", "", "", "zero or too large"},
		{"order of P-256", p256Order, "", "", "", "zero or too large"},
		{"order of secp256k1", k256Order + ":secp256k1", "", "", "", "zero or too large"},
		{"Ed25519 with another public key", fours + fours + ":ed25519", "", "", "", "damaged"},
		{"Ed25519 of 33 bytes", fours + "00:ed25519", "", "", "", "33 bytes long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, err := ParseKeyFile(tt.text)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got error %v, want one with %q", err, tt.want)
				}
				if strings.Contains(err.Error(), "4444") {
					t.Errorf("error %q has the secret", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if key.Curve() != tt.curve || key.PublicKey() != tt.public || key.KeyFile() != tt.file {
				t.Errorf("got %s on %s, file %s", key.PublicKey(), key.Curve(), key.KeyFile())
			}
		})
	}
}

func TestGenerateKey(t *testing.T) {
	for _, c := range []Curve{P256, Secp256k1, Ed25519} {
		t.Run(string(c), func(t *testing.T) {
			seen := map[string]bool{}
			for range 3 {
				key, err := GenerateKey(c)
				if err != nil {
					t.Fatal(err)
				}
				again, err := ParseKeyFile(key.KeyFile())
				if err != nil {
					t.Fatal(err)
				}
				if again.PublicKey() != key.PublicKey() || again.Curve() != c || seen[key.PublicKey()] {
					t.Errorf("got %s on %s", again.PublicKey(), again.Curve())
				}
				seen[key.PublicKey()] = true
			}
		})
	}
	if _, err := GenerateKey("p384"); err == nil {
		t.Error("p384 is no curve")
	}
}

func TestPrivateKeyIsNotShown(t *testing.T) {
	for _, text := range []string{fours + ":p256", fours + ":secp256k1", fours + ":ed25519"} {
		key, err := ParseKeyFile(text)
		if err != nil {
			t.Fatal(err)
		}
		type inside struct{ key PrivateKey }
		for _, v := range []any{key, &key, key.Stamper(), []any{key}, map[string]PrivateKey{"a": key}} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
				if got := fmt.Sprintf(verb, v); !strings.Contains(got, "[secret]") || shows(got) {
					t.Errorf("%s prints %q", verb, got)
				}
			}
			if text, err := json.Marshal(v); err == nil {
				t.Errorf("json gives %s", text)
			}
			if text, err := jsonv2.Marshal(v); err == nil {
				t.Errorf("json v2 gives %s", text)
			}
		}
		// fmt does not ask a value in a field that it cannot reach.
		for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d"} {
			if got := fmt.Sprintf(verb, inside{key}); shows(got) {
				t.Errorf("%s prints %q", verb, got)
			}
		}
		if err := gob.NewEncoder(&bytes.Buffer{}).Encode(key); err == nil {
			t.Error("gob encodes")
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "in", inside{key})
		if !strings.Contains(log.String(), "[secret]") || shows(log.String()) {
			t.Errorf("logged %q", log.String())
		}
	}
}

// shows finds the secret in hex, or as a list of decimals.
func shows(text string) bool {
	return strings.Contains(text, "444444") || strings.Contains(text, "68 68") || strings.Contains(text, "0x44, 0x44")
}

func TestZeroKey(t *testing.T) {
	var key PrivateKey
	if key.KeyFile() != "" || key.PublicKey() != "" {
		t.Error("the zero key has a text")
	}
	if _, _, err := key.Stamper().Stamp(nil); err == nil {
		t.Error("the zero key signs")
	}
}

// What parses is written in one form, which parses to the same key; and no
// error repeats the text.
func FuzzParseKeyFile(f *testing.F) {
	for _, seed := range []string{
		fours, fours + ":p256", fours + ":secp256k1\n", fours + ":ed25519",
		fours + edwardsPublic + ":ed25519", "", ":", ":p256", "p256:" + fours, strings.ToUpper(fours) + "aB",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKeyFile(text)
		if err != nil {
			if len(text) > 40 && strings.Contains(err.Error(), strings.TrimSpace(text)) {
				t.Errorf("error repeats the text: %v", err)
			}
			return
		}
		file := key.KeyFile()
		again, err := ParseKeyFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if again.KeyFile() != file || again.PublicKey() != key.PublicKey() || again.Curve() != key.Curve() {
			t.Error("does not read as it was written")
		}
		if lower := strings.ToLower(file); file != lower {
			t.Error("is not in lower case")
		}
	})
}
