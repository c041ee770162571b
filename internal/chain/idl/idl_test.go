package idl_test

import (
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/chain/idl"
	"latchkey/internal/policy/fact"
	"latchkey/internal/test/testkit"
)

func parse(tb testing.TB, text string) *idl.Interface {
	tb.Helper()
	i, err := idl.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

var unhex = testkit.Unhex

// show writes a value the way a policy would see it.
func show(v fact.Value) string {
	switch v.Kind {
	case fact.Null:
		return "null"
	case fact.Bool:
		return fmt.Sprint(v.Bool)
	case fact.Num:
		return v.Number.String()
	case fact.Text:
		if v.Fold {
			return "~" + v.Text
		}
		return fmt.Sprintf("%q", v.Text)
	case fact.List:
		var all []string
		for _, e := range v.List {
			all = append(all, show(e))
		}
		return "[" + strings.Join(all, " ") + "]"
	case fact.Struct:
		return "{" + showMap(v.Fields) + "}"
	default:
		return "unreadable: " + v.Text
	}
}

func showMap(m fact.Map) string {
	var all []string
	for _, e := range m {
		all = append(all, e.Name+"="+show(e.Value))
	}
	return strings.Join(all, " ")
}

// The same program as Anchor wrote it before and since 0.30.
const (
	before = `{"version":"0.1.0","name":"swap","instructions":[
		{"name":"initialize","accounts":[{"name":"authority","isMut":false,"isSigner":true,"isOptional":false}],"args":[{"name":"amount","type":"u64"}]},
		{"name":"sharedAccountsRoute","docs":["x"],"accounts":[
			{"name":"user","isMut":true,"isSigner":true},
			{"name":"pool","accounts":[{"name":"vault","isMut":true,"isSigner":false},{"name":"mint","isMut":false,"isSigner":false}]}
		],"args":[{"name":"inAmount","type":"u64"},{"name":"side","type":{"defined":"Side"}}]}
	],"accounts":[{"name":"Pool","type":{"kind":"struct","fields":[]}}],
	"types":[{"name":"Side","type":{"kind":"enum","variants":[{"name":"Buy"},{"name":"Sell","fields":[{"name":"limit","type":"u8"}]},{"name":"Both","fields":["u8",{"option":"u8"}]}]}}]}`
	since = `{"address":"x","metadata":{"name":"swap","version":"0.1.0","spec":"0.1.0"},"instructions":[
		{"name":"initialize","discriminator":[175,175,109,31,13,152,155,237],"accounts":[{"name":"authority","signer":true}],"args":[{"name":"amount","type":"u64"}]},
		{"name":"shared_accounts_route","discriminator":[193,32,155,51,65,214,156,129],"accounts":[
			{"name":"user","writable":true,"signer":true,"optional":false},
			{"name":"pool","accounts":[{"name":"vault","writable":true,"pda":{"seeds":[]}},{"name":"mint","address":"y","relations":[]}]}
		],"args":[{"name":"inAmount","type":"u64"},{"name":"side","type":{"defined":{"name":"Side"}}}]}
	],"types":[{"name":"Side","type":{"kind":"enum","variants":[{"name":"Buy"},{"name":"Sell","fields":[{"name":"limit","type":"u8"}]},{"name":"Both","fields":["u8",{"option":"u8"}]}]}}]}`
)

// The discriminators of initialize and of shared_accounts_route are known from
// the chain.
const (
	initialize = "afaf6d1f0d989bed"
	route      = "c1209b3341d69c81"
)

func TestInstruction(t *testing.T) {
	for format, text := range map[string]string{"before": before, "since": since} {
		i := parse(t, text)
		for _, c := range []struct {
			name, data string
			accounts   []string
			want       string
		}{
			{"initialize", initialize + "0100000000000080", []string{"A"}, initialize + " authority=\"A\" | amount=9223372036854775809"},
			{"more accounts", initialize + "0100000000000000", []string{"A", "B"}, initialize + " authority=\"A\" | amount=1"},
			{"a group and a plain variant", route + "000000000000000000", []string{"U", "V", "M"}, route + ` user="U" pool.vault="V" pool.mint="M" | inAmount=0 side="Buy"`},
			{"a variant with fields", route + "000000000000000001ff", []string{"U", "V", "M"}, route + ` user="U" pool.vault="V" pool.mint="M" | inAmount=0 side={Sell={limit=255}}`},
			{"a variant that is a tuple", route + "0000000000000000020700", []string{"U", "V", "M"}, route + ` user="U" pool.vault="V" pool.mint="M" | inAmount=0 side={Both=[7 null]}`},
			{"an unknown variant", route + "000000000000000003", []string{"U", "V", "M"}, ""},
			{"too few accounts", initialize + "0100000000000000", nil, ""},
			{"too few in a group", route + "000000000000000000", []string{"U", "V"}, ""},
			{"too short", initialize + "01000000000000", []string{"A"}, ""},
			{"too long", initialize + "010000000000000000", []string{"A"}, ""},
			{"half a discriminator", initialize[:8], []string{"A"}, ""},
			{"nothing", "", []string{"A"}, ""},
			{"an unknown discriminator", "e517cb977ae3ad2a00", []string{"A"}, ""},
		} {
			t.Run(format+"/"+c.name, func(t *testing.T) {
				got, ok := i.Instruction(unhex(t, c.data), c.accounts)
				if ok != (c.want != "") {
					t.Fatalf("match %v, want %q", ok, c.want)
				}
				if !ok {
					return
				}
				if s := got.Discriminator + " " + showMap(got.NamedAccounts) + " | " + showMap(got.Args); s != c.want {
					t.Errorf("%s, want %s", s, c.want)
				}
			})
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{before: "sharedAccountsRoute", since: "shared_accounts_route"} {
		got, ok := parse(t, text).Instruction(unhex(t, route, "000000000000000000"), []string{"U", "V", "M"})
		if !ok || got.Name != want {
			t.Errorf("%v %v, want %s", got, ok, want)
		}
	}
}

// with is an interface with one instruction, whose data begins with 00.
func with(types string, args ...string) string {
	var all []string
	for i, kind := range args {
		if !strings.HasPrefix(kind, "{") {
			kind = fmt.Sprintf("%q", kind)
		}
		all = append(all, fmt.Sprintf(`{"name":"a%d","type":%s}`, i, kind))
	}
	return fmt.Sprintf(`{"instructions":[{"name":"f","discriminator":[0],"accounts":[],"args":[%s]}],"types":[%s]}`, strings.Join(all, ","), types)
}

func TestValues(t *testing.T) {
	const (
		point  = `{"name":"Point","type":{"kind":"struct","fields":[{"name":"x","type":"i8"},{"name":"y","type":"i8"}]}}`
		pair   = `{"name":"Pair","type":{"kind":"struct","fields":["u8",{"defined":"Point"}]}},` + point
		alias  = `{"name":"Old","type":{"kind":"alias","value":"u16"}},{"name":"New","type":{"kind":"type","alias":{"option":"u8"}}}`
		unit   = `{"name":"Unit","type":{"kind":"struct"}}`
		unused = `{"name":"Map","type":{"kind":"struct","fields":[{"name":"m","type":{"hashMap":["u8","u8"]}}]}},{"name":"Box","generics":[{"kind":"type","name":"T"}],"type":{"kind":"struct","fields":[{"name":"t","type":{"generic":"T"}}]}},{"name":"Lost","type":{"kind":"alias","value":{"defined":"Nowhere"}}}`
	)
	def := func(name string) string { return fmt.Sprintf(`{"defined":%q}`, name) }
	for _, c := range []struct {
		name, types string
		args        []string
		data, want  string // want empty: no match
	}{
		{"bools", "", []string{"bool", "bool"}, "0001", "a0=false a1=true"},
		{"bool of two", "", []string{"bool"}, "02", ""},
		{"u8", "", []string{"u8"}, "ff", "a0=255"},
		{"i8", "", []string{"i8"}, "80", "a0=-128"},
		{"u16", "", []string{"u16"}, "0102", "a0=513"},
		{"i16", "", []string{"i16"}, "ffff", "a0=-1"},
		{"u32", "", []string{"u32"}, "00000080", "a0=2147483648"},
		{"i32", "", []string{"i32"}, "00000080", "a0=-2147483648"},
		{"u64", "", []string{"u64"}, "ffffffffffffffff", "a0=18446744073709551615"},
		{"i64", "", []string{"i64"}, "feffffffffffffff", "a0=-2"},
		{"u128", "", []string{"u128"}, strings.Repeat("ff", 16), "a0=340282366920938463463374607431768211455"},
		{"i128", "", []string{"i128"}, strings.Repeat("00", 15) + "80", "a0=-170141183460469231731687303715884105728"},
		{"u256", "", []string{"u256"}, strings.Repeat("ff", 32), "a0=115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"i256 that fits", "", []string{"i256"}, strings.Repeat("ff", 32), "a0=-1"},
		{"i256 that does not", "", []string{"i256"}, strings.Repeat("00", 31) + "80", "a0=unreadable: the integer does not fit into 128 bits with a sign"},
		{"u64 cut", "", []string{"u64"}, "ffffffffffffff", ""},
		{"floats", "", []string{"f32", "f64", "u8"}, "0000803f" + "000000000000f03f" + "07", "a0=unreadable: a floating point number cannot be compared a1=unreadable: a floating point number cannot be compared a2=7"},
		{"f64 cut", "", []string{"f64"}, "00", ""},
		{"string", "", []string{"string"}, "03000000c3a971", `a0="éq"`},
		{"empty string", "", []string{"string"}, "00000000", `a0=""`},
		{"string not UTF-8", "", []string{"string"}, "01000000ff", ""},
		{"string cut", "", []string{"string"}, "0200000061", ""},
		{"string bomb", "", []string{"string"}, "ffffffff61", ""},
		{"bytes", "", []string{"bytes"}, "02000000ABcd", "a0=~abcd"},
		{"public keys", "", []string{"publicKey", "pubkey"}, strings.Repeat("00", 32) + "06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9", `a0="11111111111111111111111111111111" a1="TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"`},
		{"public key cut", "", []string{"pubkey"}, strings.Repeat("00", 31), ""},
		{"options", "", []string{`{"option":"u8"}`, `{"option":"u8"}`}, "000107", "a0=null a1=7"},
		{"option of two", "", []string{`{"option":"u8"}`}, "0207", ""},
		{"option cut", "", []string{`{"option":"u8"}`}, "01", ""},
		{"vec", "", []string{`{"vec":"u16"}`}, "0200000001000200", "a0=[1 2]"},
		{"empty vec", "", []string{`{"vec":"u16"}`}, "00000000", "a0=[]"},
		{"vec cut", "", []string{`{"vec":"u16"}`}, "02000000010002", ""},
		{"vec bomb", "", []string{`{"vec":"u16"}`}, "ffffff7f", ""},
		{"vec bomb of nothing", unit, []string{`{"vec":{"defined":"Unit"}}`}, "ffffff7f", ""},
		{"vec of nothing", unit, []string{`{"vec":{"defined":"Unit"}}`}, "02000000", "a0=[{} {}]"},
		{"array", "", []string{`{"array":["u8",3]}`}, "010203", "a0=[1 2 3]"},
		{"empty array", "", []string{`{"array":["u8",0]}`, "u8"}, "07", "a0=[] a1=7"},
		{"array cut", "", []string{`{"array":["u8",3]}`}, "0102", ""},
		{"array bomb of nothing", unit, []string{`{"array":[{"array":[{"defined":"Unit"},65536]},65536]}`}, "", ""},
		{"struct", point, []string{def("Point")}, "01ff", "a0={x=1 y=-1}"},
		{"tuple struct", pair, []string{def("Pair")}, "0901ff", "a0=[9 {x=1 y=-1}]"},
		{"unit struct", unit, []string{def("Unit"), "u8"}, "07", "a0={} a1=7"},
		{"aliases", alias, []string{def("Old"), def("New"), def("New")}, "0102000107", "a0=513 a1=null a2=7"},
		{"unused types", unused, []string{"u8"}, "07", "a0=7"},
		{"no arguments", "", nil, "", ""},
		{"an argument too many", "", nil, "00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := parse(t, with(c.types, c.args...)).Instruction(unhex(t, "00", c.data), nil)
			wanted := c.want != "" || c.name == "no arguments"
			if ok != wanted {
				t.Fatalf("match %v, want %q", ok, c.want)
			}
			if ok && showMap(got.Args) != c.want {
				t.Errorf("%s, want %s", showMap(got.Args), c.want)
			}
		})
	}
}

// Large but ordinary data must fit the budget.
func TestBudgetIsGenerous(t *testing.T) {
	types := `{"name":"A","type":{"kind":"struct","fields":[{"name":"b","type":{"defined":"B"}}]}},{"name":"B","type":{"kind":"enum","variants":[{"name":"V","fields":[{"name":"c","type":"u8"},{"name":"d","type":"u8"}]}]}}`
	i := parse(t, with(types, `{"vec":{"defined":"A"}}`))
	data := append(unhex(t, "00", "90010000"), make([]byte, 3*400)...)
	got, ok := i.Instruction(data, nil)
	if !ok || len(got.Args[0].Value.List) != 400 {
		t.Error("400 structs do not match")
	}
}

func TestParseRefuses(t *testing.T) {
	deepType := `"u8"`
	for range 40 {
		deepType = `{"vec":` + deepType + `}`
	}
	chain := func(n int) string {
		var all []string
		for i := range n {
			inner := `"u8"`
			if i > 0 {
				inner = fmt.Sprintf(`{"vec":{"defined":"T%d"}}`, i-1)
			}
			all = append(all, fmt.Sprintf(`{"name":"T%d","type":{"kind":"alias","value":%s}}`, i, inner))
		}
		return strings.Join(all, ",")
	}
	group := `{"name":"a"}`
	for range 40 {
		group = `{"name":"g","accounts":[` + group + `]}`
	}
	in := func(members string) string { return `{"instructions":[{"name":"f",` + members + `}],"types":[]}` }
	two := func(a, b string) string {
		return fmt.Sprintf(`{"instructions":[{"name":"a","discriminator":%s,"accounts":[],"args":[]},{"name":"b","discriminator":%s,"accounts":[],"args":[]}],"types":[]}`, a, b)
	}
	for _, c := range []struct{ name, idl, want string }{
		{"empty", "", "the JSON is broken at byte 0"},
		{"not an object", "[]", "expected an object with the members instructions and types"},
		{"two documents", `{"instructions":[],"types":[]} {}`, "the JSON is broken"},
		{"a member twice", `{"instructions":[],"types":[],"types":[]}`, "duplicate"},
		{"too long", strings.Repeat(" ", idl.MaxCharacters+1), "it has 400001 characters"},
		{"a number too large", `{"instructions":[],"types":[],"x":1e999}`, "it is not JSON"},
		{"no types", `{"instructions":[]}`, "types is missing; write []"},
		{"no instructions", `{"types":[]}`, "instructions is missing"},
		{"types an object", `{"instructions":[],"types":{}}`, "/types: expected an array"},
		{"instructions null", `{"instructions":null,"types":[]}`, "/instructions: expected an array"},
		{"an instruction that is text", `{"instructions":["f"],"types":[]}`, "/instructions/0: expected an object"},
		{"an instruction without name", `{"instructions":[{"accounts":[],"args":[]}],"types":[]}`, "/instructions/0: expected a name"},
		{"no accounts", in(`"args":[]`), "/instructions/0: accounts is missing"},
		{"no args", in(`"accounts":[]`), "/instructions/0: args is missing"},
		{"an account without name", in(`"args":[],"accounts":[{"isMut":true}]`), "/instructions/0/accounts/0: expected a name"},
		{"an account with a wrong flag", in(`"args":[],"accounts":[{"name":"a","signer":"yes"}]`), "/instructions/0/accounts/0/signer: expected true or false"},
		{"an account twice", in(`"args":[],"accounts":[{"name":"a"},{"name":"a"}]`), `two accounts have the name "a"`},
		{"a group that is no list", in(`"args":[],"accounts":[{"name":"a","accounts":{}}]`), "/instructions/0/accounts/0/accounts: expected an array"},
		{"an account that is text", in(`"args":[],"accounts":["a"]`), "/instructions/0/accounts/0: expected an object"},
		{"groups too deep", in(`"args":[],"accounts":[` + group + `]`), "nested deeper than 32 levels"},
		{"a discriminator that is text", in(`"args":[],"accounts":[],"discriminator":"00"`), "/instructions/0/discriminator: expected an array of 1 to 64 bytes"},
		{"an empty discriminator", in(`"args":[],"accounts":[],"discriminator":[]`), "expected an array of 1 to 64 bytes"},
		{"a byte of 256", in(`"args":[],"accounts":[],"discriminator":[0,256]`), "/instructions/0/discriminator/1: expected a number from 0 to 255"},
		{"half a byte", in(`"args":[],"accounts":[],"discriminator":[0.5]`), "expected a number from 0 to 255"},
		{"the same discriminator", two("[1,2]", "[1,2]"), "cannot be told apart"},
		{"a discriminator that begins another", two("[1,2]", "[1]"), `"b" and "a" cannot be told apart`},
		{"an argument twice", in(`"accounts":[],"args":[{"name":"a","type":"u8"},{"name":"a","type":"u8"}]`), `/instructions/0/args/1: another one has the name "a"`},
		{"an argument that is text", in(`"accounts":[],"args":["u8"]`), "/instructions/0/args/0: expected an object"},
		{"an argument without name", in(`"accounts":[],"args":[{"type":"u8"}]`), "/instructions/0/args/0: expected a name"},
		{"an argument without type", in(`"accounts":[],"args":[{"name":"a"}]`), "/instructions/0/args/0/type: expected a type"},
		{"an unknown type", with("", "u7"), `/instructions/0/args/0/type: unknown type "u7"`},
		{"an unknown shape", with("", `{"set":"u8"}`), `/instructions/0/args/0/type/set: unknown type "set"`},
		{"a shape with two members", with("", `{"vec":"u8","option":"u8"}`), "an object with one member"},
		{"an unknown type inside", with("", `{"vec":{"option":"U8"}}`), `/instructions/0/args/0/type/vec/option: unknown type "U8"`},
		{"an array without length", with("", `{"array":["u8"]}`), "/instructions/0/args/0/type/array: expected a type and a length"},
		{"an array of negative length", with("", `{"array":["u8",-1]}`), "/type/array/1: expected a length"},
		{"an array too long", with("", `{"array":["u8",65537]}`), "/type/array/1: expected a length up to 65536"},
		{"an array of an unknown type", with("", `{"array":["u7",1]}`), `/type/array/0: unknown type "u7"`},
		{"a map", with("", `{"hashMap":["u8","u8"]}`), "/instructions/0/args/0: hashMap is not supported"},
		{"an array of generic length", with("", `{"array":["u8",{"generic":"N"}]}`), "an array of generic length is not supported"},
		{"a use with generics", with("", `{"defined":{"name":"X","generics":[{"kind":"type","type":"u8"}]}}`), "generics are not supported"},
		{"a generic definition", with(`{"name":"X","generics":[{"kind":"type","name":"T"}],"type":{"kind":"struct","fields":[]}}`, `{"option":{"defined":"X"}}`), `/instructions/0/args/0: the type "X" is generic`},
		{"an undefined type", with("", `{"defined":"X"}`), `/instructions/0/args/0: the type "X" is not defined`},
		{"an undefined type inside", with(`{"name":"X","type":{"kind":"struct","fields":[{"name":"y","type":{"vec":{"defined":"Y"}}}]}}`, `{"defined":"X"}`), `the type "Y" is not defined`},
		{"defined without a name", with("", `{"defined":{}}`), "/type/defined: expected a name"},
		{"a type without name", with(`{"type":{"kind":"struct"}}`), "/types/0: expected a name"},
		{"a type that is text", with(`"x"`), "/types/0: expected an object"},
		{"a type without type", with(`{"name":"X"}`), "/types/0/type: expected an object"},
		{"an unknown kind", with(`{"name":"X","type":{"kind":"union"}}`), "/types/0/type/kind: expected struct, enum, alias or type"},
		{"fields an object", with(`{"name":"X","type":{"kind":"struct","fields":{}}}`), "/types/0/type/fields: expected an array"},
		{"a field twice", with(`{"name":"X","type":{"kind":"struct","fields":[{"name":"a","type":"u8"},{"name":"a","type":"u8"}]}}`), "/types/0/type/fields/1: another one"},
		{"a tuple with an unknown type", with(`{"name":"X","type":{"kind":"struct","fields":["u8","u7"]}}`), "/types/0/type/fields/1: unknown type"},
		{"named and unnamed fields", with(`{"name":"X","type":{"kind":"struct","fields":[{"name":"a","type":"u8"},"u8"]}}`), "/types/0/type/fields/1: expected an object"},
		{"an enum without variants", with(`{"name":"X","type":{"kind":"enum"}}`), "/types/0/type: variants is missing"},
		{"a variant that is text", with(`{"name":"X","type":{"kind":"enum","variants":["a"]}}`), "/types/0/type/variants/0: expected an object"},
		{"a variant without name", with(`{"name":"X","type":{"kind":"enum","variants":[{}]}}`), "/types/0/type/variants/0: expected a name"},
		{"a variant twice", with(`{"name":"X","type":{"kind":"enum","variants":[{"name":"a"},{"name":"a"}]}}`), "/types/0/type/variants/1: another variant"},
		{"a variant with a broken field", with(`{"name":"X","type":{"kind":"enum","variants":[{"name":"a","fields":["u7"]}]}}`), "/types/0/type/variants/0/fields/0: unknown type"},
		{"an alias of nothing", with(`{"name":"X","type":{"kind":"alias"}}`), "/types/0/type/value: expected a type"},
		{"two types of one name", with(`{"name":"X","type":{"kind":"struct"}},{"name":"X","type":{"kind":"struct"}}`), `/types/1: another type has the name "X"`},
		{"a type in itself", with(`{"name":"X","type":{"kind":"alias","value":{"defined":"X"}}}`), `the type "X" contains itself`},
		{"a type in itself by an option", with(`{"name":"X","type":{"kind":"struct","fields":[{"name":"a","type":{"option":{"vec":{"defined":"X"}}}}]}}`), "contains itself"},
		{"a circle of three", with(`{"name":"X","type":{"kind":"alias","value":{"defined":"Y"}}},{"name":"Y","type":{"kind":"struct","fields":[{"defined":"Z"}]}},{"name":"Z","type":{"kind":"enum","variants":[{"name":"a"},{"name":"b","fields":[{"name":"c","type":{"defined":"X"}}]}]}}`), "contains itself"},
		{"a type too deep", with("", deepType), "nested deeper than 32 levels"},
		{"types too deep", with(chain(20)), "nested deeper than 32 levels"},
		{"an argument too deep", with(chain(16), `{"vec":{"vec":{"defined":"T15"}}}`), "nested deeper than 32 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := idl.Parse(c.idl)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "provided IDL is invalid: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, want %q in it", err, c.want)
			}
		})
	}
}

// Many types that use each other many times are followed once each.
func TestParseIsFast(t *testing.T) {
	var all []string
	for i := range 30 {
		inner := `"u8"`
		if i > 0 {
			inner = fmt.Sprintf(`{"defined":"T%d"}`, i-1)
		}
		all = append(all, fmt.Sprintf(`{"name":"T%d","type":{"kind":"struct","fields":[%s,%s,%s,%s]}}`, i, inner, inner, inner, inner))
	}
	i := parse(t, with(strings.Join(all, ","), `{"defined":"T29"}`))
	if _, ok := i.Instruction(make([]byte, 1200), nil); ok { // 4^30 bytes would
		t.Error("1200 bytes match")
	}
}
