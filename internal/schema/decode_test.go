package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestDecodeBinds(t *testing.T) {
	doc := `{"organizationId":"01900000-0000-7000-8000-00000000000A", "users":[
		{"userName":"A\u0064a","apiKeys":[{"apiKeyName":"k","publicKey":"` + strings.Repeat("ab", 33) + `","curveType":"SECP256K1","expirationSeconds":7}],"userTags":null}],
		"notes":"","effect":"DENY","words":18,"count":-3,"active":false,"amount":"007","window":{"from":1,"to":"2"},
		"later":{"from":"0","to":"0"},"spans":[{"from":"3","to":"4"}],"colors":["SECP256K1","P256"],"numbers":[2,9],"big":[1,"2"],
		"raw": [ 1.50, "\u00e9" ] ,"config":{ },"raws":[],"free":null,"generateAppProofs":true}`
	var got rich
	wantFields(t, Of[rich]().Decode([]byte(doc), &got))
	want := rich{
		Org: "01900000-0000-7000-8000-00000000000a",
		Users: []user{{Name: "Ada", APIKeys: []apiKey{
			{Name: "k", PublicKey: strings.Repeat("ab", 33), Curve: "SECP256K1", Expires: 7},
		}}},
		Effect: "DENY", Words: 18, Count: -3, Amount: 7,
		Window: window{1, 2}, Later: &window{}, Spans: []*window{{3, 4}},
		Colors: []curve{"SECP256K1", "P256"}, Numbers: []int32{2, 9}, Big: []Uint64{1, 2},
		Raw: jsontext.Value(`[ 1.50, "\u00e9" ]`), Config: jsontext.Value(`{ }`), Raws: []jsontext.Value{},
		private: 0,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeResets(t *testing.T) {
	u := user{Name: "old", Email: "old", Tags: []string{"old"}}
	wantFields(t, Of[user]().Decode([]byte(`{"userName":"new","apiKeys":[]}`), &u))
	if want := (user{Name: "new"}); !reflect.DeepEqual(u, want) {
		t.Errorf("got %+v, want %+v", u, want)
	}
}

func TestDecodeKeepsNothingOfTheInput(t *testing.T) {
	raw := []byte(`{"userName":"name","apiKeys":[],"userTags":[]}`)
	var u user
	wantFields(t, Of[user]().Decode(raw, &u))
	clear(raw)
	if u.Name != "name" {
		t.Errorf("the name became %q", u.Name)
	}
}

func TestDecodeReportsAll(t *testing.T) {
	doc := `{
		"words": 13,
		"usres": 1,
		"UserS": [],
		"organizationId": "x",
		"window": {"from":"9","to":"8"},
		"later": {"to":[], "from":"1", "xyz":{}},
		"spans": [{}, null, 7, {"from":"2","to":"1"}],
		"users": [
			{"apiKeys": [{"curveType":"P","publicKey":"zz"}], "userTags": ["01900000-0000-7000-8000-00000000000a", "", 1, null, "01900000-0000-7000-8000-00000000000A"]},
			{"userName": "", "user_email": "a@example.com"}
		],
		"colors": ["P256"],
		"numbers": [1, 5, 10],
		"optional": {"b": 1},
		"generateAppProofs": "yes",
		"config": []
	}`
	var r rich
	wantFields(
		t, Of[rich]().Decode([]byte(doc), &r),
		`words: must be one of 12, 15, 18`,
		`usres: unknown field; did you mean "users"?`,
		`UserS: unknown field; did you mean "users"?`,
		`organizationId: must be a UUID (8-4-4-4-12 hexadecimal digits)`,
		`window.to: must not be before from`,
		`window: is upside down`,
		`later.to: must be a string of decimal digits, not an array`,
		`later.xyz: unknown field`,
		`spans.1: must not be null`,
		`spans.2: must be an object, not a number`,
		`spans.3.to: must not be before from`,
		`spans.3: is upside down`,
		`users.0.apiKeys.0.curveType: must be one of P256, SECP256K1`,
		`users.0.apiKeys.0.publicKey: must have at least 66 characters`,
		`users.0.userTags.1: must not be empty`,
		`users.0.userTags.2: must be a string, not a number`,
		`users.0.userTags.3: must not be null`,
		`users.0.userTags.4: appears more than once`,
		`users.1.userName: must not be empty`,
		`users.1.user_email: unknown field; did you mean "userEmail"?`,
		`colors: must have at least 2 elements`,
		`numbers.0: must be at least 2`,
		`numbers.2: must be at most 9`,
		`optional.b: must be a boolean, not a number`,
		`generateAppProofs: must be a boolean, not a string`,
		`config: must be an object, not an array`,
		// missing ones, in declaration order whatever the nesting
		`users.0.userName: is required`,
		`users.0.apiKeys.0.apiKeyName: is required`,
		`users.1.apiKeys: is required`,
		`notes: is required`,
		`effect: is required`,
		`active: is required`,
		`amount: is required`,
		`spans.0.from: is required`,
		`spans.0.to: is required`,
		`optional.a: is required`,
	)
}

func TestDecodeAppProofs(t *testing.T) {
	s := Of[window]()
	for _, v := range []string{"true", "false", "null"} {
		_, got := decode(s, `{"from":"1","to":"2","generateAppProofs":`+v+`}`)
		if got != nil {
			t.Errorf("%s: %q", v, got)
		}
	}
	nested := Of[struct {
		V window `json:"v" check:"required" doc:"."`
	}]()
	_, got := decode(nested, `{"v":{"from":"1","to":"2","generateAppProofs":true}}`)
	if want := []string{"v.generateAppProofs: unknown field"}; !reflect.DeepEqual(got, want) {
		t.Errorf("nested: got %q, want %q", got, want)
	}
	owned := Of[struct {
		V string `json:"generateAppProofs" doc:"."`
	}]()
	if _, got := decode(owned, `{"generateAppProofs":"x"}`); got != nil {
		t.Errorf("owned: %q", got)
	}
}

func TestDecodeSyntaxIsAlone(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ doc, want string }{
		{``, ": the JSON ends too early (byte 0)"},
		{` `, ": the JSON ends too early (byte 1)"},
		{`{"users":[{"a":`, "users.0.a: the JSON ends too early (byte 15)"},
		{`{"users":1,"users":2}`, "users: the same name twice in one object (byte 11)"},
		{`{"users":1,"\u0075sers":2}`, "users: the same name twice in one object (byte 11)"},
		{`{"config":{"x":[{"y":1,"y":2}]}}`, "config.x.0.y: the same name twice in one object (byte 23)"},
		{`{"nobody":{"y":1,"y":2}}`, "nobody.y: the same name twice in one object (byte 17)"},
		{"{\"users\":[\"\xff\"]}", "users.0: invalid UTF-8 (byte 11)"},
		{"{\"\xff\":1}", ": invalid UTF-8 (byte 2)"},
		{`{"notes":"\ud800"}`, "notes: broken JSON (byte 10)"},
		{`{"users":[1,]}`, "users: broken JSON (byte 11)"},
		{`{"notes":1,}`, ": broken JSON (byte 10)"},
		{`{1:2}`, ": broken JSON (byte 1)"},
		{`{'a':2}`, ": broken JSON (byte 1)"},
		{`{"users":[{"apiKeys":[{"publicKey":tru}]}]}`, "users.0.apiKeys.0.publicKey: broken JSON (byte 38)"},
		{`{"count":01}`, ": broken JSON (byte 10)"},
		{`{"notes":NaN}`, "notes: broken JSON (byte 9)"},
		{"\ufeff{}", ": broken JSON (byte 0)"},
		{`{} x`, ": data after the end of the object (byte 3)"},
		{`{}{}`, ": data after the end of the object (byte 2)"},
		{`{},`, ": data after the end of the object (byte 2)"},
		{"{}\x00", ": data after the end of the object (byte 2)"},
		{` [1`, ": must be an object, not an array (byte 1)"},
		{`null`, ": must be an object, not null (byte 0)"},
		{`"a"`, ": must be an object, not a string (byte 0)"},
		{`{"raw":` + deep(32) + `}`, "raw" + strings.Repeat(".0", 31) + ": nested deeper than 32 (byte 38)"},
		{`{"nobody":` + deep(40) + `}`, "nobody" + strings.Repeat(".0", 31) + ": nested deeper than 32 (byte 41)"},
	} {
		_, got := decode(Of[rich](), c.doc)
		if want := []string{c.want}; !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", c.doc, got, want)
		}
	}
	_, got := decode(Of[struct {
		V jsontext.Value `json:"v" doc:"."`
	}](), `{"v":`+deep(31)+`}`)
	if got != nil {
		t.Errorf("depth 32 is allowed: %q", got)
	}
}

