package schema

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzDecode states what the package promises about every input: it does not
// panic, and what it accepts survives encoding and decoding unchanged.
func FuzzDecode(f *testing.F) {
	s := Of[rich]()
	f.Add(s.Example())
	f.Add(s.ExampleFull())
	f.Add([]byte(`{"users":[{"a":1,"a":2}],"raw":[[[[]]]]} x`))
	f.Add(bytes.ReplaceAll(s.ExampleFull(), []byte(`[1, "two"]`), []byte(`{ "a" : "\u00e9" , "b": 1e5 }`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var first rich
		problems := s.Decode(raw, &first)
		if len(problems) > maxProblems {
			t.Fatalf("%d problems", len(problems))
		}
		if problems != nil {
			return
		}
		encoded, err := Encode(first)
		if err != nil {
			t.Fatalf("encoding what was accepted: %v", err)
		}
		var second rich
		if problems := s.Decode(encoded, &second); problems != nil {
			t.Fatalf("%s: %q", encoded, problems)
		}
		// Encode takes white space out of raw values, and only that.
		compact(t, &first.Raw)
		compact(t, &first.Config)
		for i := range first.Raws {
			compact(t, &first.Raws[i])
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("changed by a round trip:\n%+v\n%+v", first, second)
		}
		again, err := Encode(second)
		if err != nil || !bytes.Equal(again, encoded) {
			t.Fatalf("encoded differently (%v):\n%s\n%s", err, encoded, again)
		}
	})
}

func compact(t *testing.T, v *jsontext.Value) {
	t.Helper()
	if *v == nil {
		return
	}
	if err := v.Compact(jsontext.PreserveRawStrings(true)); err != nil {
		t.Fatal(err)
	}
}

func TestEncode(t *testing.T) {
	got, err := Encode(struct {
		HTML string            `json:"html"`
		List []string          `json:"list"`
		Big  Uint64            `json:"big"`
		None Uint64            `json:"none,omitzero"`
		Nil  *window           `json:"nil,omitzero"`
		Map  map[string]string `json:"map"`
		Raw  jsontext.Value    `json:"raw"`
	}{HTML: "<a&b>\u2028", Big: 1<<64 - 1, Map: map[string]string{"b": "2", "a": "1"}, Raw: jsontext.Value(`{"z": "\u00e9", "a": 1.0}`)})
	want := `{"html":"<a&b>` + "\u2028" + `","list":[],"big":"18446744073709551615","map":{"a":"1","b":"2"},"raw":{"z":"\u00e9","a":1.0}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestUint64UnmarshalJSON(t *testing.T) {
	for in, want := range map[string]Uint64{`"7"`: 7, `7`: 7, `"007"`: 7} {
		var u Uint64
		if err := u.UnmarshalJSON([]byte(in)); err != nil || u != want {
			t.Errorf("%s: %d %v", in, u, err)
		}
	}
	for _, in := range []string{`""`, `-1`, `1.5`, `null`, `"+1"`, `"`} {
		var u Uint64
		if err := u.UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s was accepted as %d", in, u)
		}
	}
}

// createUsers is shaped like the commonest large request.
type createUsers struct {
	Users []user `json:"users" check:"required,max=100" doc:"Users."`
}

func createUsersBody(n int) []byte {
	one := string(Of[user]().ExampleFull())
	return []byte(`{"users":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`)
}

func BenchmarkDecode(b *testing.B) {
	s := Of[createUsers]()
	for _, c := range []struct {
		name  string
		users int
	}{{"1user", 1}, {"100users", 100}} {
		b.Run(c.name, func(b *testing.B) {
			body := createUsersBody(c.users)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var dst createUsers
				if p := s.Decode(body, &dst); p != nil {
					b.Fatal(p)
				}
			}
		})
	}
}

// TestParallel is for the race detector: one Schema serves all requests.
func TestParallel(t *testing.T) {
	s := Of[createUsers]()
	body := createUsersBody(3)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				var dst createUsers
				wantFields(t, s.Decode(body, &dst))
				wantFields(t, s.Decode([]byte(`{}`), &dst), "users: is required")
			}
		})
	}
}
