package jsonwrite_test

import (
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/jsonwrite"
)

type named string

type shouting string

func (s shouting) MarshalText() ([]byte, error) { return []byte(s + "!"), nil }

type counted struct{ n int }

func (c counted) IsZero() bool { return c.n == 7 }

func (c counted) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(c.n), 10), nil }

type embedded struct {
	Inner string `json:"inner"`
}

// everything has what types of this project have, and more.
type everything struct {
	Zebra    string                `json:"zebra"`
	Name     named                 `json:"name,omitzero"`
	Yes      bool                  `json:"yes"`
	No       bool                  `json:"no,omitzero"`
	Small    int8                  `json:"small"`
	Number   int64                 `json:"number"`
	Count    uint64                `json:"count"`
	Ratio    float64               `json:"ratio"`
	At       time.Time             `json:"at"`
	Since    time.Time             `json:"since,omitzero"`
	Raw      jsontext.Value        `json:"raw"`
	Left     jsontext.Value        `json:"left,omitzero"`
	Texts    []string              `json:"texts"`
	Bytes    []byte                `json:"bytes"`
	Sum      [3]byte               `json:"sum"`
	Pair     [2]int                `json:"pair"`
	Next     *everything           `json:"next,omitzero"`
	Others   []everything          `json:"others,omitzero"`
	ByName   map[string]everything `json:"byName,omitzero"`
	ByLoud   map[shouting]int      `json:"byLoud,omitzero"`
	Anything any                   `json:"anything"`
	Loud     shouting              `json:"loud"`
	Exotic   exotic                `json:"exotic"`
	Hidden   string                `json:"-"`
	Alpha    string                `json:"alpha"`
	Untagged string
	inner    string
}

// exotic is left to the general encoder.
type exotic struct {
	embedded
	Counted counted `json:"counted,omitzero"`
	Strings int     `json:",string"`
	Empty   []int   `json:"empty,omitempty"`
}

var texts = []string{
	"", "plain", "with \"quotes\" and \\", "line\nline\r\t\b\f", "\x00\x01\x1f\x7f", "<b>&amp;</b>", "é 漢字 \U0001f600", "\u2028\u2029",
}

var raws = []string{
	"", "null", "true", "0", "-1", "12345678901234567890", "1e3", "1.50", `"text"`, `"\u0041\/"`, `{}`, `[]`, ` [ 1 , 2 ] `, `{"b":1,"a":2}`, `{"a":1,"b":{"c":[1,2,{"d":"e"}]}}`,
	"{\"a\": \"space inside\"}", `{"é":1,"z":2}`, `[{"a":"b","a!":1,"a b":2}]`, `{"a":100000000000000000}`, `[-0]`, `[01e1]`[:1] + `0.10]`,
}

// random fills a value. It holds no wrong UTF-8.
func random(r *rand.Rand, depth int) everything {
	text := func() string { return texts[r.IntN(len(texts))] }
	raw := func() jsontext.Value {
		if s := raws[r.IntN(len(raws))]; s != "" {
			return jsontext.Value(s)
		}
		return nil
	}
	at := func() time.Time { return time.Unix(r.Int64N(4e9), r.Int64N(3)*r.Int64N(1e9)).UTC() }
	e := everything{
		Zebra: text(), Name: named(text()), Yes: r.IntN(2) > 0, No: r.IntN(2) > 0, Small: int8(r.Int()), Number: r.Int64() >> r.IntN(64),
		Count: r.Uint64(), Ratio: r.NormFloat64(), At: at(), Raw: raw(), Left: raw(), Sum: [3]byte{1, 2, 3}, Loud: shouting(text()),
		Hidden: "hidden", Alpha: text(), Untagged: text(), inner: "inner",
		Exotic: exotic{embedded{text()}, counted{7 + r.IntN(2)}, r.IntN(9), nil},
	}
	if r.IntN(2) > 0 {
		offset := []int{3600, -34_200, 90, 86_399, -86_399}[r.IntN(5)]
		e.Since, e.At = at(), at().In(time.FixedZone("elsewhere", offset))
		e.Texts, e.Bytes, e.Exotic.Empty = []string{text(), text()}, []byte(text()), []int{1}
		e.ByLoud = map[shouting]int{"b": 1, "a": 2}
	}
	e.Anything = []any{nil, text(), 1, 2.5, &e.Pair, map[string]any{"b": text(), "a": nil}}[r.IntN(6)]
	if depth > 0 {
		next := random(r, depth-1)
		e.Next, e.Others = &next, []everything{random(r, depth-1)}
		e.ByName = map[string]everything{text(): random(r, depth-1), "a": random(r, depth-1)}
	}
	return e
}