func TestDecodeCap(t *testing.T) {
	wrong := "[" + strings.TrimSuffix(strings.Repeat(`{},`, 200), ",") + "]"
	s := Of[struct {
		V []window `json:"v" check:"required" doc:"."`
		W bool     `json:"w" check:"required" doc:"."`
	}]()
	_, got := decode(s, `{"v":`+wrong+`}`)
	if len(got) != maxProblems || got[0] != "v.0.from: is required" || got[49] != "v.24.to: is required" {
		t.Errorf("%d problems: %q", len(got), got)
	}
	var dst struct {
		V []window `json:"v" check:"required" doc:"."`
		W bool     `json:"w" check:"required" doc:"."`
	}
	if s.Decode([]byte(`{"v":`+wrong+`}`), &dst); len(dst.V) > maxProblems {
		t.Errorf("%d elements stored of a refused array", len(dst.V))
	}
	// What comes after the cap still counts for the syntax.
	_, got = decode(s, `{"v":`+wrong+`,"w":tru}`)
	if want := []string{"w: broken JSON (byte 614)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDecodeNeverEchoesValues(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, name := range []string{"organizationId", "users", "notes", "effect", "words", "count", "active", "amount", "free", "mail", "window", "later", "spans", "colors", "numbers", "big", "config", "raws", "optional", "nobody"} {
		_, got := decode(Of[rich](), fmt.Sprintf(`{%q:%q}`, name, secret+secret))
		if len(got) == 0 || strings.Contains(strings.Join(got, "\n"), secret) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDecodeEscapedName(t *testing.T) {
	got, problems := decode(Of[window](), `{"\u0066rom":"1","to":"2","\u0074\u006fo":3}`)
	if want := []string{`too: unknown field; did you mean "to"?`}; !reflect.DeepEqual(problems, want) || got.(*window).From != 1 {
		t.Errorf("got %+v %q, want %q", got, problems, want)
	}
}

func TestDecodeUnique(t *testing.T) {
	s := Of[struct {
		V []string `json:"v" check:"unique,max=100" doc:"."`
	}]()
	var list []string
	for i := range 40 {
		list = append(list, fmt.Sprintf(`"%d"`, i))
	}
	list = append(list, `"3"`, `"39"`)
	_, got := decode(s, `{"v":[`+strings.Join(list, ",")+`]}`)
	if want := []string{"v.40: appears more than once", "v.41: appears more than once"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDecodeClipsNames(t *testing.T) {
	_, got := decode(Of[nothing](), `{"`+strings.Repeat("é", 1000)+`":1}`)
	if want := []string{strings.Repeat("é", 64) + "…: unknown field"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDecodePanicsOnOtherType(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Of[user]().Decode([]byte(`{}`), &window{})
}

func TestEmptyArrays(t *testing.T) {
	type arrays struct {
		Plain  []string `json:"plain" doc:"."`
		Marked []string `json:"marked,omitzero" doc:"."`
	}
	for _, c := range []struct {
		doc  string
		want arrays
		back string
	}{
		{`{}`, arrays{}, `{"plain":[]}`},
		{`{"plain":null,"marked":null}`, arrays{}, `{"plain":[]}`},
		{`{"plain":[],"marked":[]}`, arrays{Marked: []string{}}, `{"plain":[],"marked":[]}`},
	} {
		got, problems := decode(Of[arrays](), c.doc)
		if problems != nil || !reflect.DeepEqual(got, &c.want) {
			t.Errorf("%s: %#v %q", c.doc, got, problems)
		}
		if back, err := Encode(got); err != nil || string(back) != c.back {
			t.Errorf("%s: %s %v", c.doc, back, err)
		}
	}
}

func TestProblems(t *testing.T) {
	var p Problems
	p.Add("", "whole")
	users := p.At("users")
	users.At("1").Add("userName", "is %s", "taken")
	users.Add("", "too many")
	wantFields(t, p.Fields(), ": whole", "users.1.userName: is taken", "users: too many")
	wantFields(t, users.Fields(), ": whole", "users.1.userName: is taken", "users: too many")
	for range 2 * maxProblems {
		p.Add("x", "y")
	}
	if n := len(p.Fields()); n != maxProblems {
		t.Errorf("%d problems", n)
	}
}
