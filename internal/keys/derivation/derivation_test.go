package derivation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"latchkey/internal/keys/curve"
	"latchkey/testvectors"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want Path
	}{
		{"m", Path{}},
		{"m/0", Path{0}},
		{"m/0'", Path{Hardened}},
		{"m/2147483647", Path{Hardened - 1}},
		{"m/2147483647'", Path{1<<32 - 1}},
		{"m/44'/60'/0'/0/7", Path{Hardened | 44, Hardened | 60, Hardened, 0, 7}},
		{"m" + strings.Repeat("/2147483647'", 10), Path{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got.String() != tt.text {
				t.Errorf("written as %s", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "it is empty"},
		{"M/0", "write a small m"},
		{" m/0", "white space"},
		{"m ", "white space"},
		{"44'/60'", `begins with "44'": begin with m`},
		{"/0", `begins with ""`},
		{"m/", "part 1 is empty"},
		{"m/0/", "part 2 is empty"},
		{"m//0", "part 1 is empty"},
		{"m/0/1h", `part 2 is "1h": mark a hardened index with a straight apostrophe, 1'`},
		{"m/0’", "straight apostrophe, 0'"},
		{"m/h", "decimal digits"},
		{"m/'", "decimal digits"},
		{"m/''", "one apostrophe is enough"},
		{"m/0''", "one apostrophe is enough"},
		{"m/0'0", "decimal digits"},
		{"m/0 ", "decimal digits"},
		{"m/*", "decimal digits"},
		{"m/٣", "decimal digits"}, // a digit, but not one of ours
		{"m/00", "without leading zeros"},
		{"m/01'", "without leading zeros"},
		{"m/2147483648", "an index is at most 2147483647"},
		{"m/99999999999999999999", "an index is at most 2147483647"},
		{"m" + strings.Repeat("/0", 11), "it has 11 parts, and at most 10 are allowed"},
		{"m/" + strings.Repeat("1", 1<<20), "too many"},
	}
	for _, tt := range tests {
		got, err := Parse(tt.text)
		if err == nil {
			t.Errorf("%.60q: got %v", tt.text, got)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "invalid path: ") || !strings.Contains(text, tt.want) || len(text) > 300 {
			t.Errorf("%.60q: got %q, want %q in it", tt.text, text, tt.want)
		}
	}
}

func TestNormal(t *testing.T) {
	given := Path{Hardened | 44, 501, 0}
	for c, want := range map[curve.KeyCurve]string{
		curve.KeyEd25519:   "m/44'/501'/0'",
		curve.KeySecp256k1: "m/44'/501/0",
		curve.KeyP256:      "m/44'/501/0",
	} {
		normal := given.Normal(c)
		if normal.String() != want {
			t.Errorf("%s: got %s, want %s", c, normal, want)
		}
		normal[0] = 1
		if given[0] != Hardened|44 {
			t.Fatalf("%s: shares memory", c)
		}
	}
}

func TestVectors(t *testing.T) {
	var vectors struct {
		PathSyntax []struct {
			Path  string `json:"path"`
			Valid bool   `json:"strictGrammarValid"`
		} `json:"pathSyntax"`
		HD []struct {
			Path string `json:"path"`
		} `json:"hd"`
		NonHardened []struct {
			Path          string         `json:"path"`
			Curve         curve.KeyCurve `json:"curve"`
			ForceHardened struct {
				EquivalentPath string `json:"equivalentPath"`
			} `json:"forceHardened"`
		} `json:"ed25519NonHardened"`
	}
	testvectors.Read(t, "addresses", &vectors)
	for _, v := range vectors.PathSyntax {
		if p, err := Parse(v.Path); (err == nil) != v.Valid {
			t.Errorf("%q: got %v and %v, want valid %t", v.Path, p, err, v.Valid)
		}
	}
	for _, v := range vectors.HD {
		if p, err := Parse(v.Path); err != nil || p.String() != v.Path {
			t.Errorf("%q: got %v and %v", v.Path, p, err)
		}
	}
	for _, v := range vectors.NonHardened {
		p, err := Parse(v.Path)
		if err != nil {
			t.Errorf("%q: %v", v.Path, err)
			continue
		}
		if got := p.Normal(v.Curve).String(); got != v.ForceHardened.EquivalentPath {
			t.Errorf("%q: got %s, want %s", v.Path, got, v.ForceHardened.EquivalentPath)
		}
	}
	if len(vectors.PathSyntax) != 27 || len(vectors.HD) != 2706 || len(vectors.NonHardened) != 198 {
		t.Errorf("read %d, %d and %d records", len(vectors.PathSyntax), len(vectors.HD), len(vectors.NonHardened))
	}
}

// Every path of a legal depth has a text, and it reads as the same path.
func TestStringParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Path(rapid.SliceOfN(rapid.Uint32(), 0, MaxDepth).Draw(t, "path"))
		got, err := Parse(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What parses is written back byte for byte, and its normal form is stable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"m", "m/0", "m/44'/60'/0'/0/0", "m/2147483647'", "m/2147483648", "m/00", "M/0", "m/0h", "m//", "", "m/0’"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			if message := err.Error(); !strings.HasPrefix(message, "invalid path: ") || len(message) > 1000 {
				t.Fatalf("%q: %q", text, message)
			}
			return
		}
		if p.String() != text {
			t.Fatalf("%q is written as %q", text, p)
		}
		normal := p.Normal(curve.KeyEd25519)
		again, err := Parse(normal.String())
		if err != nil || again.Normal(curve.KeyEd25519).String() != normal.String() {
			t.Fatalf("%q: normal form %q reads as %q, %v", text, normal, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("m/44'/60'/0'/0/0"); err != nil {
			b.Fatal(err)
		}
	}
}
