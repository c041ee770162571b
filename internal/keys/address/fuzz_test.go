package address

import (
	"testing"

	"latchkey/internal/keys/curve"
)

// Whatever the bytes are, Of returns an address or an error, never both, for
// every format on every curve; an address is printable and has one lookup key.
func FuzzOf(f *testing.F) {
	f.Add(unhex(f, k256Key))
	f.Add(unhex(f, k256Full))
	f.Add(unhex(f, p256Key))
	f.Add(unhex(f, edwardsKey))
	f.Add(make([]byte, 32))
	f.Add(make([]byte, 33))
	f.Add([]byte{})
	curves := []curve.KeyCurve{curve.KeySecp256k1, curve.KeyEd25519, curve.KeyP256, ""}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, c := range curves {
			for _, format := range append(Formats(), "") {
				got, err := Of(format, c, raw)
				if (err == nil) != (got != "") {
					t.Fatalf("%s on %s: got %q and %v", format, c, got, err)
				}
				for _, b := range []byte(got) {
					if b <= ' ' || b > '~' {
						t.Fatalf("%s on %s: got %q", format, c, got)
					}
				}
				if err == nil && (!Equal(format, got, Key(got)) || Key(Key(got)) != Key(got)) {
					t.Fatalf("%s on %s: %q has the key %q", format, c, got, Key(got))
				}
			}
		}
		if _, err := TaprootOutputKey(raw); err == nil && len(raw) != 33 {
			t.Fatalf("accepted %x", raw)
		}
	})
}