func general(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRoom: what is left in front is the caller's, and the text is the same.
func TestRoom(t *testing.T) {
	v := random(rand.New(rand.NewPCG(1, 1)), 1)
	text, err := jsonwrite.MarshalAfter(5, &v)
	if err != nil || len(text) < 5 || string(text[:5]) != "\x00\x00\x00\x00\x00" || string(text[5:]) != string(general(t, &v)) {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSum: the digest is that of the text.
func TestSum(t *testing.T) {
	for _, v := range []any{random(rand.New(rand.NewPCG(1, 1)), 1), "", nil} {
		text, err := jsonwrite.Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := jsonwrite.CanonicalSum(v); err != nil || sum != sha256.Sum256(text) {
			t.Errorf("%x, %v of %s", sum, err, text)
		}
	}
	if sum, err := jsonwrite.CanonicalSum("\xff"); err == nil {
		t.Errorf("%x of what is not UTF-8", sum)
	}
}

// TestSame: the text is that of the general encoder.
func TestSame(t *testing.T) {
	for seed := range uint64(100) {
		v := random(rand.New(rand.NewPCG(seed, 1)), 2)
		for _, value := range []any{v, &v, []everything{v}, map[string]*everything{"b": &v, "a": nil}} {
			want := general(t, value)
			got, err := jsonwrite.Marshal(value)
			if err != nil || string(got) != string(want) {
				t.Fatalf("seed %d, %T: %v\ngot  %s\nwant %s", seed, value, err, got, want)
			}
			if err := (*jsontext.Value)(&want).Canonicalize(); err != nil {
				t.Fatal(err)
			}
			got, err = jsonwrite.Canonical(value)
			if err != nil || string(got) != string(want) {
				t.Fatalf("seed %d, canonical %T: %v\ngot  %s\nwant %s", seed, value, err, got, want)
			}
		}
	}
}

// TestRefused: what the general encoder refuses is refused.
func TestRefused(t *testing.T) {
	for name, v := range map[string]any{
		"wrong UTF-8":           struct{ A string }{"\xff"},
		"wrong UTF-8 in name":   map[string]int{"\xff": 1},
		"a number that is none": struct{ A float64 }{math.NaN()},
		"a year of five digits": struct{ A time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a zone a day away":     struct{ A time.Time }{time.Unix(0, 0).In(time.FixedZone("far", 86_400))},
		"a zone a day before":   struct{ A time.Time }{time.Unix(0, 0).In(time.FixedZone("far", -86_400))},
		"a function":            struct{ A func() }{func() {}},
		"a name twice": reflect.New(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
		})).Interface(),
	} {
		if _, err := json.Marshal(v); err == nil {
			t.Errorf("%s: the general encoder accepts it", name)
		}
		if text, err := jsonwrite.Marshal(v); err == nil {
			t.Errorf("%s is written as %s", name, text)
		}
		if text, err := jsonwrite.Canonical(v); err == nil {
			t.Errorf("%s is written as %s", name, text)
		}
	}
}

func TestNothing(t *testing.T) {
	var none *everything
	for _, v := range []any{nil, none, jsontext.Value(nil), []string(nil), map[string]int(nil)} {
		got, err := jsonwrite.Marshal(v)
		if want := general(t, v); err != nil || string(got) != string(want) {
			t.Errorf("%v is written as %s, not as %s: %v", reflect.TypeOf(v), got, want, err)
		}
	}
}

// FuzzRaw: a text that the decoder accepts is written as the general encoder would.
func FuzzRaw(f *testing.F) {
	for _, raw := range raws {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw := jsontext.Value(text)
		if !raw.IsValid() {
			return
		}
		v := struct{ A jsontext.Value }{raw}
		want := jsontext.Value(general(t, v))
		if got, err := jsonwrite.Marshal(v); err != nil || string(got) != string(want) {
			t.Fatalf("got %s, want %s: %v", got, want, err)
		}
		if want.Canonicalize() != nil {
			return
		}
		if got, err := jsonwrite.Canonical(v); err != nil || string(got) != string(want) {
			t.Fatalf("canonical: got %s, want %s: %v", got, want, err)
		}
	})
}
