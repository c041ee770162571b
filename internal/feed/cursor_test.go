package feed

import (
	"bytes"
	"encoding/base64"
	"testing"

	"latchkey/internal/domain"
)

// FuzzParseCursor: what is read of a text is written to the same text again.
func FuzzParseCursor(f *testing.F) {
	f.Add("AQAAAAEAAAAAAAAAAiDHdsn22rCI")
	f.Add("")
	f.Add("AQ")
	f.Add("now")
	f.Fuzz(func(t *testing.T, text string) {
		p, plain, tag, ok := splitCursor(text)
		if !ok {
			return
		}
		if again := plainCursor(p); !bytes.Equal(again, plain) {
			t.Errorf("%q is %+v, which is %x and not %x", text, p, again, plain)
		}
		if whole := base64.RawURLEncoding.EncodeToString(append(plainCursor(p), tag...)); whole != text {
			t.Errorf("%q is written as %q", text, whole)
		}
		if p.Before(domain.LogPlace{}) {
			t.Errorf("%q is before everything: %+v", text, p)
		}
	})
}
